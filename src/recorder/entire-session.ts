import { mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { field, string, ThroughlineError } from '#base'
import { findLockHolder, replaceFile } from '#journal'
import { linesFrom } from './entire-transcript.ts'
import { checkWay, metadataFolder, namesIn, TRANSCRIPT } from './layout.ts'

/** The transcript of a session that Entire asks for, by its id or by the uuid in it. */
export async function resolveSessionFile(folder: string, id: string): Promise<string> {
  if (id === '' || id === '.' || id === '..' || /[/\\\0]/.test(id)) {
    throw new ThroughlineError('session-not-found', `no session can be called ${JSON.stringify(id)}`, {
      hint: 'Give the name of a folder in .entire/metadata.',
    })
  }
  const names = await namesIn(folder)
  const name = names.includes(id) ? id : (names.find((each) => each.endsWith(`-${id}`)) ?? id)
  return join(folder, name, TRANSCRIPT)
}

/** The session that a transcript belongs to. */
export function sessionIdOf(path: string): string {
  return basename(path) === TRANSCRIPT ? basename(dirname(path)) : ''
}

/** When a session began, as its first line tells. */
export function startOf(bytes: Buffer): string | undefined {
  return linesFrom(bytes, 0)
    .map((line) => string(line, 'timestamp'))
    .find((at) => at !== undefined)
}

/** The bytes of a transcript; `undefined` when it is not there. */
export async function findTranscript(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return undefined
    throw error
  })
}

/**
 * Writes a transcript that Entire brings back. Nothing that was recorded is taken away by it: what is there is only
 * added to, and not while a process records it.
 */
export async function writeSessionFile(repo: string, path: string, bytes: Buffer): Promise<void> {
  const way = relative(metadataFolder(repo), resolve(path)).split(sep)
  if (way.length !== 2 || way[0] === '..' || way[1] !== TRANSCRIPT)
    throw refusal(path, 'it is none of a session')
  const sessionId = way[0] ?? ''
  await checkWay({ cwd: repo, sessionId, folder: dirname(path), path: resolve(path) })
  const there = await findTranscript(path)
  if (there?.equals(bytes)) return
  if (there && !bytes.subarray(0, there.length).equals(there))
    throw refusal(path, 'it has something else already')
  if ((await findLockHolder(path)) !== undefined) throw refusal(path, 'it is being recorded')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await replaceFile(path, bytes)
}

function refusal(path: string, reason: string): ThroughlineError {
  return new ThroughlineError('output-unwritable', `${path} is not written: ${reason}`, {
    hint: 'Nothing that was recorded is changed. Move its folder away to have it written.',
  })
}
