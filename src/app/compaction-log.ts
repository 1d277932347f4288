import { join } from 'node:path'
import { isObject, list, number, object, string } from '#base'
import { openSharedJournal, readJournal } from '#journal'
import type { CompactionRecord, Trim } from '#model'
import type { CompactionState } from '#wire'

/** Every compaction of ours, and what was taken back. The files of agents know nothing of it. */
export interface CompactionLog {
  read(sessionId: string): Promise<CompactionState>
  /** It holds when this resolves. A crash before leaves the state of before. */
  add(record: CompactionRecord): Promise<void>
  undo(sessionId: string, id: string, at: string): Promise<void>
}

/** One file for each session, append-only: a line is a compaction, or takes one back. */
export function createCompactionLog(home: string): CompactionLog {
  const pathOf = (sessionId: string): string => join(home, 'compactions', `${sessionId}.jsonl`)

  async function append(sessionId: string, line: object): Promise<void> {
    const journal = await openSharedJournal(pathOf(sessionId))
    try {
      await journal.append(line)
    } finally {
      await journal.close()
    }
  }

  return {
    async read(sessionId) {
      const records = new Map<string, CompactionRecord & { readonly undoneAt?: string }>()
      for await (const item of readJournal(pathOf(sessionId))) {
        if (item.kind !== 'line') continue
        const record = readRecord(object(item.value, 'compacted'))
        if (record !== undefined) records.set(record.id, record)
        const undone = object(item.value, 'undone')
        const known = records.get(string(undone, 'id') ?? '')
        if (known !== undefined) records.set(known.id, { ...known, undoneAt: string(undone, 'at') ?? '' })
      }
      const all = [...records.values()]
      const active = all.findLast(({ undoneAt }) => undoneAt === undefined)
      return { records: all, ...(active === undefined ? {} : { active }) }
    },
    add: (record) => append(record.sessionId, { compacted: record }),
    undo: (sessionId, id, at) => append(sessionId, { undone: { id, at } }),
  }
}

function readRecord(value: unknown): CompactionRecord | undefined {
  const id = string(value, 'id')
  const sessionId = string(value, 'sessionId')
  const keptFrom = string(value, 'keptFrom')
  const by = (['trim', 'extract', 'agent'] as const).find((known) => known === string(value, 'by'))
  if (id === undefined || sessionId === undefined || keptFrom === undefined || by === undefined)
    return undefined
  return {
    id,
    sessionId,
    keptFrom,
    by,
    at: string(value, 'at') ?? '',
    upTo: string(value, 'upTo') ?? keptFrom,
    verbatimFrom: string(value, 'verbatimFrom') ?? keptFrom,
    turns: {
      summarised: number(object(value, 'turns'), 'summarised') ?? 0,
      kept: number(object(value, 'turns'), 'kept') ?? 0,
    },
    text: string(value, 'text') ?? '',
    trims: list(value, 'trims').flatMap(readTrim),
    tokens: {
      before: number(object(value, 'tokens'), 'before') ?? 0,
      after: number(object(value, 'tokens'), 'after') ?? 0,
    },
  }
}

function readTrim(value: unknown): readonly Trim[] {
  const origin = object(value, 'origin')
  const entryId = string(origin, 'entryId')
  const what = (['output', 'media', 'body'] as const).find((known) => known === string(value, 'what'))
  if (!isObject(value) || entryId === undefined || what === undefined) return []
  return [
    { origin: { entryId, index: number(origin, 'index') ?? 0 }, what, left: number(value, 'left') ?? 0 },
  ]
}
