import { readdirSync, type Dirent } from 'node:fs'
import { join, normalize, sep } from 'node:path'
import { entriesOf, findStats, isDir, realDir, stampOfDirs } from '../folders.ts'
import type { SessionFiles } from '../source.ts'

export interface Layout {
  readonly sessions: readonly SessionFiles[]
  /** Transcripts of subagents that older versions put beside the sessions. */
  readonly looseSubagents: readonly string[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

const ID = /^[A-Za-z0-9_-]{1,128}$/
const SUBAGENTS = 'subagents'

/**
 * Finds every transcript under `<config>/projects`. Looks at the folders themselves, never at an index file, and
 * follows no link inside them. The folder's name says nothing: it is neither reversible nor unique.
 */
export function findTranscripts(configDir: string): Layout {
  const sessions: SessionFiles[] = []
  const looseSubagents: string[] = []
  const problems: { path: string; message: string }[] = []
  // The config folder itself may be a link: people keep it in a repository of dotfiles.
  const root = realDir(join(configDir, 'projects'))
  if (root === undefined) return { sessions, looseSubagents, problems }

  for (const project of list(root)) {
    // Put together by hand from here on: `join` walks every character, and there are thousands of paths.
    const dir = `${root}${sep}${project.name}`
    if (project.isSymbolicLink())
      problems.push({ path: dir, message: 'is a link, and links are not followed' })
    if (!project.isDirectory()) continue
    const children = list(dir)
    const sideDirs = new Set(children.filter((child) => child.isDirectory()).map((child) => child.name))
    for (const child of children) {
      if (!child.name.endsWith('.jsonl')) continue
      const path = `${dir}${sep}${child.name}`
      const id = child.name.slice(0, -'.jsonl'.length)
      if (!child.isFile())
        problems.push({ path, message: 'is not a regular file, and links are not followed' })
      else if (!ID.test(id)) problems.push({ path, message: 'has a name that no session id has' })
      else if (id.startsWith('agent-')) looseSubagents.push(path)
      else sessions.push(sideDirs.has(id) ? { id, path, sideDir: `${dir}${sep}${id}` } : { id, path })
    }
  }
  return { sessions, looseSubagents, problems }

  function list(dir: string): Dirent[] {
    try {
      return readdirSync(dir, { withFileTypes: true })
    } catch (error) {
      problems.push({ path: dir, message: error instanceof Error ? error.message : 'cannot be read' })
      return []
    }
  }
}

/** The subagents' transcripts of a session; nested ones lie in folders of their own in some versions. */
export function findSubagentFiles(sideDir: string): readonly string[] {
  const found: string[] = []
  const visit = (dir: string): void => {
    for (const child of entriesOf(dir)) {
      const path = `${dir}${sep}${child.name}`
      if (child.isDirectory()) visit(path)
      else if (child.isFile() && child.name.startsWith('agent-') && child.name.endsWith('.jsonl'))
        found.push(path)
    }
  }
  visit(`${sideDir}${sep}${SUBAGENTS}`)
  return found
}

/** Full outputs of tools that were too long for their line. */
export function findToolResults(sideDir: string): readonly string[] {
  const dir = `${sideDir}${sep}tool-results`
  return entriesOf(dir)
    .filter((child) => child.isFile())
    .map((child) => `${dir}${sep}${child.name}`)
}

/**
 * The folders in which Claude Code makes, appends to and deletes files: the registry, `projects`, every project, every
 * side folder and its subagents. With `under`, only that folder and those below it. While the registry or `projects`
 * is not there yet, the config folder stands for it, so that its coming is seen.
 */
export function findFolders(configDir: string, under?: string): readonly string[] {
  const registry = join(configDir, 'sessions')
  const projects = join(configDir, 'projects')
  const hasRegistry = leadsToDir(registry)
  if (under === registry) return hasRegistry ? [registry] : []
  const root = realDir(projects)
  if (under !== undefined && under !== configDir && under !== projects && under !== root)
    return root === undefined ? [] : foldersAt(root, under)
  const found: string[] = []
  if ((!hasRegistry || root === undefined) && leadsToDir(configDir)) found.push(configDir)
  if (hasRegistry) found.push(registry)
  if (root === undefined) return found
  found.push(root)
  for (const project of entriesOf(root)) {
    if (project.isDirectory()) collectProject(`${root}${sep}${project.name}`, found)
  }
  return found
}

/**
 * Finds where a file stands in the layout: `projects/<project>/…`, whether `projects` is a folder or a link to one. A
 * path that leads anywhere else, by whatever steps, has no place.
 */
export function createPlaceFinder(configDir: string): (path: string) => string | undefined {
  const named = join(configDir, 'projects')
  let root: string | undefined
  return (path) => {
    if (normalize(path) !== path) return undefined
    if (path.startsWith(`${named}${sep}`)) return `projects${path.slice(named.length)}`
    // Asked again only for a path that does not fit: the link may lead elsewhere now.
    if (root === undefined || !path.startsWith(`${root}${sep}`)) root = realDir(named)
    if (root === undefined || !path.startsWith(`${root}${sep}`)) return undefined
    return `projects${path.slice(root.length)}`
  }
}

/** What `under` is, is told by how deep it lies: a project, a side folder, or a folder of subagents. */
function foldersAt(root: string, under: string): readonly string[] {
  if (!under.startsWith(`${root}${sep}`)) return []
  const parts = under.slice(root.length + 1).split(sep)
  const found: string[] = []
  if (!isDir(under)) return found
  if (parts.length === 1) collectProject(under, found)
  else if (parts.length === 2) collectSide(under, found)
  else if (parts[2] === SUBAGENTS) collectSubagents(under, found)
  return found
}

function collectProject(dir: string, found: string[]): void {
  found.push(dir)
  for (const child of entriesOf(dir)) {
    if (child.isDirectory() && ID.test(child.name)) collectSide(`${dir}${sep}${child.name}`, found)
  }
}

function collectSide(dir: string, found: string[]): void {
  found.push(dir)
  const subagents = `${dir}${sep}${SUBAGENTS}`
  if (isDir(subagents)) collectSubagents(subagents, found)
}

function collectSubagents(dir: string, found: string[]): void {
  found.push(dir)
  for (const child of entriesOf(dir)) {
    if (child.isDirectory()) collectSubagents(`${dir}${sep}${child.name}`, found)
  }
}

/** The config folder and what lies in it directly may be links. */
function leadsToDir(path: string): boolean {
  return findStats(path)?.isDirectory() ?? false
}

/** The times of all folders that sessions' files are in. Empty while one of them is too young to tell. */
export function stampOfFolders(configDir: string, now: number): string {
  const root = realDir(join(configDir, 'projects'))
  if (root === undefined) return 'none'
  const projects = entriesOf(root).flatMap((child) =>
    child.isDirectory() ? [`${root}${sep}${child.name}`] : [],
  )
  return stampOfDirs([root, ...projects], now)
}
