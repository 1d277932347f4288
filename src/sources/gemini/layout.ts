import { readdirSync, realpathSync, type Dirent } from 'node:fs'
import { join, sep } from 'node:path'
import { object, parseJson } from '#base'
import { readSmallText } from '../claude/side-files.ts'
import { findStats } from '../folders.ts'

/** A file of Gemini CLI, from its folder alone. */
export interface GeminiFile {
  readonly path: string
  /** Tells this state of it from any other. */
  readonly stamp: string
  readonly size: number
  readonly workdir: string | undefined
  /** Of a subagent: the id of the session that began it, as the name of its folder has it. */
  readonly parent: string | undefined
}

export interface GeminiLayout {
  readonly files: readonly GeminiFile[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

/**
 * Finds the files of every session under `<gemini>/tmp/<project>/chats`. A project's workdir is in its `.project_root`,
 * else in `projects.json`. No link inside is followed.
 */
export function findChats(geminiDir: string): GeminiLayout {
  const problems: { path: string; message: string }[] = []
  const files: GeminiFile[] = []
  let roots: ReadonlyMap<string, string> | undefined
  const tmp = realDir(join(geminiDir, 'tmp'))
  for (const project of entriesOf(tmp, problems)) {
    if (!project.isDirectory()) continue
    const dir = join(tmp, project.name)
    const chats = join(dir, 'chats')
    const children = entriesOf(chats, problems)
    if (children.length === 0) continue
    const written = readSmallText(join(dir, '.project_root'))?.trim()
    roots ??= written === undefined ? readProjects(geminiDir) : roots
    const workdir = written ?? roots?.get(project.name)
    for (const child of children) {
      const path = join(chats, child.name)
      if (child.isFile() && /^session-.*\.jsonl?$/u.test(child.name)) add(path, workdir, undefined)
      if (!child.isDirectory()) continue
      for (const inner of entriesOf(path, problems)) {
        if (inner.isFile() && inner.name.endsWith('.jsonl')) add(join(path, inner.name), workdir, child.name)
      }
    }
  }
  return { files, problems }

  function add(path: string, workdir: string | undefined, parent: string | undefined): void {
    const stats = findStats(path)
    if (stats === undefined) return
    const stamp = `${String(stats.ino)}:${String(stats.size)}:${String(stats.mtimeMs)}`
    files.push({ path, stamp, size: stats.size, workdir, parent })
  }
}

/** The folders in which Gemini CLI makes and changes files: of every project, its own and that of its chats. */
export function findFolders(geminiDir: string, under?: string): readonly string[] {
  const tmp = realDir(join(geminiDir, 'tmp'))
  const found = isFolder(tmp) ? [tmp] : isFolder(geminiDir) ? [geminiDir] : []
  for (const project of entriesOf(tmp)) {
    if (!project.isDirectory()) continue
    const dir = join(tmp, project.name)
    const chats = join(dir, 'chats')
    const inner = entriesOf(chats).flatMap((child) => (child.isDirectory() ? [join(chats, child.name)] : []))
    found.push(...(isFolder(chats) ? [chats, ...inner] : [dir]))
  }
  return under === undefined
    ? found
    : found.filter((dir) => dir === under || dir.startsWith(`${under}${sep}`))
}

/** The folder itself may be a link: people keep it in a repository of dotfiles. */
function realDir(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isFolder(path: string): boolean {
  return findStats(path)?.isDirectory() ?? false
}

function entriesOf(dir: string, problems?: { path: string; message: string }[]): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      problems?.push({ path: dir, message: `cannot be read: ${String(code)}` })
    return []
  }
}

/** Workdirs by the short name of their folder. */
function readProjects(geminiDir: string): ReadonlyMap<string, string> {
  const projects = object(parseJson(readSmallText(join(geminiDir, 'projects.json')) ?? ''), 'projects')
  const byName = new Map<string, string>()
  for (const [workdir, name] of Object.entries(projects ?? {}))
    if (typeof name === 'string') byName.set(name, workdir)
  return byName
}
