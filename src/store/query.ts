import { findCalendar, type Calendar } from './calendar.ts'
import { createFacetReader, FACET_NAMES, type Facets } from './query-facets.ts'
import { toPieces, type Piece } from './query-pieces.ts'
import { findTerm, type Term } from './query-term.ts'

/** What somebody searches for. All clauses and all facets must hold. */
export interface Query {
  readonly clauses: readonly Clause[]
  readonly facets: Facets
  /** What was made of the query where that is not what was typed, in sentences. */
  readonly notes: readonly string[]
  /** Nothing is asked for. */
  readonly isEmpty: boolean
}

/** One of the terms must be there; or, with `not`, none of them may. There is no `not` without another clause. */
interface Clause {
  readonly any: readonly Term[]
  readonly not: boolean
}

export interface QueryOptions {
  /** Where days begin and end. Default: UTC. */
  readonly timeZone?: string
}

/** What is read of a query; the rest is left out, with a note. */
const MOST_CHARACTERS = 2000
const MOST_TERMS = 64

/**
 * Understands what somebody typed: words, "phrases", prefix*, -without, OR, facets. Never throws: what cannot be
 * understood as written is searched as words, and `notes` says so. `now` is in milliseconds.
 */
export function toQuery(text: string, now: number, options: QueryOptions = {}): Query {
  const notes: string[] = []
  if (text.length > MOST_CHARACTERS) {
    notes.push(`Only the first ${MOST_CHARACTERS} characters were searched for.`)
  }
  const typed = text.slice(0, MOST_CHARACTERS)
  const reader = createFacetReader(getCalendar(options.timeZone, notes), now)
  const builder = createBuilder(notes)
  const pieces = toPieces(typed, FACET_NAMES, notes)
  for (const [n, piece] of pieces.entries()) {
    if (piece.kind === 'facet') {
      const problem = reader.add(piece)
      if (problem === undefined) builder.interrupt()
      else {
        notes.push(`${problem}; “${shown(piece.typed)}” was searched as words.`)
        builder.addTerm({ ...piece, kind: 'word', text: `${piece.facet} ${piece.text}` })
      }
    } else if (piece.kind === 'or') builder.addOr(piece, pieces[n + 1])
    else builder.addTerm(piece)
  }
  const clauses = builder.finish()
  return {
    clauses,
    facets: reader.facets(),
    notes: [...new Set(notes)],
    isEmpty: clauses.length === 0 && reader.count === 0,
  }
}

const UTC: Calendar | undefined = findCalendar('UTC')

function getCalendar(timeZone: string | undefined, notes: string[]): Calendar {
  const calendar = timeZone === undefined ? UTC : findCalendar(timeZone)
  if (calendar !== undefined) return calendar
  notes.push(`Nobody knows the time zone “${shown(timeZone ?? '')}”; days are those of UTC.`)
  return UTC ?? { dayOf: () => '', startOf: () => 0 }
}

/** Puts terms together to clauses. */
interface Builder {
  addTerm(piece: Piece): void
  addOr(piece: Piece, next: Piece | undefined): void
  /** Something that is no term stands here: an OR does not reach over it. */
  interrupt(): void
  finish(): readonly Clause[]
}

function createBuilder(notes: string[]): Builder {
  const clauses: { readonly any: Term[]; readonly not: boolean }[] = []
  const leftOut: Piece[] = []
  let terms = 0
  /** Whether the last piece was a term that an OR can follow. */
  let open = false
  let or = false

  function addTerm(piece: Piece): void {
    const kind = piece.prefix ? 'prefix' : piece.kind === 'phrase' ? 'phrase' : 'word'
    const term = findTerm(kind, piece.text)
    if (term === undefined) {
      or = false
      if (!/^[()[\]{}]+$/.test(piece.typed)) {
        notes.push(`There is no letter or digit to search for in “${shown(piece.typed)}”.`)
      }
      return
    }
    terms++
    if (terms > MOST_TERMS) {
      notes.push(`Only the first ${MOST_TERMS} terms were searched for.`)
      return
    }
    const last = clauses.at(-1)
    if (or && last !== undefined && !piece.negated) last.any.push(term)
    else clauses.push({ any: [term], not: piece.negated })
    or = false
    open = !piece.negated
  }

  return {
    addTerm,
    addOr(piece, next) {
      const joins = open && next !== undefined && next.kind !== 'or' && next.kind !== 'facet' && !next.negated
      if (joins) {
        or = true
        return
      }
      // Facets of one name are alternatives anyway.
      if (open || next?.kind !== 'facet') leftOut.push(piece)
      open = false
    },
    interrupt() {
      open = false
      or = false
    },
    finish() {
      if (clauses.length === 0 && leftOut[0] !== undefined) {
        addTerm({ ...leftOut[0], kind: 'word' })
        notes.push('“OR” stands between two words or phrases; alone it was searched as a word.')
      } else if (leftOut.length > 0)
        notes.push('“OR” stands between two words or phrases; elsewhere it was left out.')
      if (clauses.some(({ not }) => !not)) return clauses
      if (clauses.length > 0) {
        notes.push(
          'What must not be there narrows a search down; without a word that must be there it was left out.',
        )
      }
      return []
    },
  }
}

/** A piece of what was typed, short enough for a sentence. */
function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
