import { createHash } from 'node:crypto'
import { field, isObject, string } from '#base'
import { isMadeId } from '../streams/made-ids.ts'

/** A piece of a conversation that is known again when a client repeats it, with the blocks that it is made of. */
export interface Unit {
  /** Role and what was said, as a short hash. */
  readonly key: string
  readonly role: 'user' | 'assistant'
  /** Which of the turns it belongs to. */
  readonly turn: number
  /** Nothing but what may be there or not. */
  readonly isSoft: boolean
  readonly blocks: readonly object[]
}

/** As much of a turn as is needed here. */
interface SaidTurn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly object[]
}

/**
 * What turns are known by. Clients do not repeat a turn as it was: they leave thinking out, join pieces of text, put
 * two prompts into one turn, mark blocks for a cache, empty old results of tools, and change what they remind the
 * model of. None of that makes it another turn.
 */
export function toUnits(turns: readonly SaidTurn[]): readonly Unit[] {
  return turns.flatMap(toTurnUnits)
}

function toTurnUnits({ role, content }: SaidTurn, turn: number): readonly Unit[] {
  const units: Unit[] = []
  let soft: object[] = []
  for (const block of content) {
    if (isSoft(block)) {
      soft.push(block)
      continue
    }
    const text = string(block, 'type') === 'text' ? (string(block, 'text') ?? '') : undefined
    const last = units.at(-1)
    const before = role === 'assistant' && text !== undefined ? textOf(last) : undefined
    if (last !== undefined && before !== undefined && text !== undefined) {
      units[units.length - 1] = {
        ...last,
        key: keyOfWords(role, before + text),
        blocks: [...last.blocks, ...soft, block],
      }
    } else {
      units.push({ role, turn, isSoft: false, key: keyOf(role, block), blocks: [...soft, block] })
    }
    soft = []
  }
  const last = units.at(-1)
  if (soft.length === 0) return units
  if (last !== undefined) {
    units[units.length - 1] = { ...last, blocks: [...last.blocks, ...soft] }
    return units
  }
  if (soft.every(isEmpty)) return units
  return [{ role, turn, isSoft: true, key: toKey(role, 'soft', toStable(soft)), blocks: soft }]
}

/** The words of a unit that is nothing but words. */
function textOf(unit: Unit | undefined): string | undefined {
  const texts = unit?.blocks.filter((block) => !isSoft(block)).map((block) => string(block, 'text'))
  return texts === undefined || texts.includes(undefined) ? undefined : texts.join('')
}

/** What may be there or not without making it another turn. */
function isSoft(block: object): boolean {
  const type = string(block, 'type')
  if (type === 'thinking' || type === 'redacted_thinking') return true
  return type === 'text' && (isEmpty(block) || isReminder(string(block, 'text') ?? ''))
}

function isEmpty(block: object): boolean {
  return string(block, 'type') === 'text' && (string(block, 'text') ?? '').trim() === ''
}

/** Claude Code puts what it reminds the model of beside what a person said, and changes it as it goes. */
function isReminder(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.startsWith('<system-reminder>') && trimmed.endsWith('</system-reminder>')
}

function keyOf(role: Unit['role'], block: object): string {
  switch (string(block, 'type')) {
    case 'text':
      return keyOfWords(role, string(block, 'text') ?? '')
    case 'tool_use': {
      const id = string(block, 'id') ?? ''
      if (id !== '' && !isMadeId(id)) return toKey(role, 'call', id)
      return toKey(role, 'call', `${string(block, 'name') ?? ''} ${toStable(field(block, 'input'))}`)
    }
    case 'tool_result': {
      const id = string(block, 'tool_use_id') ?? ''
      // An id that was made here depends on what the client repeats.
      return toKey(role, 'result', id === '' || isMadeId(id) ? toStable(field(block, 'content')) : id)
    }
    default:
      return toKey(role, 'block', toStable(block))
  }
}

/** What a model said comes back with other white space, or cut otherwise. */
function keyOfWords(role: Unit['role'], words: string): string {
  return toKey(role, 'text', role === 'assistant' ? words.replaceAll(/\s+/gu, '') : words.trim())
}

function toKey(role: Unit['role'], kind: string, text: string): string {
  const hash = createHash('sha256').update(`${role} ${kind} `).update(text)
  return hash.digest('base64url').slice(0, 24)
}

/** What a provider, or the way to it, adds to a block. */
const MARKS: ReadonlySet<string> = new Set(['cache_control', 'openai', 'gemini', 'citations'])

/** JSON with its keys in order, and without marks. */
function toStable(value: unknown): string {
  return JSON.stringify(value ?? null, (key, inner: unknown) => {
    if (MARKS.has(key)) return undefined
    if (!isObject(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}
