import type { Attention } from '#model'
import type { BoardCard, Subscription, Throughline } from '#wire'
import { createNotifier, type Notifier } from './desktop-notice.ts'
import { readLocalSettings } from './local-settings.ts'

export interface AttentionWatchOptions {
  readonly home: string
  readonly throughline: Pick<Throughline, 'subscribe'>
  /** Whether somebody looks at a page, which tells them itself. */
  readonly isWatched: () => boolean
  readonly onNotice: (message: string) => void
  readonly notifier?: Notifier
}

/** Tells the person at this machine what waits for them, when no page is open that would. */
export function watchAttentions(options: AttentionWatchOptions): { close(): Promise<void> } {
  const { home, throughline, isWatched, onNotice } = options
  const notifier = options.notifier ?? createNotifier({ platform: process.platform, onNotice })
  /** What is open, by session. */
  const open = new Map<string, ReadonlySet<string>>()

  function take(sessionId: string, attentions: readonly Attention[]): void {
    const now = new Set(attentions.map(({ id }) => id))
    for (const id of open.get(sessionId) ?? []) if (!now.has(id)) notifier.settled(id)
    const fresh = attentions.filter(({ id }) => !(open.get(sessionId)?.has(id) ?? false))
    if (now.size === 0) open.delete(sessionId)
    else open.set(sessionId, now)
    if (fresh.length > 0 && !isWatched()) void tell(fresh)
  }

  async function tell(attentions: readonly Attention[]): Promise<void> {
    // Asked each time: it can be switched off while the daemon runs. A file that makes no sense is told elsewhere.
    const settings = await readLocalSettings(home).catch(() => undefined)
    if (settings?.desktopNotices === false) return
    for (const attention of attentions) notifier.opened(attention)
  }

  const subscription: Subscription = throughline.subscribe(
    { kind: 'board' },
    {
      onEvent(event) {
        if (event.kind === 'board.changed') take(event.card.sessionId, openTo(event.card))
        if (event.kind === 'board.removed') take(event.session, [])
      },
    },
  )
  return {
    async close() {
      subscription.close()
      await notifier.close()
    },
  }
}

/** What somebody else's session asks, and only its owner may answer, waits for nobody here. */
function openTo({ may, attentions }: BoardCard): readonly Attention[] {
  return may === 'read' ? [] : attentions
}
