import { createHash } from 'node:crypto'
import { constants, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { SettingsFile } from '#model'
import type { FolderPlace } from './folder-places.ts'

/** A file, and its text where that was read. */
export interface FoundFile {
  readonly file: SettingsFile
  readonly path: string
  readonly kind: FolderPlace['kind']
  readonly text?: string | undefined
}

export interface FolderLimits {
  /** A longer file is not read. */
  readonly fileBytes: number
  /** Files beyond these are counted, and told apart by size and time only. */
  readonly files: number
  /** So many names are looked at. */
  readonly names: number
}

export const FOLDER_LIMITS: FolderLimits = { fileBytes: 4 * 1024 * 1024, files: 2_000, names: 50_000 }

export interface FileFinder {
  /** Everything in a place, once: a file that was found before is not found again. */
  find(place: FolderPlace): Promise<readonly FoundFile[]>
  /** What was left out, as one file, if anything was. */
  rest(): FoundFile | undefined
}

/** Reads files of a folder, each once, as an agent would: through links, but never from anything that is no file. */
export function createFileFinder(workdir: string, limits: FolderLimits): FileFinder {
  const seen = new Set<string>()
  const rest = createHash('sha256')
  let [names, files, left, leftBytes] = [0, 0, 0, 0]

  async function* walk(
    place: FolderPlace,
    path: string,
    above: readonly string[],
  ): AsyncGenerator<FoundFile> {
    if (seen.has(path) || ++names > limits.names) {
      if (names > limits.names) left += 1
      return
    }
    seen.add(path)
    const link = await lstat(path).catch(() => undefined)
    if (!link) return
    const real = await realpath(path).catch(() => undefined)
    const target = real === undefined ? undefined : await stat(real).catch(() => undefined)
    if (real === undefined || !target) {
      yield found(place, path, {
        bytes: 0,
        hash: sha256(await readlink(path).catch(() => '')),
        problem: 'a link that leads nowhere',
      })
      return
    }
    if (target.isDirectory()) {
      // A link back to a folder above would never end.
      if (above.includes(real)) return
      const inside: readonly string[] = await readdir(real).catch(() => [])
      for (const name of inside.toSorted((a, b) => (a < b ? -1 : 1)))
        yield* walk(place, join(path, name), [...above, real])
      return
    }
    const out = leadsOut(real, place.inside) ? `a link that leads to ${real}` : undefined
    if (!target.isFile()) {
      yield found(place, path, { bytes: 0, hash: sha256('no file'), problem: 'not a file' })
      return
    }
    if (++files > limits.files) {
      left += 1
      leftBytes += target.size
      rest.update(`${path}\0${target.size}\0${target.mtimeMs}\0`)
      return
    }
    yield await readFound(place, path, { real, problem: out })
  }

  async function readFound(
    place: FolderPlace,
    path: string,
    { real, problem }: { readonly real: string; readonly problem: string | undefined },
  ): Promise<FoundFile> {
    const bytes = await readBounded(real, limits.fileBytes)
    if (bytes instanceof Uint8Array) {
      const text = new TextDecoder().decode(bytes)
      return found(place, path, { bytes: bytes.length, hash: sha256(bytes), problem }, text)
    }
    const { size, mtimeMs } = bytes
    const why = size > limits.fileBytes ? 'too long to be read' : 'cannot be read'
    return found(place, path, {
      bytes: size,
      hash: sha256(`${size}\0${mtimeMs}`),
      problem: problem === undefined ? why : `${problem}, ${why}`,
    })
  }

  function found(
    place: FolderPlace,
    path: string,
    what: Omit<SettingsFile, 'path'>,
    text?: string,
  ): FoundFile {
    const { bytes, hash, problem } = what
    const file = { path: relative(workdir, path), bytes, hash, ...(problem === undefined ? {} : { problem }) }
    return { file, path, kind: place.kind, text }
  }

  return {
    async find(place) {
      const all: FoundFile[] = []
      for await (const one of walk(place, place.path, [])) all.push(one)
      return all
    },
    rest() {
      if (left === 0) return undefined
      const problem = `${left} more files, which were not read`
      return {
        file: { path: '…', bytes: leftBytes, hash: rest.copy().digest('hex'), problem },
        path: '',
        kind: 'text',
      }
    },
  }
}

function leadsOut(real: string, inside: string): boolean {
  return !real.startsWith(inside.endsWith('/') ? inside : `${inside}/`)
}

/** Its bytes, or what is known of it when it is too long or cannot be read. Where somebody put a pipe, nobody waits. */
async function readBounded(
  path: string,
  most: number,
): Promise<Uint8Array | { readonly size: number; readonly mtimeMs: number }> {
  const unread = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }))
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (!file) return unread
  try {
    const at = await file.stat()
    if (!at.isFile() || at.size > most) return at
    const bytes = Buffer.alloc(at.size)
    let end = 0
    for (let read = 1; read > 0 && end < bytes.length; end += read) {
      read = (await file.read(bytes, end, bytes.length - end, end)).bytesRead
    }
    return bytes.subarray(0, end)
  } catch {
    return unread
  } finally {
    await file.close()
  }
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
