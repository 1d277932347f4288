import { statSync } from 'node:fs'
import { boolean, field, string, ThroughlineError } from '#base'
import { openJournal, readJournal, type Journal } from '#journal'
import type { SessionSummary } from '#model'

/** What a person has decided about a session. */
interface Preference {
  readonly name?: string
  readonly starred: boolean
}

/** Names and stars. They are kept in an append-only file of ours; the last word on a session wins. */
export interface Preferences {
  get(sessionId: string): Preference
  /** Every session with a name or a star. */
  all(): ReadonlyMap<string, Preference>
  /** Gives the session a name, or takes it away. It is on disk when this resolves. */
  rename(sessionId: string, name: string | undefined): Promise<Preference>
  /** Sets or removes the star. It is on disk when this resolves. */
  star(sessionId: string, starred: boolean): Promise<Preference>
  /** Takes in what another process has written meanwhile. Costs one look at the file when there is nothing. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const NOTHING: Preference = { starred: false }
const NAME_LENGTH = 200

/**
 * Opens the preferences in `path`, which need not exist. Reading takes no lock. The first write takes it and keeps it
 * until `close`; while another process has it, writes reject with `journal-locked` and change nothing. Lines that it
 * does not know are left where they are.
 */
export async function openPreferences(path: string, now: () => number = Date.now): Promise<Preferences> {
  const known = new Map<string, Preference>()
  let stamp = ''
  let writing: Promise<Journal> | undefined
  let closed = false

  async function fold(): Promise<void> {
    stamp = stampOf(path)
    const folded = new Map<string, Preference>()
    try {
      for await (const item of readJournal(path)) if (item.kind === 'line') apply(folded, item.value)
    } catch (cause) {
      throw new ThroughlineError('internal', `cannot read ${path}`, {
        hint: 'Check that it is a file and that you may read it.',
        cause,
      })
    }
    known.clear()
    for (const [sessionId, preference] of folded) known.set(sessionId, preference)
  }

  function openForWriting(): Promise<Journal> {
    if (closed) {
      throw new ThroughlineError('journal-closed', `${path} was closed`, { hint: 'Open it again.' })
    }
    if (writing !== undefined) return writing
    const opening = openAndFold()
    writing = opening
    // Somebody else may have it now and let it go later.
    opening.catch(() => (writing = undefined))
    return opening
  }

  async function openAndFold(): Promise<Journal> {
    const journal = await openJournal(path)
    try {
      // The holder before us may have written since we looked.
      await fold()
      return journal
    } catch (error) {
      await journal.close()
      throw error
    }
  }

  async function write(sessionId: string, line: Line): Promise<Preference> {
    const journal = await openForWriting()
    await journal.append(line)
    apply(known, line)
    return known.get(sessionId) ?? NOTHING
  }

  await fold()
  return {
    get: (sessionId) => known.get(sessionId) ?? NOTHING,
    all: () => known,
    async rename(sessionId, name) {
      const kept = name === undefined ? null : toName(name)
      return write(sessionId, { kind: 'session.named', session: sessionId, name: kept, at: timeOf(now) })
    },
    async star(sessionId, starred) {
      return write(sessionId, { kind: 'session.starred', session: sessionId, starred, at: timeOf(now) })
    },
    async refresh() {
      // While we hold the lock nobody else writes.
      if (writing === undefined && stampOf(path) !== stamp) await fold()
    },
    async close() {
      closed = true
      const journal = await writing?.catch(() => undefined)
      await journal?.close()
    },
  }
}

type Line =
  | {
      readonly kind: 'session.named'
      readonly session: string
      readonly name: string | null
      readonly at: string
    }
  | {
      readonly kind: 'session.starred'
      readonly session: string
      readonly starred: boolean
      readonly at: string
    }

/** The file is ours, and yet anybody may have edited it, or a later version have written it: it is read as foreign. */
function apply(known: Map<string, Preference>, line: unknown): void {
  const sessionId = string(line, 'session')
  if (sessionId === undefined) return
  const { name, starred } = known.get(sessionId) ?? NOTHING
  switch (string(line, 'kind')) {
    case 'session.named': {
      const given = string(line, 'name')
      if (given === undefined ? field(line, 'name') === null : problemOf(given) === undefined)
        put(known, sessionId, { name: given, starred })
      return
    }
    case 'session.starred':
      put(known, sessionId, { name, starred: boolean(line, 'starred') ?? starred })
      return
    default:
  }
}

function put(
  known: Map<string, Preference>,
  sessionId: string,
  { name, starred }: { readonly name: string | undefined; readonly starred: boolean },
): void {
  if (name === undefined && !starred) known.delete(sessionId)
  else known.set(sessionId, name === undefined ? { starred } : { name, starred })
}

/** Without blanks around it, and fit for a list: one line, nothing that acts. */
function toName(name: string): string {
  const trimmed = name.trim()
  const problem = problemOf(trimmed)
  if (problem === undefined) return trimmed
  throw new ThroughlineError('request-invalid', `the name ${problem}`, {
    hint: `A name is one line of 1 to ${NAME_LENGTH} characters. Give none at all to take the name away.`,
  })
}

/** Controls, line breaks of any kind, halves of characters, and what turns the direction of text around. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u

const SHORT = new RegExp(`^.{0,${NAME_LENGTH}}$`, 'su')

function problemOf(name: string): string | undefined {
  if (name.trim() === '') return 'is empty'
  if (!SHORT.test(name)) return `is longer than ${NAME_LENGTH} characters`
  return UNFIT.test(name) ? 'contains a control character or a line break' : undefined
}

function timeOf(now: () => number): string {
  return new Date(now()).toISOString()
}

/** Changes with every line that is appended, and with another file in its place. */
/** Empty when there is no such file, and none can be there because the folder is no folder. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.size}`
  } catch {
    return ''
  }
}

/** A session with the name and the star that a person gave it. */
export function withPreference(session: SessionSummary, known: Preferences): SessionSummary {
  const { name, starred } = known.get(session.id)
  if (name === undefined && !starred) return session
  return {
    ...session,
    ...(name === undefined ? {} : { name, nameFrom: 'person' }),
    ...(starred ? { starred } : {}),
  }
}
