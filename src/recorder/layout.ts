import { lstat, readdir, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { field, string, ThroughlineError } from '#base'
import { readJournal } from '#journal'

/** Where the files of one recording are. */
export interface Layout {
  readonly cwd: string
  readonly sessionId: string
  /** `.entire/metadata/<session>` in the working directory. */
  readonly folder: string
  /** The lines: `full.jsonl`, or those of a subagent. */
  readonly path: string
}

export const TRANSCRIPT = 'full.jsonl'
export const PROMPT_FILE = 'prompt.txt'
export const CONTEXT_FILE = 'context.md'
export const SUBAGENTS = 'subagents'
export const BLOBS = 'blobs'
/** Held while somebody finishes a recording that was left behind. */
export const FINISHING = 'finishing'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const SESSION_ID = new RegExp(`^\\d{4}-\\d{2}-\\d{2}-${UUID}$`)
const BARE_UUID = new RegExp(`^${UUID}$`)
const AGENT_ID = /^[A-Za-z0-9_-]{1,128}$/

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}

/** `{date}-{uuid}`, the date in UTC. */
export function toSessionId(now: number, uuid: string): string {
  return `${new Date(now).toISOString().slice(0, 10)}-${uuid}`
}

export function metadataFolder(cwd: string): string {
  return join(resolve(cwd), '.entire', 'metadata')
}

export function layoutOf(cwd: string, sessionId: string, agentId?: string): Layout {
  const folder = join(metadataFolder(cwd), sessionId)
  if (agentId === undefined) return { cwd, sessionId, folder, path: join(folder, TRANSCRIPT) }
  if (!AGENT_ID.test(agentId)) {
    throw new ThroughlineError('bad-usage', `the id of a subagent cannot be ${JSON.stringify(agentId)}`, {
      hint: 'Letters, digits, - and _, at most 128 of them: it names a file.',
    })
  }
  return { cwd, sessionId, folder, path: join(folder, SUBAGENTS, `agent-${agentId}.jsonl`) }
}

/**
 * The id of a recording that somebody names: by all of it, or by its uuid alone. A whole id that is nowhere yet is
 * one that nothing was written to.
 */
export async function getSessionId(cwd: string, named: string): Promise<string> {
  if (isSessionId(named)) return named
  const names = await namesIn(metadataFolder(cwd))
  const [found, other] = BARE_UUID.test(named) ? names.filter((name) => name.endsWith(`-${named}`)) : []
  if (found !== undefined && other === undefined && isSessionId(found)) return found
  throw new ThroughlineError('session-not-found', `no recording ${JSON.stringify(named)} in ${cwd}`, {
    hint: 'Give the name of its folder in .entire/metadata, or the uuid in it.',
  })
}

/** Ids of the recordings in a working directory, the newest day first. Sessions of Entire itself are not among them. */
export async function findRecordings(cwd: string): Promise<readonly string[]> {
  const metadata = metadataFolder(cwd)
  if (await findLink(cwd, metadata)) return []
  const ids: string[] = []
  for (const name of (await namesIn(metadata)).filter(isSessionId).toSorted().toReversed()) {
    if ((await findOwner(layoutOf(cwd, name))) === 'recorder') ids.push(name)
  }
  return ids
}

/**
 * Who wrote a transcript. The lines of this recorder name the agent, and the folder as their session. Copies that
 * Entire makes of the transcripts of others name the agent's own session, and no agent.
 */
export async function findOwner({ cwd, path, sessionId }: Layout): Promise<'recorder' | 'other' | undefined> {
  if (await findLink(cwd, path)) return 'other'
  for await (const item of readJournal(path)) {
    if (item.kind !== 'line') continue
    const isOurs = string(item.value, 'agent') !== undefined && string(item.value, 'sessionId') === sessionId
    return isOurs ? 'recorder' : 'other'
  }
  return undefined
}

/**
 * Refuses a way to a recording that leads through a symbolic link, or through something that is no folder. A link
 * in a repository may come from whoever wrote the repository, and would have transcripts written wherever it points.
 */
export async function checkWay({ cwd, path }: Layout): Promise<void> {
  const folder = await stat(cwd).catch(() => undefined)
  if (!folder?.isDirectory()) {
    throw new ThroughlineError('folder-not-found', `there is no folder ${cwd} to record in`, {
      hint: 'Give the working directory of the agent.',
    })
  }
  const link = await findLink(cwd, path)
  if (link === undefined) return
  throw new ThroughlineError('folder-not-found', `${link} leads elsewhere, and nothing is recorded there`, {
    hint: 'Make .entire and .entire/metadata folders of their own, or record in the folder it points to.',
  })
}

/** The first thing on the way from `.entire` to `path` that is neither a folder nor, at its end, a file. */
async function findLink(cwd: string, path: string): Promise<string | undefined> {
  let at = resolve(cwd)
  for (const name of relative(at, path).split(sep)) {
    at = join(at, name)
    const found = await lstat(at).catch((error: unknown) => {
      if (field(error, 'code') === 'ENOENT') return undefined
      throw error
    })
    if (!found) return undefined
    if (!found.isDirectory() && !(at === path && found.isFile())) return at
  }
  return undefined
}

export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const code = field(error, 'code')
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
