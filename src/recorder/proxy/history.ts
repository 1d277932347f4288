import type { Unit } from './turn-units.ts'

/** A line of a recording, as far as it is needed to know it again: keys, no contents. */
export interface KnownLine {
  readonly role: Unit['role'] | undefined
  readonly keys: readonly string[]
  readonly parent: KnownLine | undefined
  /** Of those that were heard from the model itself: its id of the message. */
  messageId: string | undefined
  state: 'writing' | 'written' | 'lost'
  /** Its uuid once it is on disk. */
  uuid: string | undefined
  /** Settles when it is on disk, or known not to be. */
  written: Promise<void>
  /** Answers to it that were whole. */
  answers: number
  /** Requests that end with it and are not answered yet. */
  readonly waiting: Set<Promise<void>>
}

/** How far a request repeats what is known. */
export interface Match {
  /** The last line that is known. The beginning itself when none is. */
  readonly line: KnownLine
  /** The units behind it. */
  readonly rest: readonly Unit[]
  /** Lines on the way that could not be written, each with its units: they can be written now. */
  readonly lost: readonly { readonly line: KnownLine; readonly units: readonly Unit[] }[]
  /** Whether an answer of the model is among what is common. */
  readonly hasAnswer: boolean
}

/** Everything that was said in a conversation, with its branches, by the keys of it. */
export interface History {
  /** Stands before every first line. */
  readonly start: KnownLine
  readonly size: number
  /** Follows a request as far as it is known; of several ways the longest, and of equals the newest. */
  match(units: readonly Unit[], from?: KnownLine): Match
  add(line: Pick<KnownLine, 'role' | 'keys' | 'parent'>): KnownLine
  /** Those that follow a line with exactly these keys. */
  find(parent: KnownLine, keys: readonly string[]): readonly KnownLine[]
}

export function createHistory(): History {
  const children = new Map<KnownLine, Map<string, KnownLine[]>>()
  const start = toLine({ role: undefined, keys: [], parent: undefined })
  let size = 0

  const following = (line: KnownLine, key: string | undefined): readonly KnownLine[] =>
    key === undefined ? [] : (children.get(line)?.get(key) ?? [])

  function deepest(units: readonly Unit[], from: KnownLine): { line: KnownLine; at: number } {
    let best = { line: from, at: 0 }
    const open = [best]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { line, at } = next
      if (at > best.at) best = next
      for (const child of following(line, units[at]?.key)) {
        const isRepeated = child.keys.every((key, offset) => units[at + offset]?.key === key)
        if (isRepeated) open.push({ line: child, at: at + child.keys.length })
      }
    }
    return best
  }

  return {
    start,
    get size() {
      return size
    },
    match(units, from = start) {
      const best = deepest(units, from)
      const lost: { line: KnownLine; units: readonly Unit[] }[] = []
      let hasAnswer = false
      let end = best.at
      for (
        let line: KnownLine | undefined = best.line;
        line !== undefined && line !== from;
        line = line.parent
      ) {
        const begin = end - line.keys.length
        if (line.state === 'lost') lost.unshift({ line, units: units.slice(begin, end) })
        if (line.role === 'assistant') hasAnswer = true
        end = begin
      }
      return { line: best.line, rest: units.slice(best.at), lost, hasAnswer: hasAnswer || from !== start }
    },
    add(facts) {
      const line = toLine(facts)
      size += 1
      const parent = facts.parent ?? start
      const [first = ''] = facts.keys
      const beside = children.get(parent) ?? new Map<string, KnownLine[]>()
      children.set(parent, beside)
      beside.set(first, [...(beside.get(first) ?? []), line])
      return line
    },
    find(parent, keys) {
      return following(parent, keys[0]).filter(
        (line) => line.keys.length === keys.length && line.keys.every((key, at) => key === keys[at]),
      )
    },
  }
}

function toLine(facts: Pick<KnownLine, 'role' | 'keys' | 'parent'>): KnownLine {
  return {
    ...facts,
    messageId: undefined,
    state: 'writing',
    uuid: undefined,
    written: Promise.resolve(),
    answers: 0,
    waiting: new Set(),
  }
}
