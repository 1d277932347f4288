import type { SpeakerNames } from '#memory'
import type { RememberRequest } from '#wire'

/** Who said it, and who is in its history: the person, and the device where that is not this machine. */
export interface Signature {
  readonly name: string
  readonly by: string
}

/** The author of what is said at the machine itself. */
export const THIS_MACHINE = 'this machine'

/** Signs what is remembered with the names that the person at this machine has given, where there are any. */
export function toSignature(
  { speaker, agent }: Pick<RememberRequest, 'speaker' | 'agent'>,
  author: string,
  given: Partial<SpeakerNames>,
): Signature {
  if (speaker === 'agent') {
    const name = given.agent ?? agent ?? author
    return { name, by: name }
  }
  const name = given.human ?? author
  return { name, by: name === author || author === THIS_MACHINE ? name : `${name} (${author})` }
}
