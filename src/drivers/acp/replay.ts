import { field, string } from '#base'
import type { StartOptions } from '../driver.ts'
import { toForgotten, type AgentName } from './acp-errors.ts'
import { methodOf, type AgentNature } from './acp-session.ts'

/** What an agent tells again of a session that it goes on with, before anything new is said. */
export interface Replay {
  hear(update: unknown): void
  /** How many prompts were in it. */
  prompts(): number
  /** Resolves when nothing more of it comes: some agents say that they are ready first. */
  settled(): Promise<void>
}

/** How long nothing comes when nothing more will. */
const QUIET_MS = 150
/** …and how long that is waited for. */
const PATIENCE_MS = 10_000

export function createReplay(): Replay {
  const named = new Set<string>()
  let unnamed = 0
  let heardAt = 0

  return {
    hear(update) {
      heardAt = performance.now()
      if (string(update, 'sessionUpdate') !== 'user_message_chunk') return
      const id = string(update, 'messageId')
      if (id !== undefined) named.add(id)
      else if (!isContext(string(field(update, 'content'), 'text') ?? '')) unnamed += 1
    },
    prompts: () => named.size + unnamed,
    async settled() {
      const begun = performance.now()
      heardAt = begun
      for (;;) {
        const now = performance.now()
        const left = Math.min(heardAt + QUIET_MS, begun + PATIENCE_MS) - now
        if (left <= 0) return
        await new Promise((resolve) => setTimeout(resolve, left))
      }
    },
  }
}

/**
 * Hears what was said in a session that goes on. Throws when the agent knows nothing of it; says in words for a person
 * when it knows less than there was.
 */
export async function findMissing(
  replay: Replay,
  {
    agent,
    nature,
    resume,
  }: { readonly agent: AgentName; readonly nature: AgentNature; readonly resume: StartOptions['resume'] },
): Promise<string | undefined> {
  if (!resume || resume.fork || methodOf(nature, resume) !== 'session/load') return undefined
  await replay.settled()
  const { prompts = 0 } = resume
  const heard = replay.prompts()
  if (heard >= prompts) return undefined
  if (heard === 0) throw toForgotten(agent, resume.sessionId)
  return `${agent.title} has found ${heard} of the ${prompts} prompts of this session.`
}

/** What an agent told its model about itself, which is no prompt of anybody. */
function isContext(text: string): boolean {
  return /^\s*<(?:session_context|environment_context|user_instructions)>/u.test(text)
}
