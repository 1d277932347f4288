/**
 * A program with the AI SDK to be killed: talks to a model without end, and prints each answer that it was given.
 *
 *     node dist/testing/middleware-talker.js <folder> <address of a scripted model> <generate|stream>
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, streamText, tool, wrapLanguageModel, type ModelMessage } from 'ai'
import { z } from 'zod'
import { recordMiddleware } from '#recorder'

const [cwd = '', url = '', way = 'generate'] = process.argv.slice(2)
const middleware = recordMiddleware({ cwd, agent: 'talker', version: '1', register: join(cwd, 'home') })
const anthropic = createAnthropic({ apiKey: 'dummy', baseURL: `${url}/v1` })
const model = wrapLanguageModel({ model: anthropic('claude-sonnet-4-5'), middleware })
// A scripted model takes those without tools for somebody who wants a title.
const tools = {
  nothing: tool({
    description: 'Does nothing.',
    inputSchema: z.object({ why: z.string() }),
    execute: () => '',
  }),
}
const messages: ModelMessage[] = []

for (let turn = 1; ; turn++) {
  messages.push({ role: 'user', content: `question ${turn}` })
  const options = { model, tools, messages, maxRetries: 0 }
  const text = way === 'stream' ? await streamText(options).text : (await generateText(options)).text
  messages.push({ role: 'assistant', content: text })
  writeSync(1, `${text}\n`)
}
