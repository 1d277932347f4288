import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { toActions, useKeys } from './keys.ts'
import { lazyView } from './lazy-view.tsx'
import { SessionPage } from './session-page.tsx'
import { countWaiting, type SessionList } from './session-list.ts'
import { useShared } from './shared.ts'
import { SideButton } from './side-button.tsx'
import { Sidebar } from './sidebar.tsx'
import { showWaiting } from './title.ts'
import { Toasts } from './toasts.tsx'

const SearchView = lazyView(async () => (await import('./search/search-view.tsx')).SearchView)
const BoardView = lazyView(async () => (await import('./live/board-view.tsx')).BoardView)
const StartDialog = lazyView(async () => (await import('./live/start-dialog.tsx')).StartDialog)
const MemoryView = lazyView(async () => (await import('./memory/memory-view.tsx')).MemoryView)
const TeamView = lazyView(async () => (await import('./team/team-view.tsx')).TeamView)
const UsageView = lazyView(async () => (await import('./usage/usage-view.tsx')).UsageView)
const Welcome = lazyView(async () => (await import('./welcome/welcome.tsx')).Welcome)
const Palette = lazyView(async () => (await import('./palette/palette.tsx')).Palette)
const Gate = lazyView(async () => (await import('./gate.tsx')).Gate)
const KeysSheet = lazyView(async () => (await import('./palette/keys-sheet.tsx')).KeysSheet)

/** The whole app: the sessions at the side, and beside them what was chosen. */
export function App({ list }: { list: SessionList }): VNode {
  const shared = useShared()
  const { overlay } = shared
  const isSideOpen = useSignal(false)
  const actions = toActions({ shared, overlay, isSideOpen })
  useKeys(actions, overlay)
  const waiting = countWaiting(shared.sessions.value ?? [], shared.board.value)
  const route = shared.route.value
  useEffect(() => showWaiting(waiting), [waiting])
  useEffect(() => {
    isSideOpen.value = false
  }, [route])

  if (shared.connection.value.kind === 'logged-out') return <Gate connection={shared.connection} />
  const isSideAlone = route.kind === 'home' && shared.sessions.value?.length !== 0
  return (
    <div class={`app ${isSideOpen.value ? 'side-open' : ''} ${isSideAlone ? 'at-home' : ''}`}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Sidebar list={list} waiting={waiting} />
      {isSideOpen.value ? (
        <button
          type="button"
          class="side-veil"
          aria-label="Close the list of sessions"
          onClick={() => (isSideOpen.value = false)}
        />
      ) : undefined}
      <main id="main" tabIndex={-1}>
        <ConnectionBar />
        <Main onSide={() => (isSideOpen.value = !isSideOpen.value)} list={list} />
      </main>
      {overlay.value === 'palette' ? (
        <Palette onClose={() => (overlay.value = 'none')} actions={actions} />
      ) : undefined}
      {overlay.value === 'start' ? <StartDialog onClose={() => (overlay.value = 'none')} /> : undefined}
      {overlay.value === 'keys' ? (
        <KeysSheet onClose={() => (overlay.value = 'none')} actions={actions} />
      ) : undefined}
      <Toasts shown={shared.toasts} />
    </div>
  )
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Main({ onSide, list }: { onSide: () => void; list: SessionList }): VNode {
  const { route } = useShared()
  const place = route.value
  switch (place.kind) {
    case 'session':
      return <SessionPage key={place.id} place={place} onSide={onSide} list={list} />
    case 'search':
      return (
        <Framed title="Search" onSide={onSide}>
          <SearchView q={place.q} />
        </Framed>
      )
    case 'usage':
      return (
        <Framed title="Usage" onSide={onSide}>
          <UsageView />
        </Framed>
      )
    case 'board':
      return (
        <Framed title="Board" onSide={onSide}>
          <BoardView />
        </Framed>
      )
    case 'team':
      return (
        <Framed title="Team" onSide={onSide}>
          <TeamView />
        </Framed>
      )
    case 'memory':
      return (
        <Framed title="Memory" onSide={onSide}>
          <MemoryView place={place} />
        </Framed>
      )
    case 'home':
      return (
        <Framed title="Throughline" onSide={onSide}>
          <Welcome />
        </Framed>
      )
  }
}

/** On a phone every page has a bar from which the list is opened. */
function Framed(props: { title: string; onSide: () => void; children: VNode }): VNode {
  return (
    <div class="framed">
      <header class="phone-bar">
        <SideButton onSide={props.onSide} />
        <span>{props.title}</span>
      </header>
      <div class="framed-body">{props.children}</div>
    </div>
  )
}

function ConnectionBar(): VNode | null {
  const { connection } = useShared()
  const state = connection.value
  if (state.kind !== 'reconnecting' && state.kind !== 'failed') return null
  const words =
    state.kind === 'reconnecting'
      ? 'Not connected. Trying again; what you see may be old.'
      : `${state.message}. ${state.hint}`
  return (
    <p class="connection-bar" role="status">
      <span class="dot" aria-hidden="true" /> {words}
    </p>
  )
}
