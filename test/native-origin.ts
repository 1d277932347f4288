import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NativeAgent } from '#model'
import type { ModelRequest, ModelScript, ModelStep } from '#testing'
import type { NativePlace } from './native-place.ts'

/** A red dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const QUESTION = 'What is in both files, and what is this?'

/** What the model says: both calls at first, then what came of it. In Codex the cue for a shell would ask a person. */
export function toScript(agent: NativeAgent): ModelScript {
  const call = (command: string, description: string): ModelStep =>
    agent === 'codex'
      ? { kind: 'tool', name: 'exec_command', input: { cmd: command } }
      : { kind: 'tool', name: 'Bash', input: { command, description } }
  const both: readonly ModelStep[] = [
    { kind: 'thinking', text: 'I should look at both.' },
    { kind: 'text', text: 'I look at both.' },
    call('echo forty-two', 'first'),
    call('echo missing >&2; exit 3', 'second'),
  ]
  let asked = 0
  return () => (asked++ === 0 ? both : [{ kind: 'text', text: 'One of them failed.' }])
}

/**
 * Makes a session in the real agent: a prompt with a picture, thinking, words, two calls at once of which one fails, and
 * an answer. Gives what the agent asked its model last.
 */
export async function makeIn(agent: NativeAgent, place: NativePlace): Promise<ModelRequest> {
  const picture = join(place.workdir, 'dot.png')
  writeFileSync(picture, Buffer.from(PNG, 'base64'))
  const before = place.api.requests.length
  const result = await begin(agent, place, picture)
  const asked = place.api.requests.slice(before).findLast(({ purpose }) => purpose === 'conversation')
  if (asked === undefined) throw new Error(`${agent} asked nothing: ${result}`)
  return asked
}

async function begin(agent: NativeAgent, place: NativePlace, picture: string): Promise<string> {
  switch (agent) {
    case 'claude': {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
      const message = { role: 'user', content: [{ type: 'text', text: QUESTION }, image] }
      const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
      const { err } = await place.run(agent, [...args, '--allowedTools', 'Bash'], {
        input: `${JSON.stringify({ type: 'user', message })}\n`,
      })
      return err
    }
    case 'codex': {
      const free = '--dangerously-bypass-approvals-and-sandbox'
      const { err } = await place.run(agent, ['exec', '--skip-git-repo-check', free, QUESTION, '-i', picture])
      return err
    }
    case 'gemini': {
      const args = ['-m', 'gemini-2.5-flash', '--skip-trust', '--approval-mode', 'yolo']
      const { err } = await place.run(agent, [...args, '-p', `${QUESTION} @dot.png`])
      return err
    }
    case 'opencode': {
      const { err } = await place.run(agent, ['run', QUESTION, '-f', picture])
      return err
    }
  }
}
