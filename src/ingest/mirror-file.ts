import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isObject, list, number, parseJson, string } from '#base'
import type { LogFile, StoredFile } from '#store'
import { addRange, type Ranges } from './mirror-ranges.ts'

/** What is known of a file of another machine. */
export type MirroredFile = StoredFile & {
  /** Where it is here. */
  readonly here: string
}

/** A file of another machine, as far as it is here: as long as it is there, with holes where nothing was fetched. */
export interface MirrorFile {
  readonly stored: MirroredFile
  /** Tells it from another file that takes its name. */
  readonly identity: string
  readonly ranges: Ranges
  /** Where the last line ends that is known of. */
  readonly size: number
  /** What is said of it is something else now. */
  describe(stored: StoredFile): void
  /** Puts whole lines in their place. */
  write(offset: number, bytes: Buffer): void
  /** A part of a line that comes in pieces; it is there when all of it was said to be. */
  writePiece(offset: number, bytes: Buffer): void
  claim(from: number, to: number): void
  /** Fills the place of lines that stayed on their machine. */
  fillGap(from: number, to: number): void
  /** Gives it its name, in the place of what has it. */
  moveTo(path: string): void
  /** Writes down what is here. What it says is there was on disk before. */
  save(statePath: string): Promise<void>
}

const NEWLINE = 0x0a
/** Stands for lines that were not passed on. */
const HELD = Buffer.from('{"type":"throughline.held"}')

/** Makes an empty one. It has no name that anybody looks for yet. */
export function createMirrorFile(stored: StoredFile, path: string): MirrorFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  closeSync(openSync(path, 'wx', 0o600))
  return toMirrorFile({ stored, path, ranges: [], size: 0 })
}

/** What the last process left of a file, if it is still the one that it wrote. */
export function readMirrorFile(statePath: string): MirrorFile | undefined {
  let value: unknown
  try {
    value = parseJson(readFileSync(statePath, 'utf8'))
  } catch {
    return undefined
  }
  const [path, identity, size] = [string(value, 'here'), string(value, 'identity'), number(value, 'size')]
  const stored = readStored(isObject(value) ? value['stored'] : undefined)
  if (path === undefined || stored === undefined || size === undefined) return undefined
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || `${stats.dev}:${stats.ino}` !== identity || stats.size < size) return undefined
  let ranges: Ranges = []
  for (const range of list(value, 'ranges')) {
    const [from, to] = [number(range, 'from'), number(range, 'to')]
    if (from !== undefined && to !== undefined && to <= size) ranges = addRange(ranges, { from, to })
  }
  // What was written behind it may be torn, and comes again.
  if (stats.size > size) {
    const fd = openSync(path, 'r+')
    ftruncateSync(fd, size)
    closeSync(fd)
  }
  return toMirrorFile({ stored, path, ranges, size })
}

function toMirrorFile(begun: {
  readonly stored: StoredFile
  readonly path: string
  readonly ranges: Ranges
  readonly size: number
}): MirrorFile {
  let { stored, path, ranges, size } = begun
  const { dev, ino } = statSync(path)
  const identity = `${dev}:${ino}`

  /** Into the very file, not into one that has its name by now. */
  function put(offset: number, bytes: Buffer): void {
    const fd = openSync(path, 'r+')
    try {
      const stats = fstatSync(fd)
      if (`${stats.dev}:${stats.ino}` !== identity) return
      for (let done = 0; done < bytes.length;)
        done += writeSync(fd, bytes, done, bytes.length - done, offset + done)
    } finally {
      closeSync(fd)
    }
  }

  function claim(from: number, to: number): void {
    ranges = addRange(ranges, { from, to })
    size = Math.max(size, to)
  }

  return {
    get stored() {
      return { ...stored, here: path }
    },
    identity,
    get ranges() {
      return ranges
    },
    get size() {
      return size
    },
    describe(other) {
      stored = other
    },
    write(offset, bytes) {
      put(offset, bytes)
      claim(offset, offset + bytes.length)
    },
    writePiece: put,
    claim,
    fillGap(from, to) {
      if (from >= to) return
      const blank = Buffer.alloc(to - from, ' ')
      const isLines = stored.kind !== 'side'
      if (isLines && blank.length > HELD.length) HELD.copy(blank)
      blank[blank.length - 1] = NEWLINE
      put(from, blank)
      claim(from, to)
    },
    moveTo(other) {
      mkdirSync(dirname(other), { recursive: true, mode: 0o700 })
      renameSync(path, other)
      path = other
    },
    async save(statePath) {
      const said = JSON.stringify({ here: path, identity, size, ranges, stored })
      const handle = await open(path, 'r+')
      try {
        await handle.datasync()
      } finally {
        await handle.close()
      }
      // Lost in a power cut, it is fetched again: that it never says more than is there is all that counts.
      const temporary = `${statePath}.${randomBytes(6).toString('hex')}.tmp`
      await writeFile(temporary, said, { mode: 0o600 })
      await rename(temporary, statePath)
    },
  }
}

const KINDS: readonly LogFile['kind'][] = ['transcript', 'side', 'journal', 'document', 'name', 'audit']
const SCOPES: readonly LogFile['scope'][] = ['private', 'workdir', 'team']

function readStored(value: unknown): StoredFile | undefined {
  const kind = KINDS.find((known) => known === string(value, 'kind'))
  const scope = SCOPES.find((known) => known === string(value, 'scope'))
  const [origin, identity, path] = [string(value, 'origin'), string(value, 'identity'), string(value, 'path')]
  const [count, size] = [number(value, 'number'), number(value, 'size')]
  if (kind === undefined || scope === undefined || count === undefined || size === undefined) return undefined
  if (origin === undefined || identity === undefined || path === undefined) return undefined
  return {
    kind,
    scope,
    number: count,
    size,
    origin,
    identity,
    path,
    machine: string(value, 'machine') ?? '',
    owner: string(value, 'owner') ?? '',
    agent: string(value, 'agent'),
    session: string(value, 'session'),
    workdir: string(value, 'workdir'),
    place: string(value, 'place'),
    remote: string(value, 'remote'),
  }
}
