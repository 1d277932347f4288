import { string } from '#base'
import { registerCallWorker } from '../trusted-worker.ts'

/** One thing that waits for a person, and what may be said of it where anybody could be looking. */
export interface Call {
  readonly id: string
  readonly sessionId: string
  /** The tool, or that there is a question. Never what it would do. */
  readonly words: string
}

/** Shows notifications, in the way that this browser has. */
export interface Caller {
  /** Rejects when the browser does not let it. */
  readonly show: (title: string, call: Call) => Promise<void>
  /** Closes every notification but those of these calls. */
  readonly keepOnly: (ids: ReadonlySet<string>) => Promise<void>
  /** Whether it is known to work. A page learns only by trying. */
  readonly isSure: boolean
}

let opening: Promise<Caller> | undefined

/** Browsers of phones let only a service worker show notifications; one without it may let the page do so. */
export function openCaller(): Promise<Caller> {
  opening ??=
    'serviceWorker' in navigator
      ? registerCallWorker().then(createWorkerCaller, createPageCaller)
      : Promise.resolve(createPageCaller())
  return opening
}

const opens = new Set<(sessionId: string) => void>()

/** Hears of the session whose notification was clicked. */
export function onCallOpened(open: (sessionId: string) => void): void {
  opens.add(open)
  if (opens.size > 1 || !('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const session = string(data, 'session')
    if (string(data, 'kind') === 'notification.clicked' && session !== undefined) tellOpened(session)
  })
}

function tellOpened(sessionId: string): void {
  for (const open of opens) open(sessionId)
}

/** The same tag from another tab takes the place of what is shown: nobody is called twice. */
function toOptions({ id, sessionId, words }: Call): NotificationOptions {
  return { body: words, tag: id, icon: '/icon-192.png', data: { session: sessionId } }
}

function createWorkerCaller(registration: ServiceWorkerRegistration): Caller {
  return {
    isSure: true,
    show: (title, call) => inTurn(() => registration.showNotification(title, toOptions(call))),
    keepOnly: (ids) =>
      inTurn(async () => {
        for (const shown of await registration.getNotifications()) if (!ids.has(shown.tag)) shown.close()
      }),
  }
}

/**
 * All tabs have the notifications of the worker in common. Chromium forgets one that is being shown while another tab
 * asks which there are: it stays on the screen, can never be taken back, and a click on it leads nowhere.
 */
async function inTurn(run: () => Promise<void>): Promise<void> {
  if ('locks' in navigator) await navigator.locks.request('throughline.calls', run)
  else await run()
}

function createPageCaller(): Caller {
  const shown = new Map<string, Notification>()
  return {
    isSure: false,
    async show(title, call) {
      const notification = new Notification(title, toOptions(call))
      notification.addEventListener('click', () => {
        window.focus()
        if (call.sessionId !== '') tellOpened(call.sessionId)
        notification.close()
      })
      shown.set(call.id, notification)
    },
    async keepOnly(ids) {
      for (const [id, notification] of shown) {
        if (ids.has(id)) continue
        notification.close()
        shown.delete(id)
      }
    },
  }
}
