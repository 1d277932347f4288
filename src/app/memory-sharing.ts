import { ThroughlineError } from '#base'
import { findSharingObstacle, type SharedContent, type SharingObstacle } from '#memory'
import type { MemoryDocument } from '#model'

/** Throws `request-invalid` for a document that others are not to read. */
export function checkSharing(document: SharedContent): void {
  const obstacle = findSharingObstacle(document)
  if (obstacle === undefined) return
  const [message, hint] = OBSTACLES[obstacle]
  throw new ThroughlineError('request-invalid', message, { hint })
}

/** What belongs to somebody else is changed by him. */
export function refuseOthers({ id, elsewhere }: MemoryDocument): never {
  throw new ThroughlineError('not-allowed', `${id} belongs to ${elsewhere?.person ?? 'somebody else'}`, {
    hint: 'Remember it in your own words, or ask its owner to change it.',
  })
}

const OBSTACLES: Readonly<Record<SharingObstacle, readonly [message: string, hint: string]>> = {
  held: ['it waits for a person, and is shared with nobody', 'Approve it first.'],
  secret: ['it looks like it holds a secret, and is shared with nobody', 'Take the secret out first.'],
  instructs: [
    'it reads like an instruction to an agent, and is shared with nobody',
    'Say what is so, instead of what to do.',
  ],
  type: ['messages and files are not shared as documents', 'Share the session they stand in.'],
  folder: ['it was learned in no folder', 'Share it with the team, or say which folder it belongs to.'],
}
