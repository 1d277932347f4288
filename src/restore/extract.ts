import { shorten, string } from '#base'
import { parseDirectives, textOf, type Message, type ReplyMessage, type Turn } from '#model'

/** What is to be known of a turn when it is not there in full any more, taken from what was said, word by word. */
export interface TurnExtract {
  readonly number: number
  /** Its first entry: there it is in full. */
  readonly entryId: string
  readonly prompt: string
  /** What the agent came to: the end of its last words. */
  readonly outcome: string
  readonly actions: readonly string[]
  readonly files: readonly string[]
  readonly errors: readonly string[]
  /** What the agent asked to be remembered. */
  readonly learnings: readonly string[]
}

const PROMPT = 600
const OUTCOME = 500
const ACTION = 120
const ACTIONS = 12
const ERROR = 200
const ERRORS = 4

export function toTurnExtract(turn: Turn, number: number): TurnExtract {
  const replies = turn.messages.filter((message): message is ReplyMessage => message.kind === 'reply')
  const calls = replies.flatMap((reply) => reply.calls)
  const texts = replies.map((reply) => textOf(reply.blocks)).filter((text) => text.trim() !== '')
  const learnings = texts.flatMap((text) =>
    parseDirectives(text).directives.map(({ content }) => shorten(content, PROMPT)),
  )
  const said = texts.map((text) => parseDirectives(text).text.trim()).filter((text) => text !== '')
  return {
    number,
    entryId: turn.messages[0]?.id ?? '',
    prompt: promptOf(turn),
    outcome: toOutcome(said.at(-1) ?? ''),
    actions: [...new Set(calls.map(({ use }) => `${use.name} ${toArgument(use.input)}`.trim()))].slice(
      -ACTIONS,
    ),
    files: [...new Set(calls.flatMap(({ use }) => fileOf(use.input) ?? []))],
    errors: calls
      .flatMap(({ use, state, result }) =>
        state === 'failed'
          ? [`${use.name}: ${shorten(firstLine(textOf(result?.content ?? [])), ERROR)}`]
          : [],
      )
      .slice(-ERRORS),
    learnings,
  }
}

function promptOf({ messages }: Turn): string {
  const prompts = messages.flatMap((message: Message) =>
    message.kind === 'prompt' && message.origin !== 'system' ? [textOf(message.blocks).trim()] : [],
  )
  return shorten(prompts.filter((text) => text !== '').join('\n\n'), PROMPT)
}

/** The last paragraphs: an agent says at the end what it did and what is left. */
function toOutcome(text: string): string {
  if (text.length <= OUTCOME) return text
  const paragraphs = text.split(/\n{2,}/u)
  let outcome = ''
  for (const paragraph of paragraphs.toReversed()) {
    if (outcome !== '' && outcome.length + paragraph.length > OUTCOME) break
    outcome = outcome === '' ? paragraph : `${paragraph}\n\n${outcome}`
  }
  return shorten(outcome, OUTCOME)
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

function toArgument(input: unknown): string {
  for (const key of [
    'description',
    'command',
    'cmd',
    'file_path',
    'path',
    'pattern',
    'query',
    'url',
    'prompt',
  ]) {
    const found = string(input, key)
    if (found !== undefined) return shorten(firstLine(found), ACTION)
  }
  return typeof input === 'string' ? shorten(firstLine(input), ACTION) : ''
}

function fileOf(input: unknown): string | undefined {
  return string(input, 'file_path') ?? string(input, 'notebook_path')
}
