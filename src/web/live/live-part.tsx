import { computed } from '@preact/signals'
import { isNativeAgent, type Attention } from '#model'
import type { LivePart } from '../live-part.ts'
import { toYoungSession } from '../session-groups.ts'
import type { Shared } from '../shared.ts'
import { LiveDock } from './live-dock.tsx'
import { LiveEnd } from './live-end.tsx'
import { openLiveSession } from './live-session.ts'
import { mintId } from './mint-id.ts'
import { toFailure } from './outbox.ts'
import { openResumeFolder } from './resume-folder.ts'
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

  const folder = openResumeFolder(throughline.live)

  async function fork(entryId: string): Promise<void> {
    const session = shared.sessions.value?.find((one) => one.id === id)
    const where = session === undefined ? {} : await folder.check(session.workdirs)
    if (where === undefined) return
    say('Forking…')
    try {
      const request = { at: entryId, ...where }
      // No agent is started before there is a prompt for it, where a fork can be written without one.
      const { sessionId } =
        session !== undefined && isNativeAgent(session.agent)
          ? await throughline.restoring.copy(id, request)
          : await throughline.live.fork(id, request)
      say('Fork created')
      go({ kind: 'session', id: sessionId })
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
    renderEnd: (stretch) => <LiveEnd live={live} folder={folder} stretch={stretch} />,
    renderNote: (passage) => <UnwrittenNote passage={passage} />,
    renderDock: (session, digest) => (
      <LiveDock
        live={live}
        folder={folder}
        session={session}
        digest={digest}
        elsewhere={elsewhere.value}
        may={shared.board.value.get(id)?.may}
      />
    ),
    close: live.close,
  }
}
