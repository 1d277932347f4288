import { readdirSync, realpathSync, type Dirent } from 'node:fs'
import { join, sep } from 'node:path'

/** The files of one session, as Claude Code lays them out. */
export interface SessionFiles {
  readonly id: string
  readonly path: string
  /** `<project>/<id>/`, where subagents, tool results and small side files are. */
  readonly sideDir?: string
}

export interface Layout {
  readonly sessions: readonly SessionFiles[]
  /** Transcripts of subagents that older versions put beside the sessions. */
  readonly looseSubagents: readonly string[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/**
 * Finds every transcript under `<config>/projects`. Looks at the folders themselves, never at an index file, and
 * follows no link inside them. The folder's name says nothing: it is neither reversible nor unique.
 */
export function findTranscripts(configDir: string): Layout {
  const sessions: SessionFiles[] = []
  const looseSubagents: string[] = []
  const problems: { path: string; message: string }[] = []
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
  visit(`${sideDir}${sep}subagents`)
  return found
}

/** Full outputs of tools that were too long for their line. */
export function findToolResults(sideDir: string): readonly string[] {
  const dir = `${sideDir}${sep}tool-results`
  return entriesOf(dir)
    .filter((child) => child.isFile())
    .map((child) => `${dir}${sep}${child.name}`)
}

/** What is in a folder that may not be there. */
function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The config folder itself may be a link: people keep it in a repository of dotfiles. */
function realDir(dir: string): string | undefined {
  try {
    return realpathSync(dir)
  } catch {
    return undefined
  }
}
