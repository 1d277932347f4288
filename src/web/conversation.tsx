import { useComputed, useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { ThroughlineError } from '#base'
import type { Passage, PromptMessage, ReplyMessage, SessionSummary } from '#model'
import type { BranchPath, Page } from '#wire'
import { usePassageContext } from './conversation-context.tsx'
import { ConversationRow } from './conversation-row.tsx'
import type { LivePart } from './live-part.ts'
import type { MemoryPart } from './memory-part.ts'
import { Beginning, isMadeHere } from './beginning.tsx'
import { expectBeside } from './message/beside.ts'
import { createPassageList, isOwn, keyOf, offsetOf, toItems } from './passage-list.ts'
import { createReadingWindow, type ReadingWindow } from './reading-window.ts'
import type { Route } from './route.ts'
import { createScrollAnchor, type ScrollAnchor } from './scroll-anchor.ts'
import { useWishes } from './session-keys.ts'
import { useShared } from './shared.ts'
import { findNeighbour, findReading, toggleCalls } from './turn-steps.ts'

type Place = Extract<Route, { kind: 'session' }>

interface Props {
  readonly session: SessionSummary
  readonly place: Place
  readonly branches: readonly BranchPath[]
  readonly marks: readonly string[]
  readonly live: LivePart | undefined
  readonly memory: MemoryPart | undefined
  /** Where in its file stands what is read. */
  readonly onPlace?: ((offset: number) => void) | undefined
}

/** More is fetched when this many screens are left. */
const AHEAD = 2

/** The conversation of a session: opens at its end, or at an entry, and goes on in both directions as one scrolls. */
export function Conversation({ session, place, branches, marks, live, memory, onPlace }: Props): VNode {
  const shared = useShared()
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const anchor = useRef<ScrollAnchor | undefined>(undefined)
  const pages = useWindow(session, place.subagent)
  const toPassageList = useMemo(createPassageList, [session.id, place.subagent])
  const part = useSignal(live)
  part.value = live
  const passages = useComputed(() => {
    const held = pages.state.value
    return toPassageList(part.value?.extend(held) ?? held.readings)
  })
  const chosen = useSignal<string | undefined>(undefined)
  const branch = branches.find(({ leafId }) => leafId === chosen.value)
  const { atStart, atEnd, loading, error } = pages.state.value
  const { copiedFrom } = session
  const items = useMemo(
    () =>
      toItems(
        passages.value,
        branches,
        branch,
        place.subagent === undefined && isMadeHere(copiedFrom) ? { from: copiedFrom, atEnd } : undefined,
      ),
    [passages.value, branches, branch, copiedFrom, atEnd],
  )
  /** The entry to go to once it is there. */
  const target = useRef<string | undefined>(undefined)

  const context = usePassageContext(session, place.subagent, marks, live, memory)
  useEffect(() => live?.note(pages.state.value), [live, pages.state.value.readings])

  // It is there about as soon as the first page is.
  useEffect(() => void expectBeside().catch(() => {}), [])

  useEffect(() => {
    if (box.current === null || content.current === null) return undefined
    const made = createScrollAnchor(box.current, content.current)
    anchor.current = made
    return () => made.close()
  }, [])

  useEffect(() => {
    target.current = place.entry
    if (place.entry === undefined) {
      anchor.current?.stick()
      if (!pages.state.value.atEnd || pages.state.value.readings.length === 0) void pages.openEnd()
    } else if (!goTo()) void pages.openAround({ entry: place.entry })
  }, [place.entry])

  useLayoutEffect(() => {
    if (target.current === undefined || !goTo()) anchor.current?.keep()
    look()
  }, [items])

  /** Goes to the wanted entry, if it is there. */
  function goTo(): boolean {
    const wanted = target.current
    const found = passages
      .peek()
      .find((passage) => passage.kind !== 'damage' && passage.entries.some(({ id }) => id === wanted))
    if (wanted === undefined || found === undefined || found.kind === 'damage') return false
    const hidden = branches.find((one) => isOwn(one, offsetOf(found)))
    if (hidden !== undefined && chosen.peek() !== hidden.leafId) {
      chosen.value = hidden.leafId
      return false
    }
    const element = content.current?.querySelector(`[data-key="${CSS.escape(found.id)}"]`)
    if (!(element instanceof HTMLElement)) return false
    target.current = undefined
    anchor.current?.show(element)
    element.classList.remove('flash')
    void element.offsetWidth
    element.classList.add('flash')
    const call = findCall(found, wanted)
    if (call !== undefined) void unfold(element, call)
    return true
  }

  async function unfold(element: HTMLElement, call: string): Promise<void> {
    const { unfoldCall } = await import('./message/unfold.ts')
    const shown = await unfoldCall(element, call)
    if (shown !== undefined) anchor.current?.show(shown)
  }

  /** Fetches what will soon be in sight. */
  function look(): void {
    const element = box.current
    if (element === null || pages.state.peek().readings.length === 0) return
    const key = findReading(element, content.current)
    const read = key === undefined ? undefined : passages.peek().find((passage) => keyOf(passage) === key)
    if (read !== undefined) onPlace?.(offsetOf(read))
    const ahead = element.clientHeight * AHEAD
    if (element.scrollTop < ahead) void pages.loadBefore()
    if (element.scrollHeight - element.scrollTop - element.clientHeight < ahead) void pages.loadAfter()
  }

  /** Goes on at the end, whatever could not be shown. */
  function again(): void {
    anchor.current?.stick()
    void pages.openEnd()
    shared.go(withoutEntry(place), 'replace')
  }

  async function showStart(): Promise<void> {
    await pages.openAround({ offset: 0 })
    const first = content.current?.querySelector('[data-key]')
    if (first !== null && first !== undefined) anchor.current?.show(first)
    box.current?.scrollTo(0, 0)
  }

  useWishes((wish) => {
    if (wish === 'to-end') {
      anchor.current?.stick()
      if (!atEnd) void pages.openEnd()
      if (place.entry !== undefined) shared.go(withoutEntry(place), 'replace')
    }
    if (wish === 'to-start') {
      void showStart()
    }
    if (wish === 'toggle-calls') toggleCalls(content.current)
    if (wish !== 'next-prompt' && wish !== 'previous-prompt') return
    const next = findNeighbour(box.current, content.current, wish)
    if (next === undefined) box.current?.scrollBy({ top: wish === 'next-prompt' ? 1e6 : -1e6 })
    else {
      anchor.current?.show(next)
      next.focus({ preventScroll: true })
    }
  })

  return (
    <>
      <div
        class="conversation"
        ref={box}
        onScroll={look}
        tabIndex={0}
        role="region"
        aria-label="Conversation"
      >
        {error !== undefined ? <Trouble error={error} onAgain={again} /> : undefined}
        <div class="conversation-edge" role="status">
          {loading === 'first' ? <Skeleton /> : undefined}
          {loading === 'before' ? 'Reading what came before…' : undefined}
          {atStart && loading === undefined && error === undefined ? (
            <Beginning copiedFrom={copiedFrom} />
          ) : undefined}
        </div>
        {atStart && place.subagent === undefined ? memory?.renderTop() : undefined}
        <div class="conversation-list" ref={content} aria-busy={loading !== undefined}>
          {items.map((item) => (
            <ConversationRow
              key={item.key}
              item={item}
              context={context}
              chosen={chosen.value}
              onChoose={(leaf) => (chosen.value = leaf)}
              live={live}
            />
          ))}
          {atEnd || loading === 'first' ? live?.renderEnd(pages.state.value) : undefined}
        </div>
        <div class="conversation-edge">
          {items.length === 0 && loading === undefined && error === undefined ? (
            <p class="state">Nothing was said in this session yet. What is written to it appears here.</p>
          ) : undefined}
          {loading === 'after' ? 'Reading on…' : undefined}
        </div>
        {atEnd ? undefined : (
          <button type="button" class="to-end" aria-label="To the end of the session" onClick={again}>
            To the end ↓
          </button>
        )}
      </div>
      {memory?.renderOver((id) => findMessage(passages.peek(), id))}
    </>
  )
}

/** The call of an entry that is one. */
function findCall(passage: Passage, entryId: string): string | undefined {
  const entry = passage.kind === 'reply' ? passage.entries.find(({ id }) => id === entryId) : undefined
  const block = entry?.kind === 'reply' ? entry.blocks.at(-1) : undefined
  return block?.kind === 'tool-use' ? block.id : undefined
}

function findMessage(passages: readonly Passage[], id: string): PromptMessage | ReplyMessage | undefined {
  for (const passage of passages) {
    if ((passage.kind === 'prompt' || passage.kind === 'reply') && passage.id === id) return passage
  }
  return undefined
}

function withoutEntry({ id, subagent }: Place): Place {
  return { kind: 'session', id, ...(subagent === undefined ? {} : { subagent }) }
}

function useWindow(session: SessionSummary, subagent: string | undefined): ReadingWindow {
  const { throughline } = useShared()
  // Nothing is written of it yet: there is nothing to read, and nobody to ask for it.
  const isUnwritten = session.path === ''
  const of = subagent === undefined ? {} : { subagent }
  const pages = useMemo(
    () =>
      createReadingWindow({
        page: (options) =>
          isUnwritten
            ? Promise.resolve(NOTHING)
            : throughline.page(session, { ...options, ...of, raw: false }),
        follow: (cursor, onEvent, onError) =>
          isUnwritten
            ? { cursor, close: () => {} }
            : throughline.subscribe(
                { kind: 'session', id: session.id, ...of, raw: false },
                { cursor, onEvent, onError },
              ),
      }),
    [session.id, subagent],
  )
  useEffect(() => () => pages.close(), [pages])
  return pages
}

const NOTHING: Page = { readings: [], start: '', end: '', atStart: true, atEnd: true }

function Skeleton(): VNode {
  return (
    <div class="skeleton" aria-label="Loading the conversation">
      <span />
      <span />
      <span />
    </div>
  )
}

function Trouble({ error, onAgain }: { error: Error; onAgain: () => void }): VNode {
  return (
    <div class="conversation-trouble" role="alert">
      <h2>This could not be read</h2>
      <p>{error.message}</p>
      {error instanceof ThroughlineError ? <p>{error.hint}</p> : undefined}
      <button type="button" class="button" onClick={onAgain}>
        Go to the end of the session
      </button>
    </div>
  )
}
