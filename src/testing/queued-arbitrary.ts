import * as fc from 'fast-check'
import { createLines } from './claude-lines.ts'

/** How clients wrote down what was typed while a turn ran. */
export type QueueDialect =
  /** 2.0.50: that it was typed, and nothing else. */
  | 'enqueue-only'
  /** 2.0.64 to 2.1.4x: also that it left the queue; what a turn absorbed stands nowhere else. */
  | 'enqueue-remove'
  /** From 2.1.1xx: what a turn absorbs is an attachment. */
  | 'attachment'
  /** Through the Agent SDK: every prompt goes through the queue. */
  | 'sdk'

export interface QueuedSession {
  readonly lines: readonly object[]
  /** Everything that was typed, each with a word of its own. */
  readonly typed: readonly string[]
  /** Of these, what was taken back and not sent. */
  readonly unsent: readonly string[]
}

type Step =
  | { readonly kind: 'ask' | 'work' | 'absorb' | 'end' | 'end-joined' | 'take-back' }
  | { readonly kind: 'type'; readonly form: 'text' | 'blocks' | 'command' }

const STEPS: readonly Step[] = [
  { kind: 'ask' },
  { kind: 'work' },
  { kind: 'work' },
  { kind: 'type', form: 'text' },
  { kind: 'type', form: 'text' },
  { kind: 'type', form: 'blocks' },
  { kind: 'type', form: 'command' },
  { kind: 'absorb' },
  { kind: 'end' },
  { kind: 'end-joined' },
  { kind: 'take-back' },
]

/** A session in which prompts are typed while turns run, and that may end at any moment. */
export function anyQueuedSession(): fc.Arbitrary<QueuedSession> {
  const dialect = fc.constantFrom<QueueDialect>('enqueue-only', 'enqueue-remove', 'attachment', 'sdk')
  return fc
    .tuple(dialect, fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 25 }))
    .map(([how, steps]) => writeQueued(how, steps))
}

/** Writes a session down as a client does. */
export function writeQueued(dialect: QueueDialect, steps: readonly Step[]): QueuedSession {
  const maker = createLines()
  const lines: object[] = []
  const typed: string[] = []
  const unsent: string[] = []
  let queue: string[] = []
  let calls = 0

  const operation = (name: string, content?: unknown): void => {
    if (name !== 'enqueue' && dialect === 'enqueue-only') return
    lines.push({
      type: 'queue-operation',
      operation: name,
      sessionId: 's',
      ...(content === undefined ? {} : { content }),
    })
  }
  const say = (words: string): void => {
    const [, command, args = ''] = /^(\/\w+)(?: (.*))?$/.exec(words) ?? []
    lines.push(
      maker.prompt(
        command === undefined
          ? words
          : `<command-message>${command.slice(1)}</command-message>\n<command-name>${command}</command-name>\n<command-args>${args}</command-args>`,
      ),
    )
    lines.push(maker.reply([{ type: 'text', text: 'ok' }]))
  }

  for (const step of steps) {
    switch (step.kind) {
      case 'ask': {
        const words = `ask word${typed.length}.`
        typed.push(words)
        if (dialect === 'sdk') {
          operation('enqueue', words)
          operation('dequeue')
        }
        say(words)
        break
      }
      case 'work': {
        const id = `toolu_${calls++}`
        lines.push(maker.reply([{ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } }]))
        if (calls % 3 > 0) lines.push(maker.result(id, 'done'))
        break
      }
      case 'type': {
        const words = `${step.form === 'command' ? '/do' : 'also'} word${typed.length}.`
        typed.push(words)
        queue.push(words)
        operation('enqueue', step.form === 'blocks' ? [{ type: 'text', text: words }] : words)
        break
      }
      case 'absorb': {
        const words = queue[0]
        if (words === undefined || words.startsWith('/')) break
        queue = queue.slice(1)
        operation('remove')
        if (dialect === 'attachment' || dialect === 'sdk')
          lines.push(
            maker.attachment('queued_command', {
              attachment: { type: 'queued_command', prompt: words, commandMode: 'prompt' },
            }),
          )
        break
      }
      case 'end': {
        const [words] = queue
        if (words === undefined) break
        queue = queue.slice(1)
        operation('dequeue')
        say(words)
        break
      }
      case 'end-joined': {
        if (queue.some((words) => words.startsWith('/'))) break
        if (queue.length > 0) say(queue.join('\n'))
        queue = []
        break
      }
      case 'take-back': {
        for (const words of queue) operation('popAll', words)
        // Sent again as it was, or not at all.
        if (queue.length % 2 === 1) for (const words of queue) say(words)
        else if (dialect !== 'enqueue-only') unsent.push(...queue)
        queue = []
        break
      }
    }
  }
  return { lines, typed, unsent }
}
