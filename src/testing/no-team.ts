import type { TeamCalls } from '#wire'

function refuse(): never {
  throw new Error('there is no team here')
}

/** Of something that is in no team. */
export const NO_TEAM: TeamCalls = {
  status: refuse,
  people: refuse,
  machines: refuse,
  revoke: refuse,
  shares: refuse,
  share: refuse,
  unshare: refuse,
  continueHere: refuse,
  authors: refuse,
}
