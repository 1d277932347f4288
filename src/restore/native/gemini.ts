import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { field, object, string, type JsonObject } from '#base'
import { toResumeCommand } from '#model'
import { toGeminiContents } from '../gemini.ts'
import { createLossBook, type LossBook } from '../loss.ts'
import { ownOf, type Said, type SaidMessage } from '../said.ts'
import { writeSound } from '../writing.ts'
import { createIds, type Ids } from './ids.ts'
import { LINEAGE_KEY, toLineageMark, toLines, type NativeFacts, type NativeSession } from './session.ts'
import { createTimes, entryOf, toPiece, toSteps, toTime, type Step, type Times } from './steps.ts'

/** What stands before a prompt that Gemini CLI would take for a command or for its own words, and leave out. */
const VERBATIM = '[verbatim] '

/**
 * A conversation as a session of Gemini CLI. A result stands with its call and nowhere else: told twice, it would be
 * sent twice. The header does not say when the session was last changed, because the client deletes what is old.
 */
export function toGeminiSession(said: Said, facts: NativeFacts): NativeSession {
  const ids = createIds('gemini', facts)
  const book = createLossBook(said.losses)
  const times = createTimes(facts)
  const began = toTime(times.last)
  const making: Making = { facts, ids, book, times }
  const header = {
    sessionId: ids.session,
    projectHash: createHash('sha256').update(facts.workdir).digest('hex'),
    startTime: began,
    kind: 'main',
    ...(facts.title === undefined || facts.title === '' ? {} : { summary: facts.title }),
    [LINEAGE_KEY]: toLineageMark(facts),
  }
  const messages = toSteps(said, book).flatMap((step, index) => toMessage(step, index, making))
  const minute = began.slice(0, 16).replace(':', '-')
  const folder = `tmp/${toProjectName(facts.workdir)}`
  return {
    agent: 'gemini',
    id: ids.session,
    workdir: facts.workdir,
    files: [
      {
        path: `${folder}/chats/session-${minute}-${ids.session.slice(0, 8)}.jsonl`,
        text: toLines([header, ...messages]),
      },
    ],
    losses: book.losses,
    lineage: { from: facts.source, to: { agent: 'gemini', sessionId: ids.session } },
    until: toTime(times.last),
    resume: toResumeCommand('gemini', ids.session),
    prompt: ['gemini', '--resume', ids.session, '-p'],
  }
}

/** The name that Gemini CLI gives the folder of a project, unless another project has it. */
export function toProjectName(workdir: string): string {
  const name = basename(workdir)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/gu, '-')
    .replaceAll(/-+/gu, '-')
    .replace(/^-|-$/gu, '')
  return name === '' ? 'project' : name
}

interface Making {
  readonly facts: NativeFacts
  readonly ids: Ids
  readonly book: LossBook
  readonly times: Times
}

function toMessage(step: Step, index: number, making: Making): readonly object[] {
  const { ids, times } = making
  const envelope = {
    id: ids.uuid(`message ${String(index)}`),
    timestamp: toTime(times.of(entryOf(step.message))),
  }
  if (step.kind === 'prompt') return toUser(step, envelope, making)
  const { message } = step
  const thoughts = toThoughts(message, envelope.timestamp, making)
  const [parts, answers] = toContents(step, making)
  const calls = parts.map(callOf).filter((call) => call !== undefined)
  const content = toContent(parts)
  if (content === '' && calls.length === 0 && thoughts.length === 0) return []
  return [
    {
      ...envelope,
      type: 'gemini',
      content,
      thoughts,
      tokens: null,
      model: message.model ?? making.facts.model ?? 'unknown',
      ...(calls.length === 0
        ? {}
        : { toolCalls: toCalls(calls, answers, toTime(times.of(entryOf({ blocks: step.results })))) }),
    },
  ]
}

function toUser(step: Step, envelope: object, { book }: Making): readonly object[] {
  const { contents, losses } = toGeminiContents(toPiece(step))
  for (const { kind, origin, how, why } of losses) book.note(kind, origin, { how, why })
  const parts = contents[0]?.parts ?? []
  if (parts.length === 0) return []
  const text = parts
    .map((part) => string(part, 'text') ?? '[media]')
    .join('')
    .trimStart()
  if (!/^(?:\/|\?|<session_context>|<hook_context>)/u.test(text))
    return [{ ...envelope, type: 'user', content: parts }]
  const origin = step.message.blocks[0]?.origin ?? { entryId: '', index: 0 }
  book.note('context', origin, {
    how: 'added',
    why: `Gemini CLI leaves out prompts that begin like this one: ${VERBATIM.trim()} stands before it`,
  })
  return [{ ...envelope, type: 'user', content: [{ text: VERBATIM }, ...parts] }]
}

/** Thoughts are kept for the person. The client has no signatures, and sends them to nobody. */
function toThoughts(message: SaidMessage, timestamp: string, { book }: Making): readonly object[] {
  return message.blocks.flatMap((said) => {
    const { block, origin } = said
    if (block.kind === 'redacted-thinking') {
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'only the provider that encrypted it can read it',
      })
      return []
    }
    if (block.kind !== 'thinking') return []
    if (block.thinking.trim() === '') {
      book.note('thinking', origin, { how: 'dropped', why: 'its text was taken out' })
      return []
    }
    book.note('thinking', origin, { how: 'changed', why: 'it is shown, and Gemini CLI does not send it' })
    const own = message.provider === 'gemini' ? ownOf(said, 'gemini') : undefined
    const subject = string(own, 'subject')
    const description = string(own, 'description')
    if (subject !== undefined && description !== undefined) return [{ subject, description, timestamp }]
    return [{ subject: '', description: writeSound(said, block.thinking, book), timestamp }]
  })
}

/** The parts of an answer, and those of its results. */
function toContents(step: Step, { book }: Making): readonly [readonly object[], readonly object[]] {
  const blocks = step.message.blocks.filter(
    ({ block: { kind } }) => kind !== 'thinking' && kind !== 'redacted-thinking',
  )
  const { contents, losses } = toGeminiContents(toPiece({ ...step, message: { ...step.message, blocks } }))
  // That a call goes without its signature is so in every session of this client.
  for (const { kind, origin, how, why } of losses)
    if (kind !== 'signature') book.note(kind, origin, { how, why })
  const partsOf = (wanted: string): readonly object[] =>
    contents.flatMap(({ role, parts }) => (role === wanted ? parts : []))
  return [partsOf('model'), partsOf('user')]
}

/** As the client writes it: the words, with the calls beside them. Words behind a call keep their place among calls. */
function toContent(parts: readonly object[]): string | readonly object[] {
  const words = parts.filter((part) => callOf(part) === undefined)
  if (parts.slice(0, words.length).some((part) => callOf(part) !== undefined))
    return parts.map((part) => ('functionCall' in part ? { functionCall: part.functionCall } : part))
  const [only] = words
  if (only === undefined) return ''
  return words.length === 1 ? (string(only, 'text') ?? words) : words
}

function callOf(part: object): JsonObject | undefined {
  return object(part, 'functionCall')
}

function toCalls(
  calls: readonly JsonObject[],
  answers: readonly object[],
  timestamp: string,
): readonly object[] {
  const results = new Map<string, object[]>()
  let current: object[] = []
  for (const part of answers) {
    const response = object(part, 'functionResponse')
    if (response !== undefined) {
      current = []
      results.set(string(response, 'id') ?? '', current)
    }
    current.push(part)
  }
  return calls.map((call) => {
    const id = string(call, 'id') ?? ''
    const name = string(call, 'name') ?? ''
    const result = results.get(id) ?? []
    const response = object(object(result[0], 'functionResponse'), 'response')
    const isError = field(response, 'error') !== undefined
    return {
      id,
      name,
      args: call['args'],
      status: isError ? 'error' : 'success',
      timestamp,
      description: '',
      displayName: name,
      renderOutputAsMarkdown: false,
      result,
      resultDisplay: string(response, isError ? 'error' : 'output') ?? '',
    }
  })
}
