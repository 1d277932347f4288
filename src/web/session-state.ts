import { isWaitingForYou, type SessionSummary } from '#model'

/** What a badge says of a session, if there is anything to say. */
export interface Badge {
  readonly kind: 'waiting' | 'busy' | 'idle' | 'gone' | 'damaged' | 'archived' | 'demo'
  readonly words: string
  readonly hint: string
}

/** The most pressing thing first. A session that is simply there has no badge. */
export function toBadges(session: SessionSummary): readonly Badge[] {
  const badges: Badge[] = []
  const { live } = session
  if (live !== undefined) {
    if (isWaitingForYou(live)) {
      badges.push({
        kind: 'waiting',
        words: 'waiting for you',
        hint: live.waitingFor ?? 'It needs an answer.',
      })
    } else if (live.status === 'busy') {
      badges.push({ kind: 'busy', words: 'working', hint: 'The agent is at work.' })
    } else if (live.status === 'gone') {
      badges.push({ kind: 'gone', words: 'ended abruptly', hint: 'Its process died without a word.' })
    } else badges.push({ kind: 'idle', words: 'done', hint: 'Open in a terminal, and waiting for nobody.' })
  }
  // The list looks at both ends of a file; the index has read what is between them.
  if (session.state === 'damaged' || (session.state === 'ok' && (session.counts?.damaged ?? 0) > 0))
    badges.push({ kind: 'damaged', words: 'damaged', hint: 'Parts of its file could not be read.' })
  if (session.state === 'unreadable')
    badges.push({ kind: 'damaged', words: 'unreadable', hint: session.problem ?? 'Its file cannot be read.' })
  if (session.sourceGone === true)
    badges.push({
      kind: 'archived',
      words: 'archived',
      hint: "The agent's own file is gone; this is our copy.",
    })
  return badges
}
