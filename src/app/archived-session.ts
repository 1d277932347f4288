import { copyFileSync, constants, cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { field, ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import { realPathOf } from './config.ts'
import type { Config } from './throughline.ts'

/** Agents that find a session by its file alone, and where theirs are. The others keep an account of their sessions. */
function rootOf(agent: string, config: Config): string | undefined {
  if (agent === 'claude') return config.claudeDir
  return agent === 'codex' ? config.codexDir : undefined
}

/**
 * Writes a session that is only in the archive back to where its agent looks for it, with what lies beside it. Nothing
 * that is there is touched. Says whether there was something to write. Rejects with `session-not-found` and the command
 * that goes on with it as a new session where the agent would not find it.
 */
export function bringBack(session: SessionSummary, config: Config): boolean {
  const { id, agent, path, sourceGone } = session
  if (sourceGone !== true) return false
  const root = rootOf(agent, config)
  const place = relative(join(realPathOf(join(config.home, 'archive')), agent), realPathOf(path))
  if (root === undefined || place.startsWith('..') || isAbsolute(place) || place.startsWith(`replaced${sep}`))
    throw new ThroughlineError(
      'session-not-found',
      `session ${id} is only in the archive, where ${agent} does not find it`,
      { hint: `Continue it as a new session: throughline resume ${id} --in ${agent}` },
    )
  const original = join(root, place)
  mkdirSync(dirname(original), { recursive: true, mode: 0o700 })
  const beside = path.replace(/\.jsonl$/u, '')
  // The session itself comes last: whoever finds it finds all of it.
  if (beside !== path && existsSync(beside))
    cpSync(beside, original.replace(/\.jsonl$/u, ''), { recursive: true, force: false })
  try {
    copyFileSync(path, original, constants.COPYFILE_EXCL)
  } catch (error) {
    if (field(error, 'code') !== 'EEXIST') throw error
  }
  return true
}

/** The session where its agent finds it. */
export async function findReady(
  session: SessionSummary,
  known: {
    readonly config: Config
    readonly look: () => Promise<void>
    readonly get: (query: string) => Promise<SessionSummary>
  },
): Promise<SessionSummary> {
  if (!bringBack(session, known.config)) return session
  await known.look()
  return await known.get(session.id)
}
