import type { EntryKind, Place, SessionOrigin } from '#model'

export interface SearchRequest {
  /**
   * Words, "phrases", prefix*, -without, OR, and facets: `agent:`, `workdir:`, `session:`, `role:`, `speaker:`,
   * `tool:`, `kind:`, `after:`, `before:`, `on:`, `has:error|directive`, `in:said|thought|tool`.
   */
  readonly q: string
  /** Default 20, at most 200. */
  readonly limit?: number
  /** `next` of another page. */
  readonly cursor?: string
}

export interface SearchPage {
  /** Best first: people's and agents' words, then thinking, then tools; newest first among equals. */
  readonly hits: readonly SearchHit[]
  /** Give as `cursor` for the hits that follow; absent at the end. */
  readonly next?: string
  /** How many there are in all, as far as they were counted. */
  readonly total: { readonly count: number; readonly exact: boolean }
  /** What was made of the query where that is not what was typed, for a person. */
  readonly notes: readonly string[]
  /** Whether an index answered, and whether it has everything yet. */
  readonly index: 'complete' | 'building' | 'none'
  /** Whether what other machines share was searched too. Not there where there is no team. */
  readonly team?: 'searched' | 'away' | undefined
}

/** One entry that matches, with a citation and a piece of it to look at. */
export interface SearchHit {
  readonly session: {
    readonly id: string
    readonly agent: string
    readonly name?: string | undefined
    readonly workdir?: string | undefined
    /** Where it is, when that is not this machine. */
    readonly origin?: SessionOrigin | undefined
    /** It is a sample session. */
    readonly demo?: true | undefined
  }
  /** The subagent in whose file it stands. */
  readonly subagent?: string | undefined
  readonly entry: {
    readonly id: string
    readonly kind: EntryKind
    readonly at?: string | undefined
    readonly place: Place
    /** A cursor right behind the entry: `before` of a page that ends with it. */
    readonly cursor: string
  }
  readonly where: SearchTier
  readonly tool?: string | undefined
  readonly isError: boolean
  readonly snippet: Snippet
}

/** What a match stands in: words of people and agents, thinking, or what went into and came out of tools. */
export type SearchTier = 'said' | 'thought' | 'tool'

/** Text around the first match on one line, and where the matches are in it, in UTF-16 units. */
export interface Snippet {
  readonly text: string
  readonly marks: readonly (readonly [start: number, end: number])[]
}
