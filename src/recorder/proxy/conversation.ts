import { number } from '#base'
import { toLogText } from '#redact'
import type { Recording } from '../recording.ts'
import type { Answer } from '../streams/answer.ts'
import type { ModelRequest } from '../streams/model-request.ts'
import type { RecordedTurn, TurnFacts } from '../turn.ts'
import type { ConversationFacts, ConversationView, RepeatedLine, Trouble } from './conversation-facts.ts'
import { createHistory, type History, type KnownLine, type Match } from './history.ts'
import { toUnits, type Unit } from './turn-units.ts'

/** A conversation that is being recorded. */
export interface Conversation {
  readonly history: History
  /** What the system said at its beginning. */
  readonly system: string | undefined
  usedAt: number
  /** Settles when what was recorded of it before is known. */
  ready(): Promise<void>
  sessionId(): Promise<string>
  /** Writes what a request says anew, and gives the line that it ends with. */
  take(match: Match, request: ModelRequest): KnownLine
  /** Writes the answer to a request that ends with this line. */
  answer(tip: KnownLine, answer: Answer): Promise<void>
  /** The line of an answer, by the id that the provider gave it. */
  findAnswer(id: string): KnownLine | undefined
  isIdle(): boolean
  /** How many turns could not be written and still are not. */
  missing(): number
  /** Nothing before there is anything to show. */
  view(): ConversationView | undefined
  end(): Promise<void>
}

export interface ConversationOptions {
  readonly open: (facts: ConversationFacts) => Promise<Recording>
  /** The lines of a recording that was there already. */
  readonly readLines?: ((recording: Recording) => Promise<readonly RepeatedLine[]>) | undefined
  /** Something could not be written. The client knows nothing of it; a person has to. */
  readonly onTrouble: (trouble: Trouble) => void
  /** A turn is on disk. */
  readonly onTurn?: ((view: ConversationView, role: 'user' | 'assistant') => void) | undefined
}

export function createConversation(options: ConversationOptions, facts: ConversationFacts): Conversation {
  const history = createHistory()
  const answers = new Map<string, KnownLine>()
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }
  const missing = new Set<KnownLine>()
  const writing = new Set<Promise<void>>()
  let opening: Promise<Recording> | undefined
  let recording: Recording | undefined
  let known: Promise<void> | undefined
  let system: string | undefined
  let turns = 0
  let lastTurnAt: string | undefined
  /** The line that was taken or answered last: what a list that begins anew comes after. */
  let latest: KnownLine | undefined

  function open(): Promise<Recording> {
    opening ??= options.open(facts).then(
      (opened) => (recording = opened),
      (error: unknown) => {
        // The next turn tries again: a folder may become writable.
        opening = undefined
        throw error
      },
    )
    return opening
  }

  async function readKnown(): Promise<void> {
    if (options.readLines === undefined) return
    const opened = await open()
    const lines = new Map<string, KnownLine>()
    for (const { uuid, parentUuid, role, content, messageId } of await options.readLines(opened)) {
      const parent = parentUuid === undefined ? undefined : lines.get(parentUuid)
      const keys = toUnits([{ role, content }]).map(({ key }) => key)
      // What the model was only reminded of belongs to the results that it stands behind.
      const isBehind = parent?.role === 'user' && toUnits([{ role, content }])[0]?.isSoft !== false
      const line =
        parent !== undefined && isBehind
          ? parent
          : history.add({ role, keys, parent: parent ?? history.start })
      Object.assign(line, { uuid, state: 'written', messageId })
      if (role === 'assistant' && parent !== undefined) parent.answers += 1
      if (messageId !== undefined) answers.set(messageId, line)
      lines.set(uuid, line)
      latest = line
    }
  }

  /** The nearest line before this one that is on disk. */
  async function parentOf(line: KnownLine): Promise<string | null> {
    for (let at = line.parent; at !== undefined && at !== history.start; at = at.parent) {
      await at.written
      if (at.uuid !== undefined) return at.uuid
    }
    return null
  }

  /** Writes lines of which each follows the one before; the first follows its parent, and comes after `before`. */
  function write(writes: readonly Write[], before?: KnownLine): void {
    const [first] = writes
    if (first === undefined) return
    const made = (async (): Promise<readonly Promise<RecordedTurn>[]> => {
      const parentUuid = await parentOf(first.line)
      const to = await open()
      await before?.written
      const logical = before?.uuid !== undefined ? { extra: { logicalParentUuid: before.uuid } } : {}
      // In one go: nothing else comes in between.
      return writes.map(({ make }, at) => make(to, at === 0 ? { parentUuid, ...logical } : {}))
    })()
    for (const [at, { line, usage }] of writes.entries()) {
      line.state = 'writing'
      const done = settle(line, made, { at, usage })
      line.written = done
      writing.add(done)
      void done.finally(() => writing.delete(done))
    }
  }

  async function settle(
    line: KnownLine,
    made: Promise<readonly Promise<RecordedTurn>[]>,
    { at, usage }: { readonly at: number; readonly usage: object | undefined },
  ): Promise<void> {
    try {
      const turn = await (await made)[at]
      count(usage)
      noteWritten(line, turn)
    } catch (error) {
      noteLost(line, error)
    }
  }

  function count(usage: object | undefined): void {
    tokens.input += number(usage, 'input_tokens') ?? 0
    tokens.output += number(usage, 'output_tokens') ?? 0
    tokens.cacheRead += number(usage, 'cache_read_input_tokens') ?? 0
    tokens.cacheCreation += number(usage, 'cache_creation_input_tokens') ?? 0
  }

  function noteWritten(line: KnownLine, turn: RecordedTurn | undefined): void {
    line.uuid = turn?.uuid
    line.state = 'written'
    missing.delete(line)
    turns += 1
    lastTurnAt = turn?.timestamp ?? lastTurnAt
    const shown = view()
    if (shown !== undefined && line.role !== undefined) options.onTurn?.(shown, line.role)
  }

  function noteLost(line: KnownLine, error: unknown): void {
    line.state = 'lost'
    missing.add(line)
    // It is shown, and kept in the status: what an error quotes must not be a key.
    const message = toLogText(error instanceof Error ? error.message : String(error))
    options.onTrouble({ message, agent: facts.agent, sessionId: recording?.sessionId, turns: missing.size })
  }

  /** A turn as a client repeats it. */
  function toWrite(line: KnownLine, units: readonly Unit[], request: ModelRequest): Write {
    const { provider } = facts
    const content = units.flatMap((unit) => unit.blocks)
    const id = request.turns[units[0]?.turn ?? -1]?.id
    const { model } = request
    if (line.role === 'assistant')
      return { line, make: (to, about) => to.assistant({ id, model, content }, { provider, ...about }) }
    return { line, make: (to, about) => to.user(content, { provider, ...about }) }
  }

  function view(): ConversationView | undefined {
    const { agent, clientSessionId, subagentOf } = facts
    if (recording === undefined) return undefined
    const { sessionId, folder, path } = recording
    const shared = { agent, clientSessionId, subagentOf: subagentOf?.sessionId }
    return {
      sessionId,
      folder,
      path,
      ...shared,
      turns,
      lost: missing.size,
      lastTurnAt,
      tokens: { ...tokens },
    }
  }

  return {
    history,
    get system() {
      return system
    },
    usedAt: 0,
    ready: () => (known ??= readKnown().catch(() => {})),
    sessionId: async () => (await open()).sessionId,
    take(match, request) {
      system ??= request.system
      for (const { line, units } of match.lost) write([toWrite(line, units, request)])
      let line = match.line
      const writes: Write[] = []
      for (const units of byTurn(match.rest)) {
        const role = units[0]?.role ?? 'user'
        line = history.add({ role, keys: units.map(({ key }) => key), parent: line })
        writes.push(toWrite(line, units, request))
      }
      write(writes, match.line === history.start ? latest : undefined)
      latest = line
      return line
    },
    async answer(tip, answer) {
      const { message, outcome, failure, provider, requestId } = answer
      const content =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
      if (outcome === 'whole') tip.answers += 1
      if (content.length === 0 && outcome !== 'whole') return
      const keys = toUnits([{ role: 'assistant', content }]).map(({ key }) => key)
      // The client may have repeated it already, or the same answer may come to two ears.
      const same = history
        .find(tip, keys)
        .find((line) => line.messageId === undefined || line.messageId === message.id)
      if (same !== undefined && same.state !== 'lost') return await same.written
      const line = same ?? history.add({ role: 'assistant', keys, parent: tip })
      line.messageId = message.id
      for (const id of [message.id, requestId]) if (id !== undefined) answers.set(id, line)
      const extra = outcome === 'whole' ? {} : { outcome, ...(failure === undefined ? {} : { failure }) }
      write([
        {
          line,
          usage: message.usage,
          make: (to, about) =>
            to.assistant(message, { provider, requestId, ...about, extra: { ...about.extra, ...extra } }),
        },
      ])
      latest = line
      await line.written
    },
    findAnswer: (id) => answers.get(id),
    isIdle: () => writing.size === 0,
    missing: () => missing.size,
    view,
    async end() {
      while (writing.size > 0) await Promise.all(writing)
      const opened = await opening?.catch(() => undefined)
      await opened?.end()
    },
  }
}

/** A line, and how it is written. */
interface Write {
  readonly line: KnownLine
  readonly usage?: object | undefined
  readonly make: (to: Recording, about: TurnFacts) => Promise<RecordedTurn>
}

/** Units of one turn make one line. */
function byTurn(units: readonly Unit[]): readonly (readonly Unit[])[] {
  const groups: Unit[][] = []
  for (const unit of units) {
    const last = groups.at(-1)
    if (last?.[0]?.turn === unit.turn) last.push(unit)
    else groups.push([unit])
  }
  return groups
}
