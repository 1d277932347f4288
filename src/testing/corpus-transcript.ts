import type { CorpusDamage, NeedlePlace, Tally, Tokens } from './corpus-facts.ts'
import type { CorpusFile } from './corpus-file.ts'
import type { Random } from './corpus-random.ts'
import type { Texts } from './corpus-text.ts'

export type Fields = { readonly [key: string]: unknown }

/** Since 2.1.198 or so a transcript carries system prompt, tool schemas and request blobs; before, it did not. */
export type Era = 'lean' | 'full'

export interface Workplace {
  readonly cwd: string
  readonly branch: string
  readonly worktree: boolean
}

/** A line on the way from the last compaction to the newest line. */
export interface PathStep {
  readonly uuid: string
  readonly role: 'message' | 'hidden'
  readonly tool?: 'use' | 'result' | 'parallel'
  /** Another line of the same API message comes before this one. */
  readonly continues?: boolean
}

export interface TranscriptOptions {
  readonly file: CorpusFile
  readonly path: string
  readonly random: Random
  readonly texts: Texts
  readonly tally: Tally
  readonly sessionId: string
  readonly agentId?: string
  readonly era: Era
  readonly entrypoint: 'cli' | 'sdk-cli' | 'sdk-ts'
  readonly model: string
  readonly place: Workplace
  readonly startedAt: number
  /** Base64 characters of an ordinary image. */
  readonly imageChars: number
}

export interface KeptLine {
  readonly kind: string
  readonly uuid: string
  readonly fields: Fields
}

export interface ChainLine {
  /** Fields between `isSidechain` and `uuid`. */
  readonly head: Fields
  /** Fields after `timestamp`. */
  readonly tail?: Fields
  /** Left out: the newest line. */
  readonly parent?: string | null
  /** Left out: hidden, on the path. `beside`: a message next to the path, see `Transcript.beside`. */
  readonly step?: Omit<PathStep, 'uuid'> | 'beside'
}

/** One transcript being written: who writes where and when, the newest line, and the active path. */
export class Transcript {
  readonly o: TranscriptOptions
  readonly random: Random
  readonly texts: Texts
  place: Workplace
  slug: string | undefined
  promptId = ''
  turn = 0
  tip: string | null = null
  path: PathStep[] = []
  /** Messages that hang beside the path (all but the last of parallel tool results) and are seen all the same. */
  beside: { readonly uuid: string; readonly after: number }[] = []
  /** Lengths of the path where turns ended: the places a rewind goes back to. */
  turnEnds: number[] = []
  compactions = 0
  rewinds = 0
  lastPrompt = ''
  toolsUsed: Set<string> = new Set()
  spent: Tokens = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }
  contextTokens = 9_000
  /** Chain lines, kept only for a session that will be forked. */
  kept: KeptLine[] | undefined
  #clock: number
  #next: string | undefined

  constructor(options: TranscriptOptions) {
    this.o = options
    this.random = options.random
    this.texts = options.texts
    this.place = options.place
    this.#clock = options.startedAt
  }

  get bytes(): number {
    return this.o.file.bytes
  }

  get version(): string {
    return this.o.era === 'full' ? '2.1.325' : '2.1.197'
  }

  get now(): number {
    return this.#clock
  }

  /** Messages the model sees: on the path since the last compaction, and beside it. */
  get visible(): number {
    return this.path.filter((step) => step.role === 'message').length + this.beside.length
  }

  pass(ms: number): void {
    this.#clock += ms
  }

  timestamp(): string {
    // Lines of one batch are not written in the order they happened: now and then one is a little older.
    const late = this.random.chance(0.02) ? this.random.int(1, 700) : 0
    return new Date(this.#clock - late).toISOString()
  }

  /** The uuid the next chain line will have. A `last-prompt` may name a line that is not written yet. */
  coming(): string {
    this.#next ??= this.random.uuid()
    return this.#next
  }

  /** Gives the next chain line a uuid that was already told. */
  name(uuid: string): void {
    this.#next = uuid
  }

  chain(kind: string, line: ChainLine): string {
    const uuid = this.coming()
    this.#next = undefined
    this.#clock += this.random.int(1, 900)
    const { agentId, sessionId, entrypoint } = this.o
    const fields: Fields = {
      parentUuid: line.parent === undefined ? this.tip : line.parent,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      ...line.head,
      uuid,
      timestamp: this.timestamp(),
      ...line.tail,
      userType: 'external',
      entrypoint,
      cwd: this.place.cwd,
      sessionId,
      version: this.version,
      gitBranch: this.place.branch,
      ...(this.slug === undefined ? {} : { slug: this.slug }),
    }
    this.#write(kind, fields)
    this.kept?.push({ kind, uuid, fields })
    this.tip = uuid
    if (line.step === 'beside') this.beside.push({ uuid, after: this.path.length })
    else this.path.push({ uuid, role: 'hidden', ...line.step })
    return uuid
  }

  side(kind: string, fields: Fields): void {
    this.#write(kind, fields)
  }

  /** Goes back to the end of the turn before last, or further: what came after stays in the file, on a dead branch. */
  rewind(): void {
    const end =
      this.turnEnds[this.random.int(Math.max(0, this.turnEnds.length - 4), this.turnEnds.length - 2)]
    const last = end === undefined ? undefined : this.path[end - 1]
    if (end === undefined || last === undefined) return
    this.tip = last.uuid
    this.path.length = end
    this.beside = this.beside.filter((message) => message.after <= end)
    this.turnEnds = this.turnEnds.filter((length) => length <= end)
    this.rewinds += 1
  }

  needle(where: NeedlePlace): string {
    const text = `needle${where.replaceAll('-', '')}${this.random.hex(12)}`
    this.o.tally.needle({ text, where, sessionId: this.o.sessionId, path: this.o.path })
    return text
  }

  damage(kind: CorpusDamage['kind'], offset: number, length: number): void {
    this.o.tally.damage({ path: this.o.path, kind, offset, length })
  }

  spend(tokens: Tokens): void {
    this.o.tally.usage(tokens)
    this.count(tokens)
  }

  /** Adds to this session's own total only: `cost-state` includes what subagents spent. */
  count(tokens: Tokens): void {
    this.spent = {
      input: this.spent.input + tokens.input,
      output: this.spent.output + tokens.output,
      cacheCreation: this.spent.cacheCreation + tokens.cacheCreation,
      cacheRead: this.spent.cacheRead + tokens.cacheRead,
    }
  }

  #write(kind: string, fields: Fields): void {
    this.o.tally.line(kind)
    this.o.file.line(JSON.stringify(fields))
  }
}
