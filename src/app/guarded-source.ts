import { accessSync, constants } from 'node:fs'
import { findSystemRefusal, string } from '#base'
import type { Source, SourceProblem } from '#sources'

/**
 * A source that takes no other one down: what goes wrong in an agent's folder is a problem that names the folder, and
 * the sessions of all other agents are there. `folder`: where the agent keeps its sessions.
 */
export function guardedSource(source: Source, folder: string): Source {
  /** What keeps the folder from being read, unless the source has said so itself. */
  function withFolder(problems: readonly SourceProblem[]): readonly SourceProblem[] {
    const own = findProblem(folder)
    const isTold = problems.some(({ path }) => path.startsWith(folder))
    return own === undefined || isTold ? problems : [...problems, own]
  }

  async function guarded<T extends { readonly problems: readonly SourceProblem[] }>(
    ask: () => Promise<T>,
    none: T,
  ): Promise<T> {
    try {
      const found = await ask()
      return { ...found, problems: withFolder(found.problems) }
    } catch (error) {
      return { ...none, problems: withFolder([toProblem(folder, error)]) }
    }
  }

  return {
    ...source,
    at: (root) => source.at(root),
    folders: (under) => attempt(() => source.folders(under), []),
    stamp: (now) => attempt(() => source.stamp(now), ''),
    live: () => attempt(() => source.live(), new Map()),
    find: () => guarded(() => source.find(), { sessions: [], problems: [] }),
    list: () => guarded(() => source.list(), { sessions: [], problems: [] }),
  }
}

function attempt<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}

/** Why nothing can be read of a folder. One that is not there is not in the way. */
function findProblem(folder: string): SourceProblem | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const code = string(error, 'code')
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : toProblem(folder, error)
  }
}

function toProblem(folder: string, error: unknown): SourceProblem {
  const refusal = findSystemRefusal(error)
  const reason =
    refusal === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : `${refusal.says} (${string(error, 'code')})`
  return {
    path: folder,
    message: `cannot be read: ${reason}`,
    hint: `Its sessions are missing here; all others are complete. Check the permissions: ls -ld ${folder}`,
  }
}
