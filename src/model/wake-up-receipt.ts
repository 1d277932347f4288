import { field, isObject, list, number, string } from '#base'
import { WAKE_UP_SECTIONS, type WakeUpSection } from './wake-up-format.ts'

/** How much may go into a wake-up, in tokens of our counter. */
export interface WakeUpBudget {
  /** Tokens of the whole text. */
  readonly total: number
  /** Tokens of the previous session, as far as the whole allows. */
  readonly transcript: number
  /** Tokens of documents, as far as the whole allows. */
  readonly documents: number
  /** Tokens of one document, or of one message. */
  readonly item: number
  /** Of the tokens of documents, those of other people's. */
  readonly team?: number
  /** UTF-16 units of the whole text; absent when nobody counts them. */
  readonly characters?: number
}

export interface CarriedDocument {
  readonly id: string
  readonly section: WakeUpSection
  readonly tokens: number
  readonly form: 'full' | 'short'
  /** Who wrote it and on which machine, where that was not here. */
  readonly author?: string
  readonly machine?: string
}

export interface LeftDocument {
  readonly id: string
  readonly section: WakeUpSection
  readonly reason: LeftReason
  /** What was held against it, where somebody said so. */
  readonly detail?: string
}

export type LeftReason =
  | 'held'
  | 'expired'
  | 'too-long'
  | 'budget'
  | 'not-redacted'
  | 'contradiction-left-out'

export interface CarriedMessage {
  readonly id: string
  readonly tokens: number
  readonly form: 'full' | 'shortened'
}

/** Messages in a row that stayed out. */
export interface LeftMessages {
  readonly from: string
  readonly to: string
  readonly count: number
  readonly reason: 'budget' | 'not-redacted'
}

/** What a wake-up contained, left out, and why. */
export interface WakeUpReceipt {
  readonly tokens: number
  readonly characters: number
  readonly budget: WakeUpBudget
  readonly documents: readonly CarriedDocument[]
  readonly documentsLeft: readonly LeftDocument[]
  readonly sessionId?: string
  readonly messages: readonly CarriedMessage[]
  readonly messagesLeft: readonly LeftMessages[]
  /** How many masks stand in it. */
  readonly redacted: number
  /** Set when not even the texts of the configuration fit: nothing was composed. */
  readonly refused?: 'texts-too-long'
}

/** A receipt that was written as JSON, here or in another version. `undefined` when it is none. Never throws. */
export function readWakeUpReceipt(value: unknown): WakeUpReceipt | undefined {
  const tokens = number(value, 'tokens')
  const characters = number(value, 'characters')
  if (!isObject(value) || tokens === undefined || characters === undefined) return undefined
  const sessionId = string(value, 'sessionId')
  return {
    tokens,
    characters,
    budget: readBudget(field(value, 'budget')),
    documents: list(value, 'documents').flatMap(readCarried),
    documentsLeft: list(value, 'documentsLeft').flatMap(readLeft),
    ...(sessionId === undefined ? {} : { sessionId }),
    messages: list(value, 'messages').flatMap((one): readonly CarriedMessage[] => {
      const id = string(one, 'id')
      const form = string(one, 'form') === 'shortened' ? 'shortened' : 'full'
      return id === undefined ? [] : [{ id, tokens: number(one, 'tokens') ?? 0, form }]
    }),
    messagesLeft: list(value, 'messagesLeft').flatMap((one): readonly LeftMessages[] => {
      const [from, to] = [string(one, 'from'), string(one, 'to')]
      const reason = string(one, 'reason') === 'not-redacted' ? 'not-redacted' : 'budget'
      if (from === undefined || to === undefined) return []
      return [{ from, to, count: number(one, 'count') ?? 0, reason }]
    }),
    redacted: number(value, 'redacted') ?? 0,
    ...(value['refused'] === 'texts-too-long' ? { refused: 'texts-too-long' } : {}),
  }
}

function readBudget(value: unknown): WakeUpBudget {
  const of = (key: string): number => number(value, key) ?? 0
  const characters = number(value, 'characters')
  const team = number(value, 'team')
  return {
    ...(team === undefined ? {} : { team }),
    total: of('total'),
    transcript: of('transcript'),
    documents: of('documents'),
    item: of('item'),
    ...(characters === undefined ? {} : { characters }),
  }
}

function readSection(value: unknown): WakeUpSection {
  return WAKE_UP_SECTIONS.find((section) => section === string(value, 'section')) ?? 'knowledge'
}

function readCarried(value: unknown): readonly CarriedDocument[] {
  const id = string(value, 'id')
  if (id === undefined) return []
  const form = string(value, 'form') === 'short' ? 'short' : 'full'
  const [author, machine] = [string(value, 'author'), string(value, 'machine')]
  return [
    {
      id,
      section: readSection(value),
      tokens: number(value, 'tokens') ?? 0,
      form,
      ...(author === undefined ? {} : { author }),
      ...(machine === undefined ? {} : { machine }),
    },
  ]
}

function readLeft(value: unknown): readonly LeftDocument[] {
  const id = string(value, 'id')
  const reason = LEFT_REASONS.find((one) => one === string(value, 'reason'))
  if (id === undefined || reason === undefined) return []
  const detail = string(value, 'detail')
  return [{ id, section: readSection(value), reason, ...(detail === undefined ? {} : { detail }) }]
}

const LEFT_REASONS: readonly LeftReason[] = [
  'held',
  'expired',
  'too-long',
  'budget',
  'not-redacted',
  'contradiction-left-out',
]
