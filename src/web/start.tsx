import { effect, signal, type Signal } from '@preact/signals'
import { render } from 'preact'
import { ThroughlineError } from '#base'
import { connect, type RemoteThroughline } from '#client'
import type { Health, Problem } from '#wire'
import { App } from './app.tsx'
import { takeEarly } from './early.ts'
import { lazyView } from './lazy-view.tsx'
import { parseRoute, toHash, type Route } from './route.ts'
import { createSessionList, type SessionList } from './session-list.ts'
import type { Overlay } from './keys.ts'
import { SharedProvider, type Cards, type Connection, type Shared } from './shared.ts'
import { applyTheme } from './theme.ts'
import { createToasts } from './toasts.tsx'
import { forgetToken, readToken, takeCode } from './token.ts'

const Gate = lazyView(async () => (await import('./gate.tsx')).Gate)
const TICK_MS = 30_000
const HEALTH_MS = 15_000
/** After the list became longer or shorter. */
const SOON_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** The list and the page come first. */
const BOARD_MS = 300

/** Starts the app in a page: logs in, connects, shows what there is and keeps it current. */
export function startWeb(page: Document): void {
  const root = page.getElementById('app')
  if (root === null) return
  applyTheme()
  const connection = signal<Connection>({ kind: 'connecting' })
  void begin(root, connection)
  // A link with a code that is opened in a page that is open already.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#code=')) location.reload()
  })
}

async function begin(root: HTMLElement, connection: Signal<Connection>): Promise<void> {
  const taken = await takeCode()
  const token = readToken()
  if (token === undefined) {
    connection.value = { kind: 'logged-out', why: taken === 'refused' ? 'old-link' : 'new' }
    render(<Gate connection={connection} />, root)
    return
  }
  const list = createSessionList((run) => setTimeout(run, 16))
  const early = takeEarly()
  const throughline = await reach(root, connection, token)
  if (throughline === undefined) return
  const shared = share(throughline, { connection, list, token })
  void early.then((found) => {
    if (found !== undefined) list.begin(found.sessions)
    return found
  })
  render(
    <SharedProvider value={shared}>
      <App list={list} />
    </SharedProvider>,
    root,
  )
}

/** Connects, however long that takes. Gives nothing when this browser may not. */
async function reach(
  root: HTMLElement,
  connection: Signal<Connection>,
  token: string,
): Promise<RemoteThroughline | undefined> {
  for (let pause = 500; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await connect({
        url: location.origin,
        token,
        onConnection(state) {
          if (connection.value.kind === 'logged-out') return
          connection.value = { kind: state === 'open' ? 'connected' : 'reconnecting' }
        },
      })
    } catch (error) {
      if (error instanceof ThroughlineError && error.code === 'not-allowed') {
        forgetToken()
        connection.value = { kind: 'logged-out', why: 'revoked' }
        render(<Gate connection={connection} />, root)
        return undefined
      }
      const hint = error instanceof ThroughlineError ? error.hint : ''
      connection.value = {
        kind: 'failed',
        message: error instanceof Error ? error.message : String(error),
        hint,
      }
      render(<Gate connection={connection} />, root)
      await new Promise((resolve) => {
        setTimeout(resolve, pause)
      })
    }
  }
}

function share(
  throughline: RemoteThroughline,
  { connection, list, token }: { connection: Signal<Connection>; list: SessionList; token: string },
): Shared {
  const route = signal<Route>(parseRoute(location.hash))
  const searched = signal('')
  const now = signal(Date.now())
  const health = signal<Health | undefined>(undefined)
  const lookedIn = signal<readonly string[]>([])
  const problems = signal<readonly Problem[]>([])
  const toasts = createToasts()
  const board = signal<Cards>(new Map())

  function arrive(next: Route): void {
    const before = route.value
    if (next.kind !== 'session') searched.value = ''
    else if (before.kind === 'search') searched.value = before.q
    else if (before.kind !== 'session' || before.id !== next.id) searched.value = ''
    route.value = next
  }

  const askHealth = async (): Promise<void> => {
    if (document.visibilityState !== 'visible') return
    health.value = await throughline.health().catch(() => health.value)
  }
  const askPlaces = async (): Promise<void> => {
    const found = await throughline.list({ limit: 1 }).catch(() => undefined)
    if (found === undefined) return
    lookedIn.value = found.lookedIn
    problems.value = found.problems
  }
  addEventListener('hashchange', () => arrive(parseRoute(location.hash)))
  setInterval(() => {
    now.value = Date.now()
  }, TICK_MS)
  setInterval(() => void askHealth(), HEALTH_MS)
  let asking: ReturnType<typeof setTimeout> | undefined
  let known = -1
  effect(() => {
    const count = list.sessions.value?.length ?? 0
    if (count === known) return
    known = count
    clearTimeout(asking)
    asking = setTimeout(() => void askHealth(), SOON_MS)
  })
  void askHealth()
  void askPlaces()
  throughline.subscribe(
    { kind: 'sessions' },
    {
      onEvent: (event) => list.take(event),
      onError(error) {
        if (error instanceof ThroughlineError && error.code === 'not-allowed') {
          forgetToken()
          connection.value = { kind: 'logged-out', why: 'revoked' }
        } else {
          const hint = error instanceof ThroughlineError ? error.hint : ''
          connection.value = { kind: 'failed', message: error.message, hint }
        }
      },
    },
  )
  const shared: Shared = {
    throughline,
    route,
    searched,
    connection,
    sessions: list.sessions,
    board,
    overlay: signal<Overlay>('none'),
    lookedIn,
    problems,
    health,
    now,
    toasts: toasts.shown,
    async fetchExport(id, format) {
      const { createExportFetcher } = await import('./download.ts')
      return await createExportFetcher(location.origin, token)(id, format)
    },
    say: toasts.say,
    go(next, how) {
      if (how === 'replace') history.replaceState(null, '', toHash(next))
      else history.pushState(null, '', toHash(next))
      arrive(next)
    },
  }
  setTimeout(
    () =>
      void import('./live/board.ts').then(
        ({ followBoard }) => followBoard(shared, board),
        () => {},
      ),
    BOARD_MS,
  )
  return shared
}
