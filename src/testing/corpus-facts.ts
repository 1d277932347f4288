/** Tokens of every API message once, whatever the number of lines, files and forks that repeat it. */
interface CorpusUsage {
  readonly messages: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheCreationTokens: number
  readonly cacheReadTokens: number
}

/** A string that is in one message of one session, and nowhere else but in side records about that message. */
interface CorpusNeedle {
  readonly text: string
  readonly where: NeedlePlace
  /** Of the session it belongs to; the file may be one of its subagents'. */
  readonly sessionId: string
  readonly path: string
}

export type NeedlePlace =
  | 'prompt'
  | 'reply'
  | 'thinking'
  | 'tool-input'
  | 'tool-output'
  | 'subagent'
  | 'summary'
  | 'cjk'

/** One line that is not JSON, newline excluded. */
export interface CorpusDamage {
  readonly path: string
  readonly kind: DamageKind
  readonly offset: number
  readonly length: number
}

export type DamageKind = 'torn-tail' | 'torn-middle' | 'zeros' | 'glued'

export interface CorpusSession {
  readonly id: string
  /** Relative to the config dir. */
  readonly path: string
  readonly bytes: number
  readonly lines: number
  readonly compactions: number
  readonly rewinds: number
  /** Id of the session whose lines this one starts with. */
  readonly forkOf?: string
  /** User and assistant messages the model would see: the active path after the last compaction. */
  readonly visible: number
}

/** What is true of a corpus, counted while it was written, not by reading it back. */
export interface CorpusFacts {
  readonly version: number
  readonly seed: number
  readonly size: string
  readonly projects: number
  /** Transcript files: one a session, one a subagent. */
  readonly files: number
  readonly subagents: number
  /** Everything else: meta.json, tool results, titles. */
  readonly otherFiles: number
  /** Lines and bytes of transcript files; a damaged line counts, and so does a torn tail. */
  readonly lines: number
  readonly bytes: number
  readonly lineKinds: Readonly<Record<string, number>>
  readonly images: number
  readonly usage: CorpusUsage
  readonly damage: readonly CorpusDamage[]
  readonly needles: readonly CorpusNeedle[]
  readonly sessions: readonly CorpusSession[]
  readonly biggest: CorpusSession
  readonly compacted: CorpusSession
}

/** Collects the facts while files are written. */
export interface Tally {
  line(kind: string): void
  file(bytes: number, lines: number, role: 'session' | 'subagent'): void
  otherFile(): void
  image(): void
  usage(tokens: Tokens): void
  damage(damage: CorpusDamage): void
  needle(needle: CorpusNeedle): void
  session(session: CorpusSession): void
  facts(about: {
    readonly version: number
    readonly seed: number
    readonly size: string
    readonly projects: number
    readonly biggest: string
    readonly compacted: string
  }): CorpusFacts
}

export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheCreation: number
  readonly cacheRead: number
}

export function createTally(): Tally {
  const kinds = new Map<string, number>()
  const damage: CorpusDamage[] = []
  const needles: CorpusNeedle[] = []
  const sessions: CorpusSession[] = []
  const count = { files: 0, subagents: 0, otherFiles: 0, lines: 0, bytes: 0, images: 0 }
  const sum = { messages: 0, inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 }

  function session(id: string): CorpusSession {
    const found = sessions.find((candidate) => candidate.id === id)
    if (found === undefined) throw new RangeError(`no session ${id}`)
    return found
  }

  return {
    line: (kind) => void kinds.set(kind, (kinds.get(kind) ?? 0) + 1),
    file(bytes, lines, role) {
      count.files += 1
      count.bytes += bytes
      count.lines += lines
      if (role === 'subagent') count.subagents += 1
    },
    otherFile: () => void (count.otherFiles += 1),
    image: () => void (count.images += 1),
    usage(tokens) {
      sum.messages += 1
      sum.inputTokens += tokens.input
      sum.outputTokens += tokens.output
      sum.cacheCreationTokens += tokens.cacheCreation
      sum.cacheReadTokens += tokens.cacheRead
    },
    damage: (range) => void damage.push(range),
    needle: (needle) => void needles.push(needle),
    session: (written) => void sessions.push(written),
    facts: ({ biggest, compacted, ...about }) => ({
      ...about,
      ...count,
      lineKinds: Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      usage: { ...sum },
      damage,
      needles,
      sessions,
      biggest: session(biggest),
      compacted: session(compacted),
    }),
  }
}
