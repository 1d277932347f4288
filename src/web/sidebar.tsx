import { useComputed, useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { toPlural } from '#render'
import { Icon } from './icon.tsx'
import { toHash } from './route.ts'
import { toRows, withRunning, type Grouping, type SidebarRow } from './session-groups.ts'
import { useWishes } from './session-keys.ts'
import { SessionRow } from './session-row.tsx'
import type { SessionList } from './session-list.ts'
import { useShared } from './shared.ts'
import { nextTheme, theme } from './theme.ts'
import { VirtualList } from './virtual-list.tsx'

const HEAD_PX = 34
const ROW_PX = 56
const KEY = 'throughline.grouping'

/** Every session, in groups, filtered as one types. */
export function Sidebar({ list, waiting }: { list: SessionList; waiting: number }): VNode {
  const shared = useShared()
  const filter = useSignal('')
  const grouping = useSignal<Grouping>(localStorage.getItem(KEY) === 'day' ? 'day' : 'workdir')
  const box = useRef<HTMLElement>(null)
  const rows = useComputed(() =>
    toRows(withRunning(shared.sessions.value ?? [], shared.board.value), {
      by: grouping.value,
      filter: filter.value,
      now: shared.now.value,
    }),
  )
  const place = shared.route.value
  const current = place.kind === 'session' ? place.id : undefined
  const shown = current === undefined ? undefined : rows.value.findIndex(({ key }) => key === current)

  useWishes((wish) => {
    if (wish !== 'next-session' && wish !== 'previous-session') return
    const listed = rows.value.flatMap((row) => (row.kind === 'session' ? [row.key] : []))
    // Where one is now: the list may not have been drawn since the last key.
    const here = shared.route.peek()
    const at = here.kind === 'session' ? listed.indexOf(here.id) : -1
    const next = listed[at < 0 ? 0 : at + (wish === 'next-session' ? 1 : -1)]
    if (next !== undefined) shared.go({ kind: 'session', id: next })
  })

  function group(by: Grouping): void {
    grouping.value = by
    localStorage.setItem(KEY, by)
  }

  return (
    <nav class="sidebar" aria-label="Sessions" ref={box} onKeyDown={(event) => move(event, box.current)}>
      <header class="side-head">
        <a class="brand" href={toHash({ kind: 'home' })} aria-label="Throughline, start page">
          <Icon name="thread" />
          Throughline
        </a>
        <button
          type="button"
          class="icon-button"
          aria-label={`Colours: ${theme.value}. Change`}
          onClick={() => shared.say(`Colours: ${nextTheme()}`)}
        >
          <Icon name="spark" />
        </button>
        <a class="icon-button" href={toHash({ kind: 'memory' })} aria-label="Memory" title="Memory (g m)">
          <Icon name="diamond" />
        </a>
        <a class="icon-button" href={toHash({ kind: 'usage' })} aria-label="Usage" title="Usage (g u)">
          <Icon name="chart" />
        </a>
        <button
          type="button"
          class="icon-button"
          aria-label="Go to anything"
          title="Ctrl K"
          onClick={() => (shared.overlay.value = 'palette')}
        >
          <Icon name="more" />
        </button>
      </header>
      <div class="side-start">
        <button
          type="button"
          class="button primary"
          title="New session (n)"
          onClick={() => (shared.overlay.value = 'start')}
        >
          <Icon name="plus" /> New session
        </button>
        <a
          class={`button board-link ${waiting === 0 ? '' : 'waiting'}`}
          href={toHash({ kind: 'board' })}
          aria-current={place.kind === 'board' ? 'page' : undefined}
          title="Board (g b)"
        >
          {waiting === 0 ? 'Board' : `${waiting} waiting for you`}
        </a>
      </div>
      <a class="side-search" href={toHash({ kind: 'search', q: '' })}>
        <Icon name="search" /> Search everything <kbd>/</kbd>
      </a>
      <div class="side-tools">
        <input
          id="filter"
          type="search"
          placeholder="Filter sessions"
          aria-label="Filter sessions"
          autocomplete="off"
          spellcheck={false}
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') filter.value = ''
          }}
        />
        <div class="segments" role="group" aria-label="Group sessions by">
          {(['workdir', 'day'] as const).map((by) => (
            <button key={by} type="button" aria-pressed={grouping.value === by} onClick={() => group(by)}>
              {by === 'workdir' ? 'Folder' : 'Day'}
            </button>
          ))}
        </div>
      </div>
      <Rows rows={rows.value} shown={shown} current={current} list={list} isFiltered={filter.value !== ''} />
      <Foot />
    </nav>
  )
}

function Rows(props: {
  rows: readonly SidebarRow[]
  shown: number | undefined
  current: string | undefined
  list: SessionList
  isFiltered: boolean
}): VNode {
  const { sessions } = useShared()
  if (sessions.value === undefined) {
    return (
      <div class="side-skeleton" role="status" aria-label="Looking for sessions">
        {[1, 2, 3, 4, 5, 6].map((n) => (
          <span key={n} />
        ))}
      </div>
    )
  }
  if (props.rows.length === 0) {
    return (
      <p class="side-empty">
        {props.isFiltered ? 'No session matches. Search looks inside them.' : 'No sessions yet.'}
      </p>
    )
  }
  return (
    <VirtualList
      label="Sessions"
      items={props.rows}
      keyOf={({ key }) => key}
      heightOf={({ kind }) => (kind === 'head' ? HEAD_PX : ROW_PX)}
      shown={props.shown}
      render={(row) =>
        row.kind === 'head' ? (
          <h2 class="group-head" title={row.hint}>
            <span>{row.title}</span>
            <span class="group-count">{row.count}</span>
          </h2>
        ) : (
          <SessionRow session={row.session} isCurrent={row.session.id === props.current} list={props.list} />
        )
      }
    />
  )
}

function Foot(): VNode {
  const { sessions, connection, health } = useShared()
  const all = sessions.value ?? []
  const index = health.value?.index
  const state = connection.value.kind
  const words = state === 'connected' ? 'live' : state === 'connecting' ? 'connecting' : 'not connected'
  return (
    <footer class="side-foot">
      <span class={`dot ${state}`} aria-hidden="true" />
      <span>
        {words} · {toPlural(all.length, 'session')}
      </span>
      {index?.state === 'building' ? (
        <span class="side-index">
          indexing {Math.floor((100 * index.bytes.done) / Math.max(1, index.bytes.total))} %
        </span>
      ) : undefined}
    </footer>
  )
}

/** Arrow keys go from session to session. */
function move(event: KeyboardEvent, box: HTMLElement | null): void {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || box === null) return
  const links = [...box.querySelectorAll<HTMLElement>('.session-link')]
  const at = links.indexOf(document.activeElement instanceof HTMLElement ? document.activeElement : box)
  const next = links[at < 0 ? 0 : at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
