import { batch, useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { SessionSummary } from '#model'
import type { Digest } from '#wire'
import { Conversation } from './conversation.tsx'
import { lazyView } from './lazy-view.tsx'
import type { LivePart } from './live-part.ts'
import type { MemoryPart } from './memory-part.ts'
import type { Route } from './route.ts'
import { SessionHeader } from './session-header.tsx'
import { toTerms } from './search-terms.ts'
import type { SessionList } from './session-list.ts'
import { useSessionKeys } from './session-keys.ts'
import { useShared } from './shared.ts'

const FactsView = lazyView(async () => (await import('./facts/facts-view.tsx')).FactsView)
const Missing = lazyView(async () => (await import('./missing-session.tsx')).MissingSession)
const FindBar = lazyView(async () => (await import('./find-bar.tsx')).FindBar)
const PlaceStrip = lazyView(async () => (await import('./place-strip.tsx')).PlaceStrip, 'part')
const Outline = lazyView(async () => (await import('./outline.tsx')).Outline)

type Place = Extract<Route, { kind: 'session' }>

/** Up to this size a session is read whole without being asked to: its outline costs next to nothing. */
const QUICK_BYTES = 24 * 1024 * 1024
/** From here on what is loaded is a small part of it. */
const LONG_BYTES = 1024 * 1024
const WIDE = '(min-width: 1180px)'

/** One session: its header, its conversation, its outline or its facts. */
export function SessionPage(props: { place: Place; onSide: () => void; list: SessionList }): VNode {
  const { place, onSide, list } = props
  const shared = useShared()
  const known = shared.sessions.value?.find(({ id }) => id === place.id)
  const asked = useSignal<SessionSummary | undefined>(undefined)
  const error = useSignal<Error | undefined>(undefined)
  const digest = useSignal<Digest | undefined>(undefined)
  const isOutlined = useSignal(matchMedia(WIDE).matches && localStorage.getItem(OUTLINE_KEY) !== 'off')
  const isFinding = useSignal(false)
  const reading = useSignal<number | undefined>(undefined)
  const marks = useSignal<readonly string[]>([])
  const live = useSignal<LivePart | undefined>(undefined)
  const memory = useSignal<MemoryPart | undefined>(undefined)
  const session = known ?? asked.value ?? live.value?.summary.value
  const searched = useMemo(() => toTerms(shared.searched.value), [shared.searched.value])

  const id = session?.id ?? place.id
  useEffect(() => {
    let isLeft = false
    const begin = async (): Promise<void> => {
      const [{ openLivePart }, { openMemoryPart }] = await Promise.all([
        import('./live/live-part.tsx'),
        import('./memory/memory-part.tsx'),
      ])
      if (isLeft) return
      // Both at once: the conversation is made again for them once.
      batch(() => {
        live.value = openLivePart(shared, id)
        memory.value = openMemoryPart(shared, id)
      })
    }
    // What is written can be read without it.
    begin().catch(() => shared.say('The part of the app that talks to agents could not be loaded.'))
    return () => {
      isLeft = true
      live.value?.close()
      live.value = undefined
      memory.value?.close()
      memory.value = undefined
    }
  }, [id])

  useEffect(() => {
    if (session !== undefined) return
    shared.throughline.get(place.id).then(
      (found) => (asked.value = found),
      (cause: unknown) => (error.value = cause instanceof Error ? cause : new Error(String(cause))),
    )
  }, [place.id, session === undefined])

  const size = session?.size ?? 0
  const wantsDigest = session !== undefined && (isOutlined.value || (size > 0 && size < QUICK_BYTES))
  useEffect(() => {
    if (!wantsDigest || session === undefined) return undefined
    const timer = setTimeout(
      () =>
        shared.throughline.digest(session).then(
          (found) => (digest.value = found),
          () => {},
        ),
      digest.value === undefined ? 60 : size < QUICK_BYTES ? 1500 : 15_000,
    )
    return () => clearTimeout(timer)
  }, [wantsDigest, size, session?.id])

  function outline(): void {
    isOutlined.value = !isOutlined.value
    localStorage.setItem(OUTLINE_KEY, isOutlined.value ? 'on' : 'off')
  }

  function find(): void {
    isFinding.value = true
    setTimeout(() => document.getElementById('find')?.focus(), 0)
  }

  useSessionKeys({ session, place, list, onFind: find, onOutline: outline, digest })

  if (session === undefined) {
    return error.value === undefined ? (
      <div class="state quiet" role="status" aria-label="Loading the session" />
    ) : (
      <Missing error={error.value} onSide={onSide} />
    )
  }
  const isFacts = place.show === 'facts'
  return (
    <div class={`session-page ${isOutlined.value && !isFacts ? 'outlined' : ''}`}>
      <SessionHeader
        session={session}
        place={place}
        list={list}
        onSide={onSide}
        onFind={find}
        onOutline={outline}
        isOutlined={isOutlined.value}
        contextTokens={digest.value?.facts.contextTokens ?? session.counts?.contextTokens}
      />
      {isFinding.value && !isFacts ? (
        <FindBar
          session={session}
          place={place}
          onMarks={(words) => (marks.value = words)}
          onClose={() => {
            isFinding.value = false
            marks.value = []
          }}
        />
      ) : undefined}
      {isFacts ? (
        <div class="framed-body">
          <FactsView session={session} />
        </div>
      ) : (
        <div class="session-body">
          <div class="conversation-column">
            {size > LONG_BYTES ? <PlaceStrip reading={reading} size={size} /> : undefined}
            <Conversation
              key={`${place.subagent ?? ''} ${session.path === '' ? 'unwritten' : ''}`}
              session={session}
              place={place}
              branches={place.subagent === undefined ? (digest.value?.branches ?? []) : []}
              marks={marks.value.length > 0 ? marks.value : searched}
              live={place.subagent === undefined ? live.value : undefined}
              onPlace={place.subagent === undefined ? (offset) => (reading.value = offset) : undefined}
              memory={memory.value}
            />

            {place.subagent === undefined && (session.demo ?? session.recorded) === undefined
              ? live.value?.renderDock(session, digest.value)
              : undefined}
          </div>
          {isOutlined.value ? (
            <Outline
              session={session}
              digest={digest.value}
              place={place}
              reading={reading}
              onClose={outline}
            />
          ) : undefined}
        </div>
      )}
    </div>
  )
}

const OUTLINE_KEY = 'throughline.outline'
