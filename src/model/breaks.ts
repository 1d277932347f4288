import type { Entry } from './entry.ts'
import type { Place } from './place.ts'

/** An entry, and where its line stands. */
interface Standing {
  readonly entryId: string
  readonly place: Place
}

/** A line that others hang from and that is not in the file: it was never written, or stands in another one. */
export interface MissingParent extends Standing {
  readonly parentId: string
  /** How many lines name it. */
  readonly lines: number
  /** Whether something that was said hangs from it, at whatever distance. */
  readonly isSpoken: boolean
  /** Whether the first line of the file is one of them: the file begins in the middle. */
  readonly isFirst: boolean
}

export interface OpenCall extends Standing {
  readonly callId: string
}

/** What is missing in a session, wherever it stands in its file: on the active path or beside it, before a compaction or behind. */
export interface Breaks {
  readonly missingParents: readonly MissingParent[]
  /** Calls without a result. */
  readonly unanswered: readonly OpenCall[]
  /** Results whose call is nowhere in the file. */
  readonly orphans: readonly OpenCall[]
}

export interface BreakFold {
  add(entry: Entry): void
  finish(): Breaks
  placeOf(entryId: string): Place | undefined
}

interface Line extends Standing {
  readonly parentId: string | null | undefined
  readonly isSpoken: boolean
}

/** Keeps ids and places, never bodies. */
export function createBreaks(): BreakFold {
  const lines = new Map<string, Line>()
  const calls = new Map<string, Standing>()
  const results = new Map<string, Standing>()
  let first: string | undefined

  return {
    add(entry) {
      const standing = { entryId: entry.id, place: entry.place }
      if (entry.link !== undefined) {
        first ??= entry.id
        const isSpoken = entry.type === 'user' || entry.type === 'assistant'
        lines.set(entry.id, { ...standing, parentId: entry.link.parentId, isSpoken })
      }
      if (entry.kind === 'reply' && !entry.synthetic) {
        for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, standing)
      } else if (entry.kind === 'result') {
        for (const block of entry.blocks)
          if (block.kind === 'tool-result') results.set(block.toolUseId, standing)
      }
    },
    finish: () => ({
      missingParents: findMissing(lines, first),
      unanswered: findLonely(calls, results),
      orphans: findLonely(results, calls),
    }),
    placeOf: (entryId) => lines.get(entryId)?.place,
  }
}

function findLonely(
  those: ReadonlyMap<string, Standing>,
  others: ReadonlyMap<string, Standing>,
): readonly OpenCall[] {
  return [...those].flatMap(([callId, standing]) => (others.has(callId) ? [] : [{ callId, ...standing }]))
}

function findMissing(lines: ReadonlyMap<string, Line>, first: string | undefined): readonly MissingParent[] {
  const missing = new Map<string, Line[]>()
  for (const line of lines.values()) {
    const { parentId } = line
    if (typeof parentId !== 'string' || lines.has(parentId)) continue
    const known = missing.get(parentId)
    if (known === undefined) missing.set(parentId, [line])
    else known.push(line)
  }
  if (missing.size === 0) return []
  const spoken = findSpoken(lines)
  return [...missing].flatMap(([parentId, children]) => {
    const [child] = children
    if (child === undefined) return []
    return [
      {
        parentId,
        entryId: child.entryId,
        place: child.place,
        lines: children.length,
        isSpoken: children.some(({ entryId }) => spoken.has(entryId)),
        isFirst: children.some(({ entryId }) => entryId === first),
      },
    ]
  })
}

/** What was said, and every line that it hangs from. */
function findSpoken(lines: ReadonlyMap<string, Line>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const start of lines.values()) {
    if (!start.isSpoken) continue
    for (let line: Line | undefined = start; line !== undefined && !found.has(line.entryId);) {
      found.add(line.entryId)
      line = lines.get(line.parentId ?? '')
    }
  }
  return found
}
