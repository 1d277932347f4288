import { join } from 'node:path'
import { isObject, string, type JsonObject } from '#base'
import { openJournal, readJournal, type Journal } from '#journal'
import { openRecording } from '../open-recording.ts'
import { readRecordedLines } from '../recorded-lines.ts'
import type { Recording, RecordingOptions } from '../recording.ts'
import { fromAgentsItem } from './agents-items.ts'

/** What the Agents SDK of OpenAI calls a `Session`: give it to `run(agent, input, { session })`. */
export interface AgentsSession<Item extends object = JsonObject> {
  getSessionId(): Promise<string>
  /** The items that are in the session, exactly as they were added; with a limit, the latest. */
  getItems(limit?: number): Promise<Item[]>
  /** Resolves when they are on disk. */
  addItems(items: Item[]): Promise<void>
  /** Takes the latest item out of the session. It stays in the recording, beside the conversation. */
  popItem(): Promise<Item | undefined>
  /** Takes all items out of the session. They stay in the recording. */
  clearSession(): Promise<void>
  /** Writes `context.md`, and lets the files go. */
  end(): Promise<void>
}

/** Beside the lines: what was taken out of the session, one fact per line. */
const TAKEN_FILE = 'session.jsonl'

interface Held {
  readonly uuid: string
  readonly item: JsonObject
  /** The line it follows: what comes after it was taken out follows that one, too. */
  readonly parentUuid: string | null
}

/**
 * A session of OpenAI's Agents SDK that is a recording. Nothing is ever removed from it: what is taken out is noted,
 * and what follows hangs from what was before. With a `sessionId` it goes on where that session was.
 */
export async function createAgentsSession<Item extends object = JsonObject>(
  options: RecordingOptions,
): Promise<AgentsSession<Item>> {
  const recording = await openRecording({ provider: 'openai', ...options })
  const held = await readHeld(recording)
  const last = (): string | null => held.at(-1)?.uuid ?? null
  let facts: Promise<Journal> | undefined
  let queue: Promise<unknown> = Promise.resolve()

  /** Only sessions that something was taken out of have such a file. */
  async function note(fact: JsonObject): Promise<void> {
    const journal = await (facts ??= openJournal(join(recording.folder, TAKEN_FILE)))
    await journal.append(fact)
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work)
    queue = done.catch(() => {})
    return done
  }

  async function add(item: JsonObject): Promise<void> {
    const turn = fromAgentsItem(item)
    const parentUuid = last()
    const told = { provider: 'openai', parentUuid, extra: { agentsItem: item } } as const
    const { uuid } =
      turn.kind === 'assistant'
        ? await recording.assistant(turn.message, told)
        : turn.kind === 'result'
          ? await recording.toolResult(turn.result, told)
          : await recording.user(turn.content, told)
    held.push({ uuid, item, parentUuid })
  }

  return {
    getSessionId: async () => recording.sessionId,
    getItems: (limit) =>
      inTurn(async () => {
        const items = held.map(({ item }) => structuredClone(item))
        return limit === undefined ? asItems(items) : asItems(limit <= 0 ? [] : items.slice(-limit))
      }),
    addItems: (items) =>
      inTurn(async () => {
        for (const item of items) {
          // As it is now, and as it will be read again.
          const copy: unknown = JSON.parse(JSON.stringify(item))
          if (isObject(copy)) await add(copy)
        }
      }),
    popItem: () =>
      inTurn(async () => {
        const popped = held.at(-1)
        if (popped === undefined) return undefined
        await note({ kind: 'popped', uuid: popped.uuid })
        held.pop()
        return asItems<Item>([popped.item])[0]
      }),
    clearSession: () =>
      inTurn(async () => {
        const uuid = last()
        if (uuid === null) return
        await note({ kind: 'cleared', uuid })
        held.length = 0
      }),
    async end() {
      await queue
      await facts?.then((journal) => journal.close())
      await recording.end()
    },
  }
}

/** What comes out is what went in: items are whatever the SDK of the caller says they are. */
function asItems<Item extends object>(items: JsonObject[]): Item[]
function asItems(items: JsonObject[]): JsonObject[] {
  return items
}

/** What is in the session: every line that was an item, without what was taken out afterwards. */
async function readHeld(recording: Recording): Promise<Held[]> {
  const popped = new Set<string>()
  const cleared = new Set<string>()
  for await (const fact of readJournal(join(recording.folder, TAKEN_FILE))) {
    const uuid = fact.kind === 'line' ? string(fact.value, 'uuid') : undefined
    if (fact.kind !== 'line' || uuid === undefined) continue
    if (string(fact.value, 'kind') === 'cleared') cleared.add(uuid)
    else popped.add(uuid)
  }
  const held: Held[] = []
  for await (const { line } of readRecordedLines(recording.path)) {
    const item = line['agentsItem']
    const uuid = string(line, 'uuid')
    if (!isObject(item) || uuid === undefined) continue
    if (!popped.has(uuid)) held.push({ uuid, item, parentUuid: string(line, 'parentUuid') ?? null })
    if (cleared.has(uuid)) held.length = 0
  }
  return held
}
