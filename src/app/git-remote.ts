import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * The repository that a folder is a clone of, the same on every machine: `github.com/owner/name`, whether it is reached
 * by ssh or https, and without whatever lets one in. Nothing for a folder in no clone, or of a clone of another folder.
 */
export function findRemote(workdir: string): string | undefined {
  for (let at = workdir; ; at = dirname(at)) {
    const config = findConfig(join(at, '.git'))
    if (config !== undefined) {
      const url = findUrl(config)
      return url === undefined ? undefined : toRemote(url)
    }
    if (at === dirname(at)) return undefined
  }
}

/** The settings of a repository, those of a worktree in the repository that it is one of. */
function findConfig(git: string): string | undefined {
  try {
    const stats = statSync(git, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    if (stats.isDirectory()) return readFileSync(join(git, 'config'), 'utf8')
    const link = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]
    if (link === undefined) return undefined
    const folder = resolve(dirname(git), link.trim())
    const common = readOrNothing(join(folder, 'commondir'))
    return readFileSync(join(resolve(folder, common?.trim() ?? '.'), 'config'), 'utf8')
  } catch {
    return undefined
  }
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The address of `origin`, or of the first remote there is. */
function findUrl(config: string): string | undefined {
  const urls = new Map<string, string>()
  let remote: string | undefined
  for (const line of config.split('\n')) {
    const section = /^\s*\[(.*)\]\s*$/.exec(line)?.[1]
    if (section !== undefined) remote = /^remote "(.+)"$/.exec(section.trim())?.[1]
    const url = /^\s*url\s*=\s*(.+?)\s*$/.exec(line)?.[1]
    if (remote !== undefined && url !== undefined && !urls.has(remote)) urls.set(remote, url)
  }
  const [first] = urls.values()
  return urls.get('origin') ?? first
}

/** An address of a repository as it is the same everywhere. Nothing for one on this machine. */
export function toRemote(url: string): string | undefined {
  const named = /^(?:https?|ssh|git|git\+ssh):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/+(.+)$/i.exec(url)
  const short = /^(?:[^@/\s:]+@)?([^/:\s]{2,}):(?!\/\/)(.+)$/.exec(url)
  const [, host, path] = named ?? short ?? []
  if (host === undefined || path === undefined) return undefined
  const name = path
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '')
    .replace(/^\/+/, '')
  return name === '' ? undefined : `${host.toLowerCase()}/${name}`
}
