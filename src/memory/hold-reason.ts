import type { MemoryDocument } from '#model'
import { guardEgress, redact } from '#redact'
import { toGateVerdict, type ForeignTexts } from './write-gate.ts'

/** What an agent wants kept, and what is known about it. */
export interface AgentWords extends ForeignTexts {
  readonly content: string
  /** How many others the same message asked for before it. */
  readonly before: number
  readonly wantsPin: boolean
  /** What it would stand for from now on. */
  readonly older: MemoryDocument | undefined
  /** Whether a person has to approve what agents remember. */
  readonly review: 'off' | 'agent'
}

/** What one message may ask for without a person looking at it, and how long each may be. */
const MOST = 5
const LONGEST = 600

/** Why what an agent wants kept waits for a person; `undefined` when it need not. */
export function findHoldReason(words: AgentWords): string | undefined {
  const { content, older } = words
  const verdict = toGateVerdict(content, words)
  if (verdict.kind === 'quarantine') return `${verdict.reason}: ${toQuote(verdict.detail, content)}`
  if (content.length > LONGEST) return `too-long: ${content.length} characters`
  if (words.before >= MOST) return `too-many: ${words.before} came before it in one message`
  if (words.wantsPin) return 'asks-to-be-pinned: only a person pins'
  if (older !== undefined && (older.pinned || older.speakerType === 'human')) {
    return `replaces-a-person's: ${older.id}`
  }
  return words.review === 'agent' ? 'review: what agents remember waits for a person' : undefined
}

/** What a reason quotes stays beside the document. A piece of a secret may look like none: then nothing is quoted. */
function toQuote(detail: string, content: string): string {
  const masked = guardEgress(() => {
    const { text } = redact(detail)
    return { text: redact(content).found.length === 0 ? text : NOT_QUOTED, found: [] }
  })
  return masked.state === 'refused' ? NOT_QUOTED : masked.text
}

const NOT_QUOTED = 'not quoted, because the text holds a secret'
