import { randomUUID } from 'node:crypto'
import type { Attention, SessionView } from '#model'
import type { LiveEvent, PromptRequest, Throughline } from '#wire'
import { listen, type Listening } from './contract-place.ts'

/** A live session that a test has begun. */
export interface Begun {
  readonly throughline: Throughline
  readonly workdir: string
  readonly id: string
  readonly view: SessionView
}

/** A prompt under a new id. */
export function say(text: string): PromptRequest {
  return { id: randomUUID(), blocks: [{ kind: 'text', text }] }
}

/** Listens to a live session from here on. */
export async function hearing(throughline: Throughline, id: string): Promise<Listening> {
  const live = listen(throughline, { kind: 'live', id })
  await live.until((events) => events.some(({ kind }) => kind === 'caught-up'))
  return live
}

/** Ends the session and stops listening. */
export async function close(
  throughline: Throughline,
  id: string,
  ...open: readonly Listening[]
): Promise<void> {
  for (const listening of open) listening.close()
  await throughline.live.end(id)
}

const HANG_MS = 90_000

/** The open attention of a session, as soon as there is one. */
export async function openOne(throughline: Throughline, sessionId: string): Promise<Attention> {
  const deadline = performance.now() + HANG_MS
  while (performance.now() < deadline) {
    const open = (await throughline.live.attentions()).find((each) => each.sessionId === sessionId)
    if (open !== undefined) return open
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('nobody was ever asked')
}

/** The session is in the list after it ended, with its transcript. */
export async function eventuallyStill(throughline: Throughline, id: string): Promise<void> {
  const deadline = performance.now() + HANG_MS
  while (performance.now() < deadline) {
    const session = await throughline.get(id).catch(() => undefined)
    if (session !== undefined && session.size > 0 && session.live === undefined) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the session is not in the list as one that is over')
}

type Told<K extends string> = Extract<
  Extract<LiveEvent, { kind: 'live.event' }>['event'],
  { readonly kind: K }
>

function eventsOf<K extends Told<string>['kind']>(events: readonly LiveEvent[], kind: K): readonly Told<K>[] {
  return events.flatMap((event) =>
    event.kind === 'live.event' && isKind(event.event, kind) ? [event.event] : [],
  )
}

function isKind<K extends string>(event: { readonly kind: string }, kind: K): event is Told<K> {
  return event.kind === kind
}

/** Whole messages that were told. */
export function messagesOf(events: readonly LiveEvent[]): readonly Told<'message'>[] {
  return eventsOf(events, 'message')
}

/** The text as it was streamed. */
export function deltasOf(events: readonly LiveEvent[]): string {
  return eventsOf(events, 'delta')
    .filter(({ what }) => what === 'text')
    .map(({ text }) => text)
    .join('')
}

/** How many turns have ended. */
export function turnsEnded(events: readonly LiveEvent[]): number {
  return eventsOf(events, 'turn.ended').length
}

/** Whether a turn has ended. */
export function hasEnded(events: readonly LiveEvent[]): boolean {
  return turnsEnded(events) > 0
}

/** How the last turn ended. */
export function outcomeOf(events: readonly LiveEvent[]): string | undefined {
  return eventsOf(events, 'turn.ended').at(-1)?.outcome.kind
}

/** The last state that was told. */
export function stateOf(events: readonly LiveEvent[]): string | undefined {
  return eventsOf(events, 'state.changed').at(-1)?.state.state
}

/** Whether this says that the session is idle. */
export function isIdle(event: LiveEvent): boolean {
  if (event.kind === 'live.view') return event.view.state.state === 'idle'
  return (
    event.kind === 'live.event' && event.event.kind === 'state.changed' && event.event.state.state === 'idle'
  )
}

/** Whether the board says that this session waits. */
export function waits(events: readonly LiveEvent[], id: string): boolean {
  const cards = events.flatMap((event) =>
    event.kind === 'board.changed' && event.card.sessionId === id ? [event.card] : [],
  )
  return cards.at(-1)?.state.state === 'waiting'
}

/** Whether the last thing that the board told is that a card is gone. */
export function isTakenOff(events: readonly LiveEvent[]): boolean {
  const last = (kind: LiveEvent['kind']): number => events.findLastIndex((event) => event.kind === kind)
  return last('board.removed') > last('board.changed')
}
