import { join } from 'node:path'
import { field, isObject, list, string, ThroughlineError } from '#base'
import { openSharedJournal, readJournal, readJournalMark, type JournalItem } from '#journal'
import { readWakeUpReceipt } from '#model'
import type { CarriedIn, KeptWakeUp, WakeElsewhereRequest } from '#wire'
import { isSessionId } from '#wire'

/** A wake-up as it is written down: with why it was sent. */
export interface LoggedWakeUp extends KeptWakeUp {
  readonly reason: WakeElsewhereRequest['reason']
}

/** Every wake-up that was sent. */
export interface WakeUpLog {
  /** Writes it down. It is on disk, with the exact text and the receipt, when this resolves. */
  write(wakeUp: LoggedWakeUp): Promise<void>
  /** Those of a session, oldest first. */
  read(sessionId: string): Promise<readonly LoggedWakeUp[]>
  /** Those that carried a document, newest first. */
  carrying(documentId: string): Promise<readonly CarriedIn[]>
  /** How many carried each document. */
  carriedCounts(): Promise<ReadonlyMap<string, number>>
  lastAt(): Promise<string | undefined>
}

/**
 * The log in `<home>/wake-ups`: a file for each session with all that it was told, and one with a short line for each
 * wake-up of any session, so that who carried what is known without reading them all. The whole one is written first.
 */
export function createWakeUpLog(home: string): WakeUpLog {
  const folder = join(home, 'wake-ups')
  const shortPath = join(home, 'wake-ups.jsonl')
  let carried = new Map<string, CarriedIn[]>()
  let last: string | undefined
  let seen = 'none'
  let queue: Promise<unknown> = Promise.resolve()

  function take(value: unknown): void {
    const sessionId = string(value, 'sessionId')
    const at = string(value, 'at')
    if (sessionId === undefined || at === undefined) return
    if (last === undefined || at > last) last = at
    for (const document of list(value, 'documents')) {
      const id = string(document, 'id')
      if (id === undefined) continue
      const form = string(document, 'form') === 'short' ? 'short' : 'full'
      const known = carried.get(id)
      if (known === undefined) carried.set(id, [{ sessionId, at, form }])
      else known.push({ sessionId, at, form })
    }
  }

  /** One more line costs a line to whoever wrote it, and all of them to others. */
  async function refresh(): Promise<void> {
    const mark = await readJournalMark(shortPath)
    if (mark === seen) return
    carried = new Map()
    last = undefined
    for await (const item of readItems(shortPath)) if (item.kind === 'line') take(item.value)
    seen = mark
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work)
    queue = turn.catch(() => {})
    return await turn
  }

  async function writeShort({ sessionId, at, way, receipt }: LoggedWakeUp): Promise<void> {
    const journal = await openSharedJournal(shortPath)
    try {
      await refresh()
      const documents = receipt.documents.map(({ id, form }) => ({ id, form }))
      const line = { sessionId, at, way, documents }
      seen = ''
      await journal.append(line)
      take(line)
      seen = await readJournalMark(shortPath)
    } finally {
      await journal.close()
    }
  }

  return {
    write: async (wakeUp) =>
      await inTurn(async () => {
        const whole = await openSharedJournal(toPath(folder, wakeUp.sessionId))
        try {
          await whole.append({ kind: 'wake-up.sent', ...wakeUp })
        } finally {
          await whole.close()
        }
        await writeShort(wakeUp)
      }),
    async read(sessionId) {
      const found: LoggedWakeUp[] = []
      for await (const item of readItems(toPath(folder, sessionId))) {
        const wakeUp = item.kind === 'line' ? readLogged(item.value) : undefined
        if (wakeUp !== undefined) found.push(wakeUp)
      }
      return found
    },
    carrying: async (documentId) =>
      await inTurn(async () => {
        await refresh()
        return (carried.get(documentId) ?? []).toReversed()
      }),
    carriedCounts: async () =>
      await inTurn(async () => {
        await refresh()
        return new Map([...carried].map(([id, all]) => [id, all.length]))
      }),
    lastAt: async () =>
      await inTurn(async () => {
        await refresh()
        return last
      }),
  }
}

async function* readItems(path: string): AsyncGenerator<JournalItem> {
  try {
    yield* readJournal(path)
  } catch (cause) {
    throw new ThroughlineError('internal', `cannot read ${path}`, {
      hint: 'Check that it is a file and that you may read it.',
      cause,
    })
  }
}

/** The id becomes the name of a file. */
function toPath(folder: string, sessionId: string): string {
  if (isSessionId(sessionId)) return join(folder, `${sessionId}.jsonl`)
  throw new ThroughlineError('request-invalid', 'this is no id of a session', {
    hint: 'Letters, digits, - and _, at most 128.',
  })
}

function readLogged(value: unknown): LoggedWakeUp | undefined {
  const [sessionId, at, text] = ['sessionId', 'at', 'text'].map((key) => string(value, key))
  const receipt = readWakeUpReceipt(field(value, 'receipt'))
  if (!isObject(value) || sessionId === undefined || at === undefined || text === undefined) return undefined
  if (receipt === undefined) return undefined
  const way = WAYS.find((one) => one === value['way']) ?? 'prompt'
  const reason = REASONS.find((one) => one === value['reason']) ?? 'startup'
  return { sessionId, at, text, receipt, way, reason }
}

const WAYS = ['prompt', 'hook', 'mcp'] as const
const REASONS = ['startup', 'resume', 'clear', 'compact'] as const
