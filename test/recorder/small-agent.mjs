// An agent that leaves no transcript: it asks a model, and prints what it says.
// node small-agent.mjs <prompt>…
// HOLD=1: stays until it is told to end. SYSTEM: what the system says. GATE: waits for this file behind its first prompt.
import { existsSync } from 'node:fs'

const base = process.env.ANTHROPIC_BASE_URL
const messages = []
for (const prompt of process.argv.slice(2)) {
  while (messages.length === 2 && process.env.GATE && !existsSync(process.env.GATE))
    await new Promise((resolve) => setTimeout(resolve, 20))
  messages.push({ role: 'user', content: prompt })
  const response = await fetch(`${base}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'sk-planted',
      'user-agent': 'small-agent/1.2.3',
    },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      max_tokens: 100,
      system: process.env.SYSTEM ?? '',
      tools: [{ name: 'read' }],
      messages,
    }),
  })
  const text = await response.text()
  const said = [...text.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/gu)]
    .map(([, json]) => JSON.parse(json))
    .join('')
  messages.push({ role: 'assistant', content: said })
  process.stdout.write(`${said}\n`)
}
if (process.env.HOLD === '1') {
  process.on('SIGTERM', () => process.exit(9))
  setInterval(() => {}, 1000)
}
