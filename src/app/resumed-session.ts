import { join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import type { ResumedSession } from '#drivers'
import type { HostOrder } from '#live'
import type { SessionSummary } from '#model'
import { realPathOf } from './config.ts'
import { readEntries } from './session-entries.ts'

/** From here on a session is not read to know how much an agent should find in it. */
const LARGE_BYTES = 64 * 1024 * 1024

/** What an agent is told of a session that it is to go on with: which one it is, and how much was said in it. */
export async function toResumed(session: SessionSummary): Promise<ResumedSession> {
  const prompts = await countPrompts(session)
  return { sessionId: session.id, ...(prompts === undefined ? {} : { prompts }) }
}

/** What was said to the agent, in the part of the session that it goes on from. Nothing when that is not known. */
async function countPrompts({ path, size }: SessionSummary): Promise<number | undefined> {
  if (path === '' || size > LARGE_BYTES) return undefined
  try {
    const entries = await readEntries(path)
    // What was only ever queued, its agent does not load.
    return entries.filter(
      (entry) => entry.kind === 'prompt' && entry.origin !== 'system' && entry.queued !== true,
    ).length
  } catch {
    // Whether it can be gone on with is for its agent to say.
    return undefined
  }
}

/** Refuses what no agent of this machine knows as its own session. */
export function checkOwn({ id, demo, recorded, origin }: SessionSummary): void {
  if (origin !== undefined) {
    throw new ThroughlineError(
      'request-invalid',
      `session ${id} is on ${origin.machine} of ${origin.person}`,
      {
        hint: 'Go on with it on this machine: `throughline continue`.',
      },
    )
  }
  if (recorded !== undefined) {
    throw new ThroughlineError('request-invalid', `session ${id} was recorded: its agent does not know it`, {
      hint: 'Begin a session in the same folder: it wakes up with what was said in this one.',
    })
  }
  if (demo !== true) return
  throw new ThroughlineError('request-invalid', `session ${id} is a sample: no agent knows it`, {
    hint: 'Begin a session of your own.',
  })
}

/** Where what is said from now on will be read: in a recording of ours, or in what the agent writes itself. */
export function transcriptOf({ path }: SessionSummary, home: string): HostOrder['transcript'] {
  return path.startsWith(join(realPathOf(home), 'recorded') + sep) ? undefined : 'own'
}

/**
 * Gemini CLI names its files by the minute. In the minute in which a session was begun it would begin another one in
 * the same file, and find the first one empty.
 */
export function checkMinute({ id, agent, createdAt = '' }: SessionSummary, now: number): void {
  const at = new Date(now)
  if (agent !== 'gemini' || !at.toISOString().startsWith(createdAt.slice(0, MINUTE)) || createdAt === '')
    return
  throw new ThroughlineError('session-held', `session ${id} was begun this very minute`, {
    hint: `Gemini CLI would empty it. Try again in ${60 - at.getUTCSeconds()} seconds.`,
  })
}

const MINUTE = '2026-01-01T00:00'.length
