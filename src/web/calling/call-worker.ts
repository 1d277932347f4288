import { string } from '#base'

/**
 * The worker whose notifications a page shows: browsers of phones let nobody else show any. It handles clicks on them
 * and nothing more: it answers no request, keeps nothing, and is registered only once a person turned notifications on.
 */
self.addEventListener('install', () => void skipWaiting())

self.addEventListener('notificationclick', (event) => {
  if (!isClick(event)) return
  event.notification.close()
  event.waitUntil(open(string(event.notification.data, 'session') ?? ''))
})

/** Shows the session in a page that is open, else in a new one. */
async function open(session: string): Promise<void> {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = pages.find(({ visibilityState }) => visibilityState === 'visible') ?? pages[0]
  if (page === undefined) {
    await clients.openWindow(new URL(`/#session=${encodeURIComponent(session)}`, self.location.origin).href)
    return
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  page.postMessage({ kind: 'notification.clicked', session })
  await page.focus()
}

/** What the platform has of service workers, as far as it is used: these types are not among those of pages. */
interface PageClient {
  readonly visibilityState: string
  postMessage(message: unknown): void
  focus(): Promise<unknown>
}

interface Click extends Event {
  readonly notification: Notification
  waitUntil(work: Promise<unknown>): void
}

declare const clients: {
  matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly PageClient[]>
  openWindow(address: string): Promise<unknown>
}
declare function skipWaiting(): Promise<void>

function isClick(event: Event): event is Click {
  return 'notification' in event && 'waitUntil' in event
}
