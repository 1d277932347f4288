import type { JsonObject } from '#base'
import { findHookedRepo, runEntireHook, type EntireHook } from './entire-hooks.ts'

/** Tells Entire of one recording, in the order in which things happen. Where nobody asked for it, it does nothing. */
export interface EntireLink {
  /** Before the words are in the transcript: Entire looks at what is added from then on. */
  prompted(prompt: string): Promise<void>
  /** After an answer that calls no tool: the turn is over. */
  answered(model: string | undefined): void
  ended(): Promise<void>
}

export async function createEntireLink(recording: {
  readonly home: string | false
  readonly cwd: string
  readonly sessionId: string
  readonly path: string
  readonly now: () => number
}): Promise<EntireLink> {
  const { home, cwd, sessionId, path, now } = recording
  const repo = await findHookedRepo(home, cwd)
  let said: Promise<void> = Promise.resolve()
  let hasBegun = false

  function say(hook: EntireHook, more: JsonObject = {}): Promise<void> {
    if (repo === undefined) return said
    const payload = {
      session_id: sessionId,
      session_ref: path,
      timestamp: new Date(now()).toISOString(),
      ...more,
    }
    said = said.then(async () => await runEntireHook(hook, repo, payload))
    return said
  }

  return {
    async prompted(prompt) {
      if (!hasBegun) void say('session-start')
      hasBegun = true
      await say('user-prompt-submit', { prompt })
    },
    answered(model) {
      if (hasBegun) void say('stop', model === undefined ? {} : { model })
    },
    async ended() {
      if (hasBegun) await say('session-end')
    },
  }
}
