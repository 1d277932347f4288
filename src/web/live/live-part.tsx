import { computed } from '@preact/signals'
import type { Attention } from '#model'
import type { LivePart } from '../live-part.ts'
import { toYoungSession } from '../session-groups.ts'
import type { Shared } from '../shared.ts'
import { LiveDock } from './live-dock.tsx'
import { LiveEnd } from './live-end.tsx'
import { openLiveSession } from './live-session.ts'
import { mintId } from './mint-id.ts'
import { toFailure } from './outbox.ts'
import { UnwrittenNote } from './unwritten-note.tsx'

/** Everything of a session page that lives. */
export function openLivePart(shared: Shared, id: string): LivePart {
  const { throughline, say, go } = shared
  const live = openLiveSession(id, {
    throughline,
    storage: localStorage,
    now: Date.now,
    mintId,
    soon: (run) => {
      // Nobody paints a page that is not looked at.
      if (document.visibilityState === 'visible') requestAnimationFrame(run)
      else setTimeout(run, 250)
    },
    later: (run, ms) => void setTimeout(run, ms),
  })
  /** What an agent in a terminal asks: nobody runs it here, and it can be answered here. */
  const elsewhere = computed((): readonly Attention[] => {
    const card = shared.board.value.get(id)
    return card?.where === 'elsewhere' ? card.attentions : []
  })

  async function fork(entryId: string): Promise<void> {
    say('Forking…')
    try {
      const view = await throughline.live.fork(id, { at: entryId })
      go({ kind: 'session', id: view.sessionId })
    } catch (error) {
      const { message, hint } = toFailure(error)
      say(`${message}. ${hint}`)
    }
  }

  return {
    extend: live.extend,
    note: live.note,
    pace: computed(() => {
      if (!live.isRunning.value) return ''
      return live.view.value?.state.state === 'waiting' ? 'waits for you' : 'running'
    }),
    summary: computed(() => (live.view.value === undefined ? undefined : toYoungSession(live.view.value))),
    fork: (entryId) => void fork(entryId),
    renderEnd: (stretch) => <LiveEnd live={live} stretch={stretch} />,
    renderNote: (passage) => <UnwrittenNote passage={passage} />,
    renderDock: (session, digest) => (
      <LiveDock
        live={live}
        session={session}
        digest={digest}
        elsewhere={elsewhere.value}
        may={shared.board.value.get(id)?.may}
      />
    ),
    close: live.close,
  }
}
