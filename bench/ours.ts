import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openThroughline } from '#app'
import { NO_USAGE, type Entry } from '#model'
import {
  claudeFormat,
  createClaudeSource,
  openTranscript,
  readConversation,
  readForward,
  readPageAfter,
  readPageBefore,
  type TranscriptFile,
} from '#sources'
import { Pending } from './pending.ts'

/** Every call the benchmark makes to Throughline in its own process. A body that throws `Pending` shows as `n/a` in the table. */

interface Listed {
  readonly sessions: number
}

interface Page {
  readonly entries: number
  /** Bytes read from the file to make the page. */
  readonly bytesRead: number
}

interface Read {
  readonly entries: number
  readonly bytes: number
}

/** Sums over the whole config dir: every API message once, the last line of it counting. */
interface Spent {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheCreationTokens: number
  readonly cacheReadTokens: number
}

/** All sessions with title, first prompt, cwd, branch and times, nothing cached. */
export async function listAll(configDir: string): Promise<Listed> {
  const { sessions } = await createClaudeSource(configDir).list()
  return { sessions: sessions.length }
}

export async function lastPage(path: string, limit: number): Promise<Page> {
  return await paged(path, (file) => readPageBefore(file, claudeFormat, { limit }))
}

export async function firstPage(path: string, limit: number): Promise<Page> {
  return await paged(path, (file) => readPageAfter(file, claudeFormat, { limit }))
}

/** What the model would see: uuids of the conversation after the last compaction, in order, as the SDK gives them. */
export async function modelView(path: string): Promise<readonly string[]> {
  const file = openTranscript(path)
  try {
    const { entries } = await readConversation(file, claudeFormat)
    return toUuids(entries)
  } finally {
    file.close()
  }
}

/** The uuids that the SDK gives for what the model sees. */
export function toUuids(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.kind === 'prompt') return [entry.sentAs ?? entry.id]
    const said = entry.type === 'user' || entry.type === 'assistant'
    return said && entry.kind !== 'injection' ? [entry.id] : []
  })
}

/** Every entry of a transcript with all its blocks, one after the other, none kept. */
export async function fullRead(path: string): Promise<Read> {
  const file = openTranscript(path)
  try {
    let entries = 0
    for await (const { readings } of readForward(file, claudeFormat)) {
      for (const reading of readings) if (reading.kind === 'entry') entries++
    }
    return { entries, bytes: file.size }
  } finally {
    file.close()
  }
}

export async function usageTotal(configDir: string): Promise<Spent> {
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir } })
  const { usage = NO_USAGE } = await throughline.list({ full: true })
  return toSpent(usage)
}

/** Tokens by model as `throughline usage` adds them up where there is no index. */
export async function usageReport(configDir: string, home: string): Promise<Spent> {
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir, THROUGHLINE_HOME: home } })
  const { total } = await throughline.usage({ by: 'model' }).catch(notBuilt)
  return toSpent(total.usage)
}

interface Scanned {
  readonly hits: readonly string[]
  readonly exact: boolean
  /** The longest time nothing else could be done meanwhile. */
  readonly heldMs: number
}

/** A search where there is no index: every transcript is read. Hits are told by their session. */
export async function scan(configDir: string, home: string, q: string): Promise<Scanned> {
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir, THROUGHLINE_HOME: home } })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { hits, total } = await throughline.search({ q, limit: 20 }).catch(notBuilt)
  // The last hold is noted by the turn that comes after it.
  await new Promise((resolve) => {
    setTimeout(resolve, 5)
  })
  delay.disable()
  return { hits: hits.map((hit) => hit.session.id), exact: total.exact, heldMs: delay.max / 1e6 }
}

function notBuilt(error: unknown): never {
  if (error instanceof Error && error.message.startsWith('not built yet')) throw new Pending(error.message)
  throw error
}

function toSpent(usage: typeof NO_USAGE): Spent {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheCreationTokens: usage.cacheCreation,
    cacheReadTokens: usage.cacheRead,
  }
}

async function paged(
  path: string,
  read: (file: TranscriptFile) => Promise<{ readonly readings: readonly unknown[] }>,
): Promise<Page> {
  const meter = { bytesRead: 0 }
  const file = openTranscript(path, meter)
  try {
    const { readings } = await read(file)
    return { entries: readings.length, bytesRead: meter.bytesRead }
  } finally {
    file.close()
  }
}
