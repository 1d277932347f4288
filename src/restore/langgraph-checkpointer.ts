import { isObject, object, string, ThroughlineError, type JsonObject } from '#base'
import { openJournal, readJournal } from '#journal'
import {
  createCheckpoints,
  type Checkpoints,
  type SavedCheckpoint,
  type SavedWrite,
} from './langgraph-checkpoints.ts'

/** What a graph hands over to say which checkpoint it means. */
interface CheckpointConfig {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
}

/** How LangGraph writes values down. Every saver has one. */
interface CheckpointSerde {
  dumpsTyped(data: unknown): Promise<[string, Uint8Array]>
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>
}

export interface SaverBase {
  readonly serde: CheckpointSerde
  getNextVersion(current: undefined): number | string
}

interface CheckpointTupleGiven {
  readonly config: { readonly configurable: Readonly<Record<string, string>> }
  readonly checkpoint: unknown
  readonly metadata: unknown
  readonly parentConfig?: { readonly configurable: Readonly<Record<string, string>> }
  readonly pendingWrites: readonly (readonly [string, string, unknown])[]
}

interface CheckpointListing {
  readonly limit?: number | undefined
  readonly before?: CheckpointConfig | undefined
  readonly filter?: Readonly<Record<string, unknown>> | undefined
}

/** What a saver of LangGraph does, on a journal of ours. */
export interface JournalCheckpointer {
  getTuple(config: CheckpointConfig): Promise<CheckpointTupleGiven | undefined>
  list(config: CheckpointConfig, options?: CheckpointListing): AsyncGenerator<CheckpointTupleGiven>
  /** With what changed: the version of each channel that has another value than in the checkpoint before. */
  put(
    config: CheckpointConfig,
    checkpoint: { readonly id: string },
    metadata: object,
    newVersions?: Readonly<Record<string, unknown>>,
  ): Promise<object>
  putWrites(
    config: CheckpointConfig,
    writes: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Promise<void>
  deleteThread(threadId: string): Promise<void>
  /** Lets the journal go. */
  close(): Promise<void>
}

/**
 * A checkpointer for LangGraph on one of our journals: a checkpoint is on disk when `put` resolves, and a process that
 * dies loses nothing that was acknowledged. Given LangGraph's own `BaseCheckpointSaver`, it is one. Lines are only ever
 * added: a deleted thread is gone for whoever asks, and its bytes stay in the journal.
 */
export async function openCheckpointer<Saver extends SaverBase>(
  Base: abstract new () => Saver,
  { path }: { readonly path: string },
): Promise<Saver & JournalCheckpointer> {
  const journal = await openJournal(path)
  const checkpoints = createCheckpoints()
  for await (const item of readJournal(path)) if (item.kind === 'line') checkpoints.take(item.value)
  const saver: Saver = Reflect.construct(Base, [])
  const record = async (line: object): Promise<void> => {
    await journal.append(line)
    checkpoints.take(line)
  }
  return Object.assign(saver, {
    ...toReading(saver, checkpoints),
    ...toWriting(saver, record),
    close: () => journal.close(),
  })
}

function toReading(
  saver: SaverBase,
  checkpoints: Checkpoints,
): Pick<JournalCheckpointer, 'getTuple' | 'list'> {
  async function toTuple(saved: SavedCheckpoint): Promise<CheckpointTupleGiven> {
    const { thread, ns, id, parent } = saved
    const checkpoint = await load(saver.serde, saved.checkpoint)
    if (isObject(checkpoint)) await addValues(checkpoint, saved)
    if (parent !== undefined && isObject(checkpoint) && Number(checkpoint['v']) < 4)
      await addPendingSends(checkpoint, checkpoints.writesOf(thread, ns, parent))
    const pendingWrites = await Promise.all(
      checkpoints
        .writesOf(thread, ns, id)
        .map(async ({ task, channel, value }) => [task, channel, await load(saver.serde, value)] as const),
    )
    return {
      config: toConfig(thread, ns, id),
      checkpoint,
      metadata: await load(saver.serde, saved.metadata),
      ...(parent === undefined ? {} : { parentConfig: toConfig(thread, ns, parent) }),
      pendingWrites,
    }
  }

  /** A checkpoint is written with what changed since the one before; the rest stands with the version that it names. */
  async function addValues(checkpoint: JsonObject, { thread, ns }: SavedCheckpoint): Promise<void> {
    const values: (readonly [string, unknown])[] = []
    for (const [channel, version] of Object.entries(object(checkpoint, 'channel_versions') ?? {})) {
      const value = checkpoints.findValue({ thread, ns, channel, version })
      if (value !== undefined) values.push([channel, await load(saver.serde, value)])
    }
    Object.assign(checkpoint, { channel_values: Object.fromEntries(values) })
  }

  /** Before the fourth version of the format, tasks that were sent stood among the writes of the checkpoint before. */
  async function addPendingSends(checkpoint: JsonObject, writes: readonly SavedWrite[]): Promise<void> {
    const sends = await Promise.all(
      writes.filter(({ channel }) => channel === TASKS).map(({ value }) => load(saver.serde, value)),
    )
    const versions = Object.values(object(checkpoint, 'channel_versions') ?? {})
    const latest = versions.length === 0 ? saver.getNextVersion(undefined) : toLatest(versions)
    Object.assign(checkpoint, {
      channel_values: { ...object(checkpoint, 'channel_values'), [TASKS]: sends },
      channel_versions: { ...object(checkpoint, 'channel_versions'), [TASKS]: latest },
    })
  }

  return {
    async getTuple(config) {
      const { thread, ns = '', id } = read(config)
      if (thread === undefined) return undefined
      const saved = id === undefined ? checkpoints.all(thread, ns)[0] : checkpoints.find(thread, ns, id)
      return saved === undefined ? undefined : await toTuple(saved)
    },
    async *list(config, { limit = Number.POSITIVE_INFINITY, before, filter = {} } = {}) {
      const { thread, ns, id } = read(config)
      const earlier = before === undefined ? undefined : read(before).id
      let given = 0
      for (const saved of checkpoints.all(thread, ns)) {
        if (given >= limit) return
        if ((id !== undefined && saved.id !== id) || (earlier !== undefined && saved.id >= earlier)) continue
        const metadata = await load(saver.serde, saved.metadata)
        if (!Object.entries(filter).every(([key, value]) => isObject(metadata) && metadata[key] === value))
          continue
        given += 1
        yield await toTuple(saved)
      }
    },
  }
}

function toWriting(
  { serde }: SaverBase,
  record: (line: object) => Promise<void>,
): Pick<JournalCheckpointer, 'put' | 'putWrites' | 'deleteThread'> {
  return {
    async put(config, checkpoint, metadata, newVersions) {
      const { thread, ns = '', id: parent } = read(config)
      if (thread === undefined) throw missing('thread_id')
      const channels = object(checkpoint, 'channel_values') ?? {}
      const changed = Object.entries(newVersions ?? object(checkpoint, 'channel_versions') ?? {})
      const values = await Promise.all(
        changed
          .filter(([channel]) => channels[channel] !== undefined)
          .map(async ([channel, version]) => ({
            channel,
            version,
            value: await dump(serde, channels[channel]),
          })),
      )
      await record({
        kind: 'checkpoint',
        thread,
        ns,
        id: checkpoint.id,
        ...(parent === undefined ? {} : { parent }),
        checkpoint: await dump(serde, { ...checkpoint, channel_values: {} }),
        metadata: await dump(serde, metadata),
        values,
      })
      return toConfig(thread, ns, checkpoint.id)
    },
    async putWrites(config, writes, task) {
      const { thread, ns = '', id } = read(config)
      if (thread === undefined) throw missing('thread_id')
      if (id === undefined) throw missing('checkpoint_id')
      const values = await Promise.all(
        writes.map(async ([channel, value], index) => ({
          index: SPECIAL_WRITES.get(channel) ?? index,
          channel,
          value: await dump(serde, value),
        })),
      )
      await record({ kind: 'writes', thread, ns, id, task, writes: values })
    },
    async deleteThread(thread) {
      await record({ kind: 'deleted', thread })
    },
  }
}

const TASKS = '__pregel_tasks'

/** Writes of which a task has one at most: they do not count among its others, and a later one takes its place. */
const SPECIAL_WRITES: ReadonlyMap<string, number> = new Map([
  ['__error__', -1],
  ['__scheduled__', -2],
  ['__interrupt__', -3],
  ['__resume__', -4],
])

function read({ configurable }: CheckpointConfig): {
  readonly thread: string | undefined
  readonly ns: string | undefined
  readonly id: string | undefined
} {
  const id = string(configurable, 'checkpoint_id') ?? string(configurable, 'thread_ts')
  return {
    thread: string(configurable, 'thread_id'),
    ns: string(configurable, 'checkpoint_ns'),
    id: id === '' ? undefined : id,
  }
}

function toConfig(thread: string, ns: string, id: string): CheckpointTupleGiven['config'] {
  return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } }
}

function missing(key: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `the config has no ${key} among its configurable fields`, {
    hint: `Pass { configurable: { ${key}: '…' } }.`,
  })
}

/** A value as LangGraph serialised it: its type, and text where it is text. */
async function dump(serde: CheckpointSerde, value: unknown): Promise<readonly [string, string]> {
  const [type, bytes] = await serde.dumpsTyped(value)
  return [type, type === 'json' ? new TextDecoder().decode(bytes) : Buffer.from(bytes).toString('base64')]
}

async function load(serde: CheckpointSerde, [type, data]: readonly [string, string]): Promise<unknown> {
  return await serde.loadsTyped(type, type === 'json' ? data : Buffer.from(data, 'base64'))
}

function toLatest(versions: readonly unknown[]): unknown {
  return versions.reduce((latest, version) => {
    if (typeof latest === 'number' && typeof version === 'number') return Math.max(latest, version)
    return String(latest) > String(version) ? latest : version
  })
}
