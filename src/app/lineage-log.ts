import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { field, parseJson, string } from '#base'
import { openSharedJournal } from '#journal'
import type { CopiedFrom } from '#model'
import type { Lineage, LineageLink } from '#wire'

interface DescentEnd {
  readonly sessionId: string
  readonly agent: string
  /** The machine that it is on, when that is another one. */
  readonly origin?: LineageLink['origin']
}

/** A session that was made of another one. */
interface Descent {
  readonly kind: LineageLink['kind']
  readonly at: string
  readonly from: DescentEnd
  readonly to: DescentEnd
  /** When the last thing was said that was copied. */
  readonly until?: string | undefined
}

/** Which sessions were made of which: `<home>/lineage.jsonl`. */
export interface LineageLog {
  /** Such a session is about to be written: whoever sees it before it is in the log knows what it is. */
  expect(descent: Descent): void
  /** Written down once: the same descent again adds nothing. */
  add(descent: Descent): Promise<void>
  read(sessionId: string): Promise<Lineage>
  /** What a session was made of, as of the last look. */
  copyOf(sessionId: string): CopiedFrom | undefined
  /** Looks whether others have added something, and says of which sessions. */
  look(): readonly string[]
}

export const LINEAGE_FILE = 'lineage.jsonl'

export function createLineageLog(home: string): LineageLog {
  const path = join(home, LINEAGE_FILE)
  const made = new Map<string, Descent>()
  let all: readonly Descent[] = []
  let seen: string | undefined
  let told = 0

  /** What somebody says that it became on another machine says nothing of a session here. */
  function note(descent: Descent): void {
    if (descent.to.origin === undefined) made.set(descent.to.sessionId, descent)
  }

  function readAll(): readonly Descent[] {
    const stamp = stampOf(path)
    if (stamp === seen) return all
    // Before it is read: what is added meanwhile changes it.
    seen = stamp
    all = stamp === undefined ? [] : readLines(path)
    for (const descent of all) note(descent)
    return all
  }

  return {
    expect: note,
    async add(descent) {
      const isKnown = readAll().some(
        ({ from, to, kind, until }) =>
          from.sessionId === descent.from.sessionId &&
          to.sessionId === descent.to.sessionId &&
          kind === descent.kind &&
          until === descent.until,
      )
      if (isKnown) return
      const journal = await openSharedJournal(path)
      try {
        await journal.append(descent)
      } finally {
        await journal.close()
      }
      note(descent)
    },
    async read(sessionId) {
      const descents = [...new Map(readAll().map((each) => [keyOf(each), each])).values()]
      const origin = descents.findLast(({ to }) => to.sessionId === sessionId && to.origin === undefined)
      const to = descents
        .filter(({ from }) => from.sessionId === sessionId)
        .map((each) => link(each, each.to))
      return { to, ...(origin === undefined ? {} : { from: link(origin, origin.from) }) }
    },
    copyOf(sessionId) {
      const descent = made.get(sessionId)
      if (descent === undefined) return undefined
      const { from, kind, until, at } = descent
      return { agent: from.agent, id: from.sessionId, kind, until: until ?? at }
    },
    look() {
      const fresh = readAll().slice(told)
      told = all.length
      return fresh.map(({ to }) => to.sessionId)
    },
  }
}

function keyOf({ kind, from, to }: Descent): string {
  return `${kind} ${from.sessionId} ${to.sessionId}`
}

function link({ kind, at }: Descent, { sessionId, agent, origin }: DescentEnd): LineageLink {
  return { sessionId, agent, kind, at, ...(origin === undefined ? {} : { origin }) }
}

function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}

/** A line that is not whole is none. */
function readLines(path: string): readonly Descent[] {
  const text = readFileSync(path, 'utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : (readDescent(parseJson(line)) ?? [])))
}

function readDescent(value: unknown): Descent | undefined {
  const kind = (['repaired', 'converted', 'handed-over', 'forked'] as const).find(
    (known) => known === string(value, 'kind'),
  )
  const from = readEnd(value, 'from')
  const to = readEnd(value, 'to')
  if (kind === undefined || from === undefined || to === undefined) return undefined
  return { kind, at: string(value, 'at') ?? '', from, to, until: string(value, 'until') }
}

function readEnd(value: unknown, key: 'from' | 'to'): DescentEnd | undefined {
  const end = field(value, key)
  const sessionId = string(end, 'sessionId')
  const agent = string(end, 'agent')
  const origin = readOrigin(field(end, 'origin'))
  if (sessionId === undefined || agent === undefined) return undefined
  return { sessionId, agent, ...(origin === undefined ? {} : { origin }) }
}

function readOrigin(value: unknown): LineageLink['origin'] {
  const [origin, machine] = [string(value, 'origin'), string(value, 'machine')]
  const person = string(value, 'person')
  if (origin === undefined || machine === undefined || person === undefined) return undefined
  return { origin, machine, person }
}
