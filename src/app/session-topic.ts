import { ThroughlineError } from '#base'
import { withChangedCalls, type Reading, type SessionSummary } from '#model'
import {
  cursorAt,
  endOfRecords,
  findNextLine,
  findOffset,
  formatOf,
  openTranscript,
  prepareCursor,
  readPageAfter,
  readPageBefore,
} from '#sources'
import type { FollowedFile, GrowthEvent } from '#ingest'
import type { LiveEvent, SubscribeOptions, Subscription, Topic } from '#wire'
import type { ChangedCalls } from './changed-calls.ts'
import type { Keeper } from './keeper.ts'
import { withoutRaw } from './page.ts'

type SessionTopic = Extract<Topic, { kind: 'session' }>
type Added = Extract<LiveEvent, { kind: 'entry.added' }>

/** Entries that are told at a time while a device catches up. */
const PIECE = 100

export interface SessionTopicOptions extends SubscribeOptions {
  readonly keeper: Keeper
  readonly find: () => Promise<{ readonly session: SessionSummary; readonly path: string }>
  /** Which calls a person changed before they allowed them. */
  readonly changes: ChangedCalls['find']
}

/**
 * Tells the entries of one transcript: first those after the cursor, read from the file, then those that are appended.
 * Positions are offsets in the file, so no entry is told twice and none is left out, whoever else listens.
 */
export function subscribeToSession(topic: SessionTopic, options: SessionTopicOptions): Subscription {
  const { keeper } = options
  let cursor = options.cursor
  let closed = false
  let unlisten: (() => void) | undefined
  /** Everything before this offset was told. */
  let position = 0
  let isLive = false
  /** The file was rewritten, or is another one, while it was read. */
  let restart: string | undefined
  let running = false
  let wasThere = false
  /** Samples are shown whatever the roots are. */
  let isSample = false

  function tell(event: LiveEvent): void | Promise<void> {
    ;({ cursor } = event)
    return closed ? undefined : options.onEvent(event)
  }

  async function toMarked(id: string, readings: readonly Reading[]): Promise<readonly Reading[]> {
    const changes = await options.changes(id)
    return readings.map((reading) => withChangedCalls(reading, changes))
  }

  function goesOn(): boolean {
    return !closed && restart === undefined
  }

  function isInterrupted(): boolean {
    return !closed && restart !== undefined
  }

  function isBehind(file: FollowedFile | undefined): boolean {
    return file !== undefined && position < file.offset
  }

  async function run(): Promise<void> {
    if (running || closed) return
    running = true
    try {
      do {
        restart = undefined
        await follow()
      } while (isInterrupted())
    } catch (error) {
      if (closed) return
      if (wasThere && isAway(error)) {
        waitForIt()
        return
      }
      options.onError?.(error instanceof Error ? error : new Error(String(error)))
      close()
    } finally {
      running = false
    }
  }

  /** The file was there and is not now: it may come back, as a file that is replaced does. */
  function waitForIt(): void {
    const stop = keeper.onChange(({ session }) => {
      if (session.id !== topic.id) return
      stop()
      setTimeout(() => void run(), 0)
    })
    unlisten?.()
    unlisten = stop
    void tell({ kind: 'reset', reason: 'gone', cursor: '0' })
  }

  async function follow(): Promise<void> {
    const { session, path } = await options.find()
    if (closed) return
    wasThere = true
    // It is run, and has not said anything yet.
    if (path === '') throw notYet()
    isSample = session.demo === true
    const file = keeper.catalogue.follow(path)
    unlisten?.()
    const deaf = file?.listen((event) => take(session.id, event))
    const stop = keeper.onChange((change) => {
      if (change.kind === 'moved' && change.from.path === session.path) startOver('moved')
      // Deleted, or not to be shown any more: it worked outside the allowed roots.
      if (change.kind === 'removed' && change.session.path === session.path) startOver('gone')
    })
    unlisten = () => {
      deaf?.()
      stop()
    }
    await file?.refresh()
    await begin(session.id, path)
    // Read as far as the file has been followed: from here on, what is told by it is news.
    while (goesOn() && isBehind(file)) {
      await catchUp(session.id, path)
    }
    if (closed || restart !== undefined) return
    isLive = true
    await tell({ kind: 'caught-up', cursor: cursor ?? '0' })
  }

  /** Where to begin: at the cursor, at the last entries, or at the beginning. */
  async function begin(id: string, path: string): Promise<void> {
    const file = openTranscript(path)
    try {
      if (cursor !== undefined) {
        await prepareCursor(file, cursor)
        const found = findOffset(file, cursor)
        // A line that was told without its newline, and went on since, is another one.
        if (found !== undefined && findNextLine(file, found) !== undefined) {
          position = found
          return await readOn()
        }
        await tell({ kind: 'reset', reason: 'rewritten', cursor: '0' })
      }
      position = 0
      if (topic.last === undefined) return await readOn()
      const page = await readPageBefore(file, formatOf(path), { limit: topic.last })
      if (restart !== undefined) return
      position = await endOfRecords(file, formatOf(path))
      const readings = page.readings.filter((reading) => placeOf(reading) < position)
      await tell(toAdded({ id, readings: await toMarked(id, readings), cursor: cursorAt(file, position) }))
    } finally {
      file.close()
    }

    async function readOn(): Promise<void> {
      const end = await endOfRecords(file, formatOf(path))
      while (position < end && goesOn()) await readPiece(id, file, end)
    }
  }

  async function catchUp(id: string, path: string): Promise<void> {
    const file = openTranscript(path)
    try {
      const end = await endOfRecords(file, formatOf(path))
      if (position >= end) return
      await readPiece(id, file, end)
    } finally {
      file.close()
    }
  }

  async function readPiece(id: string, file: ReturnType<typeof openTranscript>, end: number): Promise<void> {
    const page = await readPageAfter(file, formatOf(file.path), { limit: PIECE, after: position })
    const to = Math.min(page.end, end)
    // Read from what is void now: it is told from the beginning.
    if (restart !== undefined) return
    const readings = page.readings.filter((reading) => placeOf(reading) < to)
    if (!mayTell(readings)) return
    position = to > position ? to : end
    await tell(toAdded({ id, readings: await toMarked(id, readings), cursor: cursorAt(file, position) }))
  }

  function take(id: string, event: GrowthEvent): void {
    if (event.kind !== 'grown') {
      const reason = event.kind === 'gone' ? 'gone' : event.reason
      if (event.kind === 'reset') void tell({ kind: 'reset', reason: event.reason, cursor: '0' })
      startOver(reason)
      return
    }
    if (!isLive || event.to <= position || !mayTell(event.readings)) return
    if (event.from === position) {
      position = event.to
      void tell(shared(id, event))
      return
    }
    const readings = event.readings.filter((reading) => placeOf(reading) >= position)
    position = event.to
    void tell(toAdded({ id, readings, cursor: event.cursor }))
  }

  /** A line that was written outside the allowed roots ends it, before it is told. */
  function mayTell(readings: readonly Reading[]): boolean {
    const { isAllowed } = keeper
    if (isAllowed === undefined || isSample) return true
    if (readings.every((reading) => isInside(reading, isAllowed))) return true
    startOver('gone')
    return false
  }

  /** After this turn: the catalogue finds out first where the session is now. */
  function startOver(reason: string): void {
    const isComing = running || restart !== undefined
    restart = reason
    isLive = false
    if (!isComing) setTimeout(() => void run(), reason === 'gone' ? GONE_MS : 0)
  }

  function toAdded(of: {
    readonly id: string
    readonly readings: readonly Reading[]
    readonly cursor: string
  }): Added {
    return {
      kind: 'entry.added',
      session: of.id,
      ...(topic.subagent === undefined ? {} : { subagent: topic.subagent }),
      readings: topic.raw === false ? of.readings.map(withoutRaw) : of.readings,
      cursor: of.cursor,
    }
  }

  /** All who listen get the same object: it is written down once, however many devices it goes to. */
  function shared(id: string, event: Extract<GrowthEvent, { kind: 'grown' }>): Added {
    const known = topic.raw === false ? bareEvents : wholeEvents
    const event1 = known.get(event) ?? toAdded({ id, readings: event.readings, cursor: event.cursor })
    known.set(event, event1)
    return event1
  }

  function close(): void {
    closed = true
    unlisten?.()
  }

  void run()
  return {
    get cursor() {
      return cursor
    },
    close,
  }
}

const wholeEvents = new WeakMap<GrowthEvent, Added>()
const bareEvents = new WeakMap<GrowthEvent, Added>()

/** How long a file may be away while it is replaced, before it is looked for elsewhere. */
const GONE_MS = 20

function notYet(): ThroughlineError {
  return new ThroughlineError('transcript-gone', 'the session has no transcript yet', {
    hint: 'It has one as soon as something was said.',
  })
}

function isAway(error: unknown): boolean {
  return (
    error instanceof ThroughlineError &&
    (error.code === 'session-not-found' || error.code === 'transcript-gone')
  )
}

function isInside(reading: Reading, isAllowed: (workdir: string) => boolean): boolean {
  return reading.kind === 'damage' || reading.entry.cwd === undefined || isAllowed(reading.entry.cwd)
}

function placeOf(reading: Reading): number {
  return reading.kind === 'entry' ? reading.entry.place.offset : reading.damage.offset
}
