import { join } from 'node:path'
import { field, string } from '#base'
import { openSharedJournal, readJournal } from '#journal'
import type { Lineage, LineageLink } from '#wire'

/** A session that was made of another one. */
export interface Descent {
  readonly kind: LineageLink['kind']
  readonly at: string
  readonly from: { readonly sessionId: string; readonly agent: string }
  readonly to: { readonly sessionId: string; readonly agent: string }
}

/** Which sessions were made of which: `<home>/lineage.jsonl`. */
export interface LineageLog {
  /** Written down once: the same descent again adds nothing. */
  add(descent: Descent): Promise<void>
  read(sessionId: string): Promise<Lineage>
  /** Sessions that were made of others, by their id. */
  made(): Promise<ReadonlyMap<string, Descent>>
}

export function createLineageLog(home: string): LineageLog {
  const path = join(home, 'lineage.jsonl')

  async function readAll(): Promise<readonly Descent[]> {
    const all: Descent[] = []
    for await (const item of readJournal(path)) {
      const descent = item.kind === 'line' ? readDescent(item.value) : undefined
      if (descent !== undefined) all.push(descent)
    }
    return all
  }

  return {
    async add(descent) {
      const isKnown = (await readAll()).some(
        ({ from, to, kind }) =>
          from.sessionId === descent.from.sessionId &&
          to.sessionId === descent.to.sessionId &&
          kind === descent.kind,
      )
      if (isKnown) return
      const journal = await openSharedJournal(path)
      try {
        await journal.append(descent)
      } finally {
        await journal.close()
      }
    },
    async read(sessionId) {
      const all = await readAll()
      const origin = all.findLast(({ to }) => to.sessionId === sessionId)
      const to = all.filter(({ from }) => from.sessionId === sessionId).map((each) => link(each, each.to))
      return { to, ...(origin === undefined ? {} : { from: link(origin, origin.from) }) }
    },
    async made() {
      return new Map((await readAll()).map((descent) => [descent.to.sessionId, descent]))
    },
  }
}

function link({ kind, at }: Descent, { sessionId, agent }: Descent['from']): LineageLink {
  return { sessionId, agent, kind, at }
}

function readDescent(value: unknown): Descent | undefined {
  const kind = (['repaired', 'converted', 'handed-over'] as const).find(
    (known) => known === string(value, 'kind'),
  )
  const from = readEnd(value, 'from')
  const to = readEnd(value, 'to')
  if (kind === undefined || from === undefined || to === undefined) return undefined
  return { kind, at: string(value, 'at') ?? '', from, to }
}

function readEnd(value: unknown, key: 'from' | 'to'): Descent['from'] | undefined {
  const end = field(value, key)
  const sessionId = string(end, 'sessionId')
  const agent = string(end, 'agent')
  return sessionId === undefined || agent === undefined ? undefined : { sessionId, agent }
}
