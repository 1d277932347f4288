import type { SessionSummary } from '#model'
import type { BoardCard } from '#wire'
import { toFolderName } from '../folder-names.ts'
import { toTitle } from '../session-groups.ts'

/** What a live session is called: its name where one is known, else the folder it works in. */
export function nameOf(card: BoardCard, sessions: readonly SessionSummary[]): string {
  const session = sessions.find(({ id }) => id === card.sessionId)
  return session === undefined || (session.name ?? '').trim() === ''
    ? toFolderName(card.workdir)
    : toTitle(session)
}

/** The same for places where anybody may look: a name that is only the first prompt again is not said there. */
export function outwardNameOf(card: BoardCard, sessions: readonly SessionSummary[]): string {
  return nameOf(
    card,
    sessions.filter(({ nameFrom }) => nameFrom !== 'prompt'),
  )
}
