import { computed, signal, type ReadonlySignal } from '@preact/signals'
import {
  createView,
  type Attention,
  type AttentionState,
  type DeltaFact,
  type GrowingView,
  type LivePrompt,
  type Reading,
  type RetryingFact,
  type SessionEvent,
  type SessionView,
} from '#model'
import type { LiveEvent, Throughline } from '#wire'
import { markChanged } from './changed-readings.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createTold } from './told.ts'
import { withoutWritten, withUnwritten, type ShownPrompt, type WrittenStretch } from './unwritten.ts'

/** Something that was asked and is settled, while it is still of interest. */
interface SettledAttention {
  readonly attention: Attention
  readonly state: AttentionState
}

/** A prompt beside the conversation: it waits for its turn, or did not arrive. */
export interface WaitingPrompt extends ShownPrompt {
  readonly state: 'sending' | 'failed' | LivePrompt['state']
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string } | undefined
  readonly isOwn: boolean
}

/** One session as it lives: everything that is known of it before it is written. */
export interface LiveSession {
  readonly id: string
  readonly outbox: Outbox
  /** `asking`: not known yet. `live`: somebody runs it here. `none`: nobody does. */
  readonly where: ReadonlySignal<'asking' | 'live' | 'none'>
  /** As it was last told; stays when it is over. */
  readonly view: ReadonlySignal<SessionView | undefined>
  readonly isRunning: ReadonlySignal<boolean>
  readonly retrying: ReadonlySignal<(RetryingFact & { readonly at: string }) | undefined>
  readonly trouble: ReadonlySignal<string | undefined>
  readonly settled: ReadonlySignal<readonly SettledAttention[]>
  readonly waiting: ReadonlySignal<readonly WaitingPrompt[]>
  /** What is written and what is not, in one list. */
  readonly extend: (stretch: WrittenStretch) => readonly Reading[]
  /** What is being said and is not whole yet. */
  streaming(stretch: WrittenStretch): readonly DeltaFact[]
  /** Tells what is on disk, so that it need not be kept. */
  readonly note: (stretch: WrittenStretch) => void
  /** How an attention was settled is known to the person: they did it, or they have seen it. */
  readonly dismiss: (attentionId: string) => void
  readonly close: () => void
}

export interface LiveSessionOptions {
  readonly throughline: Pick<Throughline, 'subscribe' | 'live'>
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly now: () => number
  readonly mintId: () => string
  /** Runs something soon: with the next picture. */
  readonly soon: (run: () => void) => void
  /** Runs something later. */
  readonly later: (run: () => void, ms: number) => void
}

/** How long after a turn what it said may take to be written and read. */
const SETTLE_MS = 2500

export function openLiveSession(id: string, options: LiveSessionOptions): LiveSession {
  const { throughline, soon, later } = options
  const where = signal<'asking' | 'live' | 'none'>('asking')
  const view = signal<SessionView | undefined>(undefined)
  const told = createTold()
  const items = signal(told.read())
  const settledTurn = signal(0)
  const retrying = signal<(RetryingFact & { readonly at: string }) | undefined>(undefined)
  const trouble = signal<string | undefined>(undefined)
  const settled = signal<readonly SettledAttention[]>([])
  const dismissed = new Set<string>()
  const known = new Set<string>()
  const cache = new Map<string, Reading>()
  const outbox = createOutbox({
    sessionId: id,
    live: throughline.live,
    storage: options.storage,
    now: options.now,
    mintId: options.mintId,
    sleep: (ms) => new Promise((resolve) => later(resolve, ms)),
  })
  let growing: GrowingView | undefined
  let isDue = false
  let isClosed = false

  const isRunning = computed(() => {
    const state = view.value?.state.state
    return where.value === 'live' && (state === 'running' || state === 'waiting')
  })

  function show(): void {
    isDue = false
    if (isClosed) return
    view.value = growing?.read() ?? view.value
    items.value = told.read()
  }

  function showSoon(): void {
    if (isDue) return
    isDue = true
    soon(show)
  }

  /** What the turn said is on disk, or never will be. */
  function settleTurn(): void {
    const turn = told.turn()
    const canTell = view.peek()?.can.writesTranscript !== false
    if (!canTell || turn <= settledTurn.peek()) return
    later(() => {
      const next = told.turn() > turn || growing?.read().turn?.outcome !== undefined || isOver(growing)
      if (!isClosed && next) settledTurn.value = Math.max(settledTurn.value, turn)
    }, SETTLE_MS)
  }

  function takeView(next: SessionView): void {
    growing = createView(next)
    where.value = next.state.state === 'ended' ? 'none' : 'live'
    told.takeView(next)
    show()
    if (next.turn?.outcome !== undefined || next.state.state === 'ended') settleTurn()
  }

  function takeEvent(event: SessionEvent): void {
    if (growing === undefined) return
    const before = growing.read()
    told.takeEvent(event, before.turn)
    growing.add(event)
    if (event.kind === 'retrying') retrying.value = event
    else if (MOVES_ON.has(event.kind)) retrying.value = undefined
    if (event.kind === 'trouble.noticed') trouble.value = event.message
    if (event.kind === 'turn.started') trouble.value = undefined
    if (event.kind === 'attention.settled') {
      const attention = before.attentions.find((one) => one.id === event.id)
      if (attention !== undefined && !dismissed.has(event.id))
        settled.value = [...settled.value.slice(-4), { attention, state: event.state }]
    }
    if (event.kind === 'state.changed') {
      if (event.state.state === 'ended') {
        where.value = 'none'
        settleTurn()
      } else where.value = 'live'
    }
    if (event.kind === 'turn.ended') settleTurn()
    showSoon()
  }

  const subscription = throughline.subscribe(
    { kind: 'live', id },
    {
      onEvent(event: LiveEvent) {
        if (event.kind === 'live.view') takeView(event.view)
        else if (event.kind === 'live.event') takeEvent(event.event)
        else if (event.kind === 'live.none') {
          where.value = 'none'
          settleTurn()
        }
      },
      onError() {
        where.value = 'none'
      },
    },
  )

  /** Prompts that nobody has taken up, in the order they were given. */
  const pending = computed((): readonly WaitingPrompt[] => {
    const names = new Set(items.value.map(({ key }) => key))
    const theirs = view.value?.prompts ?? []
    const own = outbox.prompts.value.map((prompt): WaitingPrompt => {
      const state = theirs.find((one) => one.id === prompt.id)?.state
      return { ...prompt, state: state ?? (prompt.state === 'sent' ? 'queued' : prompt.state), isOwn: true }
    })
    const others = theirs.filter(
      (prompt) => prompt.state !== 'delivered' && !own.some((one) => one.id === prompt.id),
    )
    const all = [...others.map((prompt): WaitingPrompt => ({ ...prompt, isOwn: false })), ...own]
    return all.filter((prompt) => !names.has(prompt.id))
  })
  /** What was shown in the conversation once stays there: it never jumps out of it when the agent begins. */
  const placed = new Set<string>()
  function isAside({ id: promptId, state }: WaitingPrompt): boolean {
    if (state === 'failed' || state === 'undelivered' || state === 'in-doubt') return true
    if (state === 'delivered' || view.value?.turn?.promptId === promptId) return false
    if (!isRunning.value) placed.add(promptId)
    return !placed.has(promptId)
  }
  const inPlace = computed(() => pending.value.filter((prompt) => !isAside(prompt)))

  return {
    id,
    outbox,
    where,
    view,
    isRunning,
    retrying,
    trouble,
    settled,
    waiting: computed(() => pending.value.filter(isAside)),
    extend: (stretch) =>
      markChanged(
        withUnwritten(asSaid(stretch, view.value?.startedAt), {
          told: items.value,
          prompts: inPlace.value,
          known,
          settledTurn: settledTurn.value,
          cache,
        }),
        view.value?.changedCalls ?? [],
      ),
    streaming: (stretch) =>
      view.value?.turn === undefined || view.value.turn.outcome !== undefined || where.value !== 'live'
        ? []
        : withoutWritten(view.value.turn.streaming, stretch),
    note({ readings }) {
      for (const reading of readings) {
        if (reading.kind === 'damage') continue
        known.add(reading.entry.id)
        if (reading.entry.kind === 'prompt' && reading.entry.sentAs !== undefined)
          known.add(reading.entry.sentAs)
      }
      outbox.drop((one) => known.has(one))
      told.forget((key) => known.has(key))
      if (told.read() !== items.peek()) items.value = told.read()
    },
    dismiss(attentionId) {
      dismissed.add(attentionId)
      settled.value = settled.value.filter(({ attention }) => attention.id !== attentionId)
    },
    close() {
      isClosed = true
      outbox.close()
      subscription.close()
    },
  }
}

/**
 * Agents that are driven write that a program gave them their prompts. In a session that is run here it was a person,
 * by way of a device; what the daemon says itself has an id that tells.
 */
function asSaid(stretch: WrittenStretch, startedAt: string | undefined): WrittenStretch {
  if (startedAt === undefined) return stretch
  return { ...stretch, readings: stretch.readings.map((reading) => toSaid(reading, startedAt)) }
}

const said = new WeakMap<Reading, Reading>()

function toSaid(reading: Reading, startedAt: string): Reading {
  if (reading.kind === 'damage' || reading.entry.kind !== 'prompt') return reading
  const { entry } = reading
  if (entry.origin !== 'program' || (entry.at ?? '') < startedAt || entry.id.startsWith('wake-'))
    return reading
  const known = said.get(reading) ?? { kind: 'entry', entry: { ...entry, origin: 'person' } }
  said.set(reading, known)
  return known
}

/** After one of these the model answers again, or nobody waits for it any more. */
const MOVES_ON: ReadonlySet<string> = new Set([
  'delta',
  'message',
  'turn.started',
  'turn.ended',
  'state.changed',
])

function isOver(growing: GrowingView | undefined): boolean {
  return growing?.read().state.state === 'ended'
}
