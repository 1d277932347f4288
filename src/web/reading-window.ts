import { signal, type ReadonlySignal } from '@preact/signals'
import { placeOf, type Reading } from '#model'
import type { LiveEvent, Page, PageOptions, PagePlace, Subscription } from '#wire'

/** A stretch of a session that is held and shown, and what is on its way. */
interface WindowState {
  readonly readings: readonly Reading[]
  readonly atStart: boolean
  readonly atEnd: boolean
  readonly loading: 'first' | 'before' | 'after' | undefined
  readonly error: Error | undefined
}

/**
 * A window on a session of any length: a few pages, one after another. It grows at the end that is asked for and lets
 * go of what is far from it, so a session of 300 MB costs what a screenful costs. At the end of the session it goes on
 * by itself: what is written flows into the same list.
 */
export interface ReadingWindow {
  readonly state: ReadonlySignal<WindowState>
  openEnd(): Promise<void>
  openAround(place: PagePlace): Promise<void>
  loadBefore(): Promise<void>
  loadAfter(): Promise<void>
  close(): void
}

export interface WindowSource {
  page(options: Omit<PageOptions, 'limit' | 'raw'> & { readonly limit: number }): Promise<Page>
  /** Listens from a cursor on. */
  follow(cursor: string, onEvent: (event: LiveEvent) => void, onError: (error: Error) => void): Subscription
}

interface Stretch {
  readonly readings: readonly Reading[]
  readonly start: string
  readonly end: string
}

export const PAGE = 50
/** Entries that are held at most. */
const MOST = 400

export function createReadingWindow(source: WindowSource): ReadingWindow {
  const state = signal<WindowState>({
    readings: [],
    atStart: false,
    atEnd: false,
    loading: 'first',
    error: undefined,
  })
  let stretches: Stretch[] = []
  let subscription: Subscription | undefined
  /** What was asked for before something else was opened is not wanted any more. */
  let turn = 0

  function show(change: Partial<WindowState>): void {
    state.value = { ...state.value, readings: stretches.flatMap(({ readings }) => readings), ...change }
  }

  function unfollow(): void {
    subscription?.close()
    subscription = undefined
  }

  function follow(): void {
    unfollow()
    const cursor = stretches.at(-1)?.end
    if (cursor === undefined) return
    const mine = turn
    subscription = source.follow(
      cursor,
      (event) => {
        if (mine === turn) take(event)
      },
      (error) => {
        if (mine === turn) show({ error })
      },
    )
  }

  function take(event: LiveEvent): void {
    if (event.kind === 'reset') {
      void openEnd()
      return
    }
    if (event.kind !== 'entry.added') return
    const first = event.readings[0]
    const last = stretches.at(-1)
    if (first === undefined || last === undefined) return
    // A line that was half there when the page was read is whole now, and stands in the same place.
    const from = placeOf(first).offset
    const kept = last.readings.filter((reading) => placeOf(reading).offset < from)
    if (kept.length !== last.readings.length) stretches[stretches.length - 1] = { ...last, readings: kept }
    stretches.push({ readings: event.readings, start: last.end, end: event.cursor })
    joinSmall(stretches)
    trim('start')
    show({ atStart: state.value.atStart && !isTrimmed, atEnd: true })
  }

  let isTrimmed = false

  /** Lets go of whole stretches at one side, as long as enough is left. */
  function trim(side: 'start' | 'end'): void {
    isTrimmed = false
    let held = stretches.reduce((sum, { readings }) => sum + readings.length, 0)
    while (stretches.length > 1) {
      const far = side === 'start' ? stretches[0] : stretches.at(-1)
      if (far === undefined || held - far.readings.length < MOST) return
      held -= far.readings.length
      isTrimmed = true
      if (side === 'start') stretches.shift()
      else stretches.pop()
    }
  }

  async function open(options: { readonly around?: PagePlace }): Promise<void> {
    const mine = ++turn
    unfollow()
    show({ loading: 'first', error: undefined })
    try {
      const page = await source.page({ limit: PAGE, ...options })
      if (mine !== turn) return
      stretches = [page]
      show({ atStart: page.atStart, atEnd: page.atEnd, loading: undefined })
      if (page.atEnd) follow()
    } catch (error) {
      if (mine !== turn) return
      // What was shown before is not what was asked for.
      stretches = []
      show({ loading: undefined, error: toError(error) })
    }
  }

  async function load(side: 'before' | 'after'): Promise<void> {
    const { loading, atStart, atEnd } = state.value
    const edge = side === 'before' ? stretches[0]?.start : stretches.at(-1)?.end
    if (loading !== undefined || edge === undefined || (side === 'before' ? atStart : atEnd)) return
    const mine = turn
    show({ loading: side })
    try {
      const page = await source.page({ limit: PAGE, [side]: edge })
      if (mine !== turn) return
      if (side === 'before') {
        stretches.unshift(page)
        trim('end')
        if (isTrimmed) unfollow()
        show({ loading: undefined, error: undefined, atStart: page.atStart, atEnd: atEnd && !isTrimmed })
        return
      }
      stretches.push(page)
      trim('start')
      show({ loading: undefined, error: undefined, atEnd: page.atEnd, atStart: atStart && !isTrimmed })
      if (page.atEnd) follow()
    } catch (error) {
      if (mine === turn) show({ loading: undefined, error: toError(error) })
    }
  }

  function openEnd(): Promise<void> {
    return open({})
  }

  return {
    state,
    openEnd,
    openAround: (place) => open({ around: place }),
    loadBefore: () => load('before'),
    loadAfter: () => load('after'),
    close() {
      turn++
      unfollow()
    },
  }
}

/** Live entries come one by one: as many as make a page become one stretch. */
function joinSmall(stretches: Stretch[]): void {
  const last = stretches.at(-1)
  const before = stretches.at(-2)
  if (last === undefined || before === undefined || before.readings.length >= PAGE) return
  stretches.splice(-2, 2, {
    readings: [...before.readings, ...last.readings],
    start: before.start,
    end: last.end,
  })
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
