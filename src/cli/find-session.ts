import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import { safeLine } from '#render'
import type { Throughline } from '#wire'
import type { Console } from './console.ts'
import { toShortId } from './short.ts'

/**
 * The session to be read: by id, the beginning of one, or its name, of which a part is enough where it fits one session
 * only. That is said. Whatever changes, sends, shares or ends something asks `get`, which takes no parts of names.
 */
export async function findToRead(
  throughline: Throughline,
  query: string,
  console: Console,
): Promise<SessionSummary> {
  try {
    return await throughline.get(query)
  } catch (error) {
    if (!isNotFound(error)) throw error
    const wanted = query.trim().toLowerCase()
    const { sessions } = wanted === '' ? { sessions: [] } : await throughline.list({ text: wanted })
    const [only, another] = sessions.filter(({ name }) => name?.toLowerCase().includes(wanted) === true)
    if (only === undefined || another !== undefined) throw error
    console.say(
      `note: "${safeLine(query)}" is part of the name of ${toShortId(only.id)}: ${safeLine(only.name ?? '')}`,
    )
    return only
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === 'session-not-found'
}
