import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/** Something in a folder that Claude Code reads: a file, or a folder with everything below it. */
export interface FolderPlace {
  readonly path: string
  /** `config`: of an agent whose settings are not understood here; they are shown as they are. */
  readonly kind: 'settings' | 'servers' | 'text' | 'script' | 'config'
  /** Links that lead out of it are told. */
  readonly inside: string
}

/** Read in every folder from the session's up to the root of the file system, also above a repository. */
const EVERYWHERE: readonly (readonly [string, FolderPlace['kind']])[] = [
  ['.mcp.json', 'servers'],
  ['CLAUDE.md', 'text'],
  ['CLAUDE.local.md', 'text'],
  ['AGENTS.md', 'text'],
  ['.claude/CLAUDE.md', 'text'],
  ['.claude/rules', 'text'],
]

/** Read up to the root of the repository, or to that of the file system where there is none. */
const IN_REPOSITORY: readonly (readonly [string, FolderPlace['kind']])[] = [
  ['.claude/agents', 'text'],
  ['.claude/commands', 'text'],
  ['.claude/skills', 'text'],
  ['.claude/output-styles', 'text'],
  ['.claude/workflows', 'text'],
]

/** Read in the session's folder and at the root of its repository; that of a worktree has two. */
const AT_ROOT: readonly (readonly [string, FolderPlace['kind']])[] = [
  ['.claude/settings.json', 'settings'],
  ['.claude/settings.local.json', 'settings'],
  ['.claude/scheduled_tasks.json', 'script'],
  ['.claude/hooks', 'script'],
]

/** What other agents load: a folder is trusted for all of them. */
const OF_OTHERS: readonly (readonly [string, FolderPlace['kind']])[] = [
  ['.codex', 'config'],
  ['.gemini', 'config'],
  ['.opencode', 'config'],
  ['opencode.json', 'config'],
  ['opencode.jsonc', 'config'],
  ['GEMINI.md', 'text'],
]

/**
 * Where Claude Code looks for settings, servers and instructions when it is started in a folder that is trusted; seen
 * with version 2.1. `userDir` is a person's own folder of settings, which no project brings along.
 */
export async function findPlaces(
  workdir: string,
  userDir: string | undefined,
): Promise<readonly FolderPlace[]> {
  const real = await realpath(workdir)
  const roots = await findRoots(real)
  const user = userDir === undefined ? undefined : await realpath(userDir).catch(() => resolve(userDir))
  const places: FolderPlace[] = []
  const add = (folder: string, names: typeof EVERYWHERE, inside: string): void => {
    for (const [name, kind] of names) {
      const path = join(folder, name)
      if (user !== undefined && (path === user || path.startsWith(`${user}/`))) continue
      if (!places.some((place) => place.path === path)) places.push({ path, kind, inside })
    }
  }
  const top = roots[0]
  let isInRepository = true
  for (const folder of upwards(real)) {
    const inside = isInRepository && top !== undefined ? top : folder
    if (folder === real || roots.includes(folder)) add(folder, AT_ROOT, inside)
    add(folder, EVERYWHERE, inside)
    if (isInRepository) add(folder, [...IN_REPOSITORY, ...OF_OTHERS], inside)
    if (folder === top) isInRepository = false
  }
  for (const root of roots.slice(1)) add(root, AT_ROOT, root)
  return places
}

/** A folder and everything above it. */
function upwards(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...upwards(above)]
}

/** The root of the repository a folder is in, and that of the repository it is a worktree of. */
async function findRoots(folder: string): Promise<readonly string[]> {
  for (const root of upwards(folder)) {
    const git = join(root, '.git')
    const found = await lstat(git).catch(() => undefined)
    if (!found) continue
    if (!found.isFile() || found.size > 4_096) return [root]
    const [, at = ''] = /^gitdir: (.+)$/m.exec(await readFile(git, 'utf8').catch(() => '')) ?? []
    const gitDir = isAbsolute(at) ? at : join(root, at)
    const main = /^(.+)\/\.git\/worktrees\/[^/]+$/.exec(gitDir)?.[1]
    return main === undefined ? [root] : [root, main]
  }
  return []
}
