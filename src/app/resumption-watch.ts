import { statSync } from 'node:fs'
import { textOf, type SessionSummary, type SessionView } from '#model'
import { formatOf, openTranscript, readForward } from '#sources'

/** Notices live sessions that go on as if nothing had been said in them before. */
export interface ResumptionWatch {
  /** It is gone on with: what is written from now on has to hang from what there is. */
  resumed(session: SessionSummary): void
  /** A turn was answered. Resolves when it was looked at. */
  answered(view: Pick<SessionView, 'sessionId' | 'agentSessionId' | 'turn'>): Promise<void>
}

/** `onForgotten`: what is wrong with a session, for a person. */
export function createResumptionWatch(
  onForgotten: (sessionId: string, trouble: string) => void,
): ResumptionWatch {
  const ends = new Map<string, { readonly path: string; readonly size: number }>()
  return {
    resumed({ id, agent, path }) {
      const size = statSync(path, { throwIfNoEntry: false })?.size
      // Other agents name no parents; of those it is seen what they have loaded before anything is asked.
      if (agent === 'claude' && size !== undefined && size > 0) ends.set(id, { path, size })
    },
    async answered({ sessionId, agentSessionId = sessionId, turn }) {
      const end = ends.get(sessionId)
      if (end === undefined) return
      if (agentSessionId !== sessionId) {
        ends.delete(sessionId)
        if (!isCleared(turn))
          onForgotten(sessionId, `It went on as another session, ${agentSessionId}. ${NEXT}`)
        return
      }
      const parent = await findParent(end.path, end.size).catch(() => undefined)
      // Not written yet: the next answer will tell.
      if (parent === undefined) return
      ends.delete(sessionId)
      if (parent === null) onForgotten(sessionId, FORGOTTEN)
    },
  }
}

const NEXT = 'End it, run `throughline check` on the session, and resume it in the folder in which it began.'
const FORGOTTEN = `It went on without what was said before: the first prompt hangs from nothing. ${NEXT}`

/** Somebody wanted another one. */
function isCleared(turn: SessionView['turn']): boolean {
  const said = turn?.messages.find(({ role }) => role === 'person')
  return /^\s*\/(?:clear|new|reset)\b/u.test(textOf(said?.blocks ?? []))
}

/** What the first prompt behind a place hangs from; nothing while there is none. */
async function findParent(path: string, from: number): Promise<string | null | undefined> {
  const file = openTranscript(path)
  try {
    for await (const { readings } of readForward(file, formatOf(path), { from })) {
      for (const reading of readings) {
        if (reading.kind !== 'entry' || reading.entry.kind !== 'prompt') continue
        const { link } = reading.entry
        if (link?.sidechain === false && link.parentId !== undefined) return link.parentId
      }
    }
    return undefined
  } finally {
    file.close()
  }
}
