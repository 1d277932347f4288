import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { field, number, parseJson, string } from '#base'
import type { ProcessId } from '#drivers'
import { replaceFile } from '#journal'
import { isSessionId } from '#wire'

/** What a host leaves in `<home>/run`, for those who look for it. */
export interface RunFile {
  readonly sessionId: string
  /** Names this run of the host. */
  readonly run: string
  readonly process: ProcessId
}

export interface RunPaths {
  readonly folder: string
  readonly file: string
  readonly socket: string
  /** What a host says when it fails. */
  readonly errors: string
  /** Of this name is the lock that makes it the only host of its session. */
  readonly lock: string
}

/** Where the files of a host are. The id of a session names files: it has to be one (`isSessionId`). */
export function runPaths(home: string, sessionId: string): RunPaths {
  const folder = join(home, 'run')
  return {
    folder,
    file: join(folder, `${sessionId}.json`),
    socket: join(folder, `${sessionId}.sock`),
    errors: join(folder, `${sessionId}.err`),
    lock: join(folder, sessionId),
  }
}

/** Makes `<home>/run` for its owner alone. */
export async function makeRunFolder(home: string): Promise<void> {
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o700 })
}

export async function writeRunFile(home: string, { sessionId, run, process }: RunFile): Promise<void> {
  const { file } = runPaths(home, sessionId)
  await replaceFile(file, `${JSON.stringify({ sessionId, run, ...process })}\n`)
}

/** What a host left, or `undefined` when there is nothing that makes sense. */
export async function findRunFile(home: string, sessionId: string): Promise<RunFile | undefined> {
  const value = await readFile(runPaths(home, sessionId).file, 'utf8').then(parseJson, () => undefined)
  const run = string(value, 'run')
  const pid = number(value, 'pid')
  const start = string(value, 'start')
  if (string(value, 'sessionId') !== sessionId || run === undefined) return undefined
  return pid === undefined || start === undefined ? undefined : { sessionId, run, process: { pid, start } }
}

/** Takes away everything that a host left, but its lock. */
export async function removeRunFiles(home: string, sessionId: string): Promise<void> {
  const { file, socket, errors } = runPaths(home, sessionId)
  for (const path of [socket, errors, file]) await rm(path, { force: true })
}

/** The sessions that have, or had, a host: whatever it left. */
export async function listRuns(home: string): Promise<readonly string[]> {
  try {
    const names = await readdir(join(home, 'run'))
    const ids = names.flatMap((name) => /^([^.]+)\.(?:json|sock|err)$/.exec(name)?.[1] ?? [])
    return [...new Set(ids)].filter(isSessionId)
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  }
}
