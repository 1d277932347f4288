import { spawn } from 'node:child_process'
import { join, relative, resolve, sep } from 'node:path'
import { boolean, string, type JsonObject } from '#base'
import { openSharedJournal, readJournal } from '#journal'

/** What Entire is told of a recording, as it happens. */
export type EntireHook = 'session-start' | 'user-prompt-submit' | 'stop' | 'session-end'

export const ENTIRE_HOOKS: readonly EntireHook[] = [
  'session-start',
  'user-prompt-submit',
  'stop',
  'session-end',
]

/** Entire takes a picture of the working tree; it must not hold the agent up for ever. */
const PATIENCE_MS = 10_000

/**
 * Whether Entire is told of recordings in a repository. It stands in the home of the person and not in the repository:
 * whoever wrote the repository has no say in what is run here.
 */
export async function noteEntireHooks(
  home: string,
  repo: string,
  { wanted, now }: { readonly wanted: 'on' | 'off'; readonly now: () => number },
): Promise<'changed' | 'unchanged'> {
  const path = resolve(repo)
  if ((await readEntireHooks(home)).includes(path) === (wanted === 'on')) return 'unchanged'
  const journal = await openSharedJournal(hooksPath(home))
  try {
    await journal.append({ repo: path, installed: wanted === 'on', at: new Date(now()).toISOString() })
    return 'changed'
  } finally {
    await journal.close()
  }
}

/** The repositories whose recordings Entire is told of. */
export async function readEntireHooks(home: string): Promise<readonly string[]> {
  const repos = new Set<string>()
  for await (const item of readJournal(hooksPath(home))) {
    const repo = item.kind === 'line' ? string(item.value, 'repo') : undefined
    if (repo === undefined || item.kind !== 'line') continue
    if (boolean(item.value, 'installed') === true) repos.add(repo)
    else repos.delete(repo)
  }
  return [...repos]
}

/** The repository that a folder is in, when Entire is told of what is recorded there. */
export async function findHookedRepo(home: string | false, cwd: string): Promise<string | undefined> {
  if (home === false) return undefined
  const repos = await readEntireHooks(home).catch(() => [])
  return repos.find((repo) => {
    const way = relative(repo, cwd)
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(repo, way) === resolve(cwd))
  })
}

/** Tells Entire. Resolves when it has taken note, or cannot; never rejects: a recording does not depend on it. */
export async function runEntireHook(hook: EntireHook, repo: string, payload: JsonObject): Promise<void> {
  await new Promise<void>((done) => {
    const child = spawn('entire', ['hooks', 'throughline', hook], {
      cwd: repo,
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    child.on('error', () => done())
    child.on('exit', () => done())
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(payload)}\n`)
  })
}

function hooksPath(home: string): string {
  return join(home, 'entire-hooks.jsonl')
}
