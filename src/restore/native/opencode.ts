import { isObject } from '#base'
import { toResumeCommand } from '#model'
import { createLossBook, type LossBook } from '../loss.ts'
import type { Said, SaidBlock, SaidMessage } from '../said.ts'
import { noteUnknown, writeCall, writeFound, writeSound, writeText } from '../writing.ts'
import { OPENAI_RULES as RULES } from '../openai-rules.ts'
import { createIds, type Ids } from './ids.ts'
import { toFile, toMediaText, toOutput as toResultOutput } from './opencode-media.ts'
import { LINEAGE_KEY, toLineageMark, type NativeFacts, type NativeSession } from './session.ts'
import { createTimes, entryOf, toSteps, toTime, withOpening, type Step, type Times } from './steps.ts'

/** The version whose export this is. */
const VERSION = '1.18.33'

/**
 * A conversation as `opencode import` takes it. Which project it belongs to is decided where it is taken in. Ids go up
 * with time and are never later than what was said: opencode does nothing at all for a session from the future.
 */
export function toOpencodeSession(said: Said, facts: NativeFacts): NativeSession {
  const ids = createIds('opencode', facts)
  const book = createLossBook(said.losses)
  const times = createTimes(facts)
  const created = times.last
  const session = `ses_${toStamp(~toTick(created), ids.word('session', 14))}`
  const making: Making = { facts, ids, book, times, session, asked: '', count: { value: 0 } }
  const messages: object[] = []
  let asked = ''
  for (const step of withOpening(toSteps(said, book), book)) {
    const message = step.kind === 'prompt' ? toPrompt(step, making) : toAnswer(step, { ...making, asked })
    if (message === undefined) continue
    if (step.kind === 'prompt') asked = message.info.id
    messages.push(message)
  }
  const info = {
    id: session,
    slug: `from-${ids.word('slug', 8).toLowerCase()}`,
    projectID: 'global',
    directory: facts.workdir,
    title: facts.title === undefined || facts.title === '' ? `From ${facts.source.agent}` : facts.title,
    version: VERSION,
    time: { created, updated: times.last },
    metadata: { [LINEAGE_KEY]: toLineageMark(facts) },
  }
  return {
    agent: 'opencode',
    id: session,
    workdir: facts.workdir,
    files: [{ path: `${session}.json`, text: JSON.stringify({ info, messages }) }],
    losses: book.losses,
    lineage: { from: facts.source, to: { agent: 'opencode', sessionId: session } },
    until: toTime(times.last),
    takeIn: ['opencode', 'import'],
    resume: toResumeCommand('opencode', session),
    prompt: ['opencode', 'run', '-s', session],
  }
}

interface Making {
  readonly facts: NativeFacts
  readonly ids: Ids
  readonly book: LossBook
  readonly times: Times
  readonly session: string
  /** The message that is being answered. */
  readonly asked: string
  readonly count: { value: number }
}

interface Message {
  readonly info: { readonly id: string }
  readonly parts: readonly object[]
}

/** The time as ids have it: 48 bits, of which the last twelve count within a millisecond. */
function toTick(ms: number): bigint {
  return BigInt(ms) * 0x1000n + 1n
}

function toStamp(tick: bigint, word: string): string {
  return `${(tick & 0xff_ff_ff_ff_ff_ffn).toString(16).padStart(12, '0')}${word}`
}

function newId(prefix: 'msg' | 'prt', at: number, { ids, count }: Making): string {
  return `${prefix}_${toStamp(toTick(at), ids.word(`${prefix} ${String(++count.value)}`, 14))}`
}

function partOf(messageID: string, at: number, making: Making): object {
  return { id: newId('prt', at, making), sessionID: making.session, messageID }
}

function toPrompt({ message }: Step, making: Making): Message | undefined {
  const created = making.times.of(entryOf(message))
  const id = newId('msg', created, making)
  const parts = message.blocks.flatMap((said) => toInput(said, id, making))
  if (parts.length === 0) return undefined
  const model = nextModel(making.facts) ?? modelOf(message, making.facts)
  const info = { id, sessionID: making.session, role: 'user', time: { created }, agent: 'build', model }
  return { info, parts }
}

/** Who answers, by the names of opencode. A prompt is said to have gone to the model that the session had. */
function modelOf({ provider, model }: SaidMessage, facts: NativeFacts): Model {
  const providerID = PROVIDERS[provider === 'unknown' ? facts.source.agent : provider] ?? 'unknown'
  return { providerID, modelID: model ?? facts.model ?? 'unknown' }
}

/** The model that is named to go on with. Names of models may have slashes in them, those of providers have none. */
function nextModel({ goOnWith }: NativeFacts): Model | undefined {
  const [providerID = '', ...rest] = goOnWith?.split('/') ?? []
  return rest.length === 0 ? undefined : { providerID, modelID: rest.join('/') }
}

interface Model {
  readonly providerID: string
  readonly modelID: string
}

const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  claude: 'anthropic',
  openai: 'openai',
  codex: 'openai',
  gemini: 'google',
}

function toInput(said: SaidBlock, messageID: string, making: Making): readonly object[] {
  const { book, times } = making
  const { block } = said
  const envelope = (): object => partOf(messageID, times.of(undefined), making)
  switch (block.kind) {
    case 'text': {
      const text = writeText(said, block.text, book)
      return text === undefined ? [] : [{ ...envelope(), type: 'text', text }]
    }
    case 'image':
    case 'document': {
      const file = toFile(said, block, book)
      if (file !== undefined) return [{ ...envelope(), ...file }]
      return [{ ...envelope(), type: 'text', text: toMediaText(said, block, book) }]
    }
    case 'unknown': {
      const text = writeFound(said, book)
      if (text !== undefined) return [{ ...envelope(), type: 'text', text }]
      noteUnknown(said, book)
      return []
    }
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-use':
    case 'tool-result':
      noteUnknown(said, book)
      return []
  }
}

function toAnswer(step: Step & { readonly kind: 'answer' }, making: Making): Message | undefined {
  const { message, results } = step
  const { facts, times, session } = making
  const created = times.of(entryOf(message))
  const id = newId('msg', created, making)
  const answers = new Map(
    results.flatMap((said) =>
      said.block.kind === 'tool-result' ? [[said.block.toolUseId, said] as const] : [],
    ),
  )
  const start = { ...partOf(id, times.of(undefined), making), type: 'step-start' }
  const parts = message.blocks.flatMap((said) => toOutput(said, message, { ...making, id, answers }))
  if (parts.length === 0) return undefined
  const finish = answers.size > 0 ? 'tool-calls' : 'stop'
  const end = {
    ...partOf(id, times.of(undefined), making),
    type: 'step-finish',
    reason: finish,
    ...NOTHING_USED,
  }
  const info = {
    id,
    sessionID: session,
    role: 'assistant',
    parentID: making.asked,
    mode: 'build',
    agent: 'build',
    path: { cwd: facts.workdir, root: facts.workdir },
    ...NOTHING_USED,
    ...modelOf(message, facts),
    time: { created, completed: times.last },
    finish,
  }
  return { info, parts: [start, ...parts, end] }
}

/** What was said was paid for where it was said. */
const NOTHING_USED = { cost: 0, tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } }

interface Answering extends Making {
  readonly id: string
  readonly answers: ReadonlyMap<string, SaidBlock>
}

function toOutput(said: SaidBlock, message: SaidMessage, making: Answering): readonly object[] {
  const { block, origin } = said
  const { book, times, id } = making
  const at = times.of(origin.entryId)
  const envelope = (): object => partOf(id, at, making)
  const time = { start: at, end: at }
  switch (block.kind) {
    case 'text': {
      const text = writeText(said, block.text, book)
      return text === undefined ? [] : [{ ...envelope(), type: 'text', text, time }]
    }
    case 'thinking':
      if (block.thinking.trim() === '') {
        book.note('thinking', origin, { how: 'dropped', why: 'its text was taken out' })
        return []
      }
      book.note('thinking', origin, {
        how: 'changed',
        why: 'opencode hands it to the model that thought it, and to any other as plain words',
      })
      return [
        {
          ...envelope(),
          type: 'reasoning',
          text: writeSound(said, block.thinking, book),
          time,
          ...(message.provider === 'anthropic' && block.signature !== undefined && block.signature !== ''
            ? { metadata: { anthropic: { signature: block.signature } } }
            : {}),
        },
      ]
    case 'redacted-thinking':
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'only the provider that encrypted it can read it',
      })
      return []
    case 'tool-use': {
      const call = writeCall(said, block, { rules: RULES, book })
      const input = isObject(call.input) ? call.input : { input: call.input ?? null }
      if (input !== call.input)
        book.note('tool-input', origin, { how: 'changed', why: 'the input of a call must be an object' })
      const state = toState(making.answers.get(block.id), { input, title: call.name, at, making })
      return [{ ...envelope(), type: 'tool', tool: call.name, callID: call.id, state }]
    }
    case 'image':
    case 'document':
      return [{ ...envelope(), type: 'text', text: toMediaText(said, block, book), time }]
    case 'tool-result':
    case 'unknown':
      noteUnknown(said, book)
      return []
  }
}

function toState(
  result: SaidBlock | undefined,
  {
    input,
    title,
    at,
    making,
  }: { readonly input: object; readonly title: string; readonly at: number; readonly making: Answering },
): object {
  const block = result?.block.kind === 'tool-result' ? result.block : undefined
  const time = { start: at, end: making.times.of(result?.origin.entryId) }
  const { words, files } =
    result === undefined || block === undefined
      ? { words: '', files: [] }
      : toResultOutput(result, block, making.book)
  if (block?.isError === true) return { status: 'error', input, error: words, time }
  const attachments = files.map((file) => ({
    ...partOf(making.id, making.times.of(undefined), making),
    ...file,
  }))
  return {
    status: 'completed',
    input,
    output: words,
    title,
    metadata: {},
    time,
    ...(attachments.length === 0 ? {} : { attachments }),
  }
}
