import { Transform } from 'node:stream'
import * as zlib from 'node:zlib'

/** Unpacks a copy of the bytes of a body, beside those that are passed on. */
export interface Unpacker {
  /** The next bytes as they came. They may be used for something else as soon as this returns. */
  add(bytes: Uint8Array): void
  /** Resolves when everything that can be unpacked was given. Never rejects: `false` says that something could not be. */
  end(): Promise<boolean>
}

/**
 * Unpacks what a `content-encoding` names: gzip, deflate with or without its header, br, zstd where Node has it, and
 * several on top of each other. Without one, bytes that begin as gzip or zstd do are unpacked nevertheless. A body
 * that was cut gives what it can; one that is damaged, or packed in a way nobody here knows, what came before.
 */
export function createUnpacker(
  contentEncoding: string | undefined,
  onBytes: (bytes: Uint8Array) => void,
): Unpacker {
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity')
  if (encodings.length === 0) return createStage(findPacking, onBytes)
  // The one that was put on last is taken off first.
  let next: Unpacker | undefined
  for (const encoding of encodings) {
    const inner = next
    next = createStage(
      (first) => toPacking(encoding, first),
      inner ? (bytes) => inner.add(bytes) : onBytes,
      inner,
    )
  }
  return next ?? createStage(findPacking, onBytes)
}

type Packing = 'none' | 'unknown' | (() => Transform)

function createStage(
  choose: (first: Uint8Array) => Packing,
  onBytes: (bytes: Uint8Array) => void,
  inner?: Unpacker,
): Unpacker {
  let packing: Packing | undefined
  let stream: Transform | undefined
  let isSound = true
  let isOver: Promise<void> = Promise.resolve()

  function open(make: () => Transform): Transform {
    const opened = make()
    opened.on('data', (bytes: Uint8Array) => {
      try {
        if (isSound) onBytes(bytes)
      } catch {
        // Thrown from here it would end the process.
        isSound = false
      }
    })
    isOver = new Promise((resolve) => {
      opened.once('close', resolve)
      opened.once('error', () => {
        isSound = false
        resolve()
      })
    })
    return opened
  }

  return {
    add(bytes) {
      if (bytes.length === 0) return
      packing ??= choose(bytes)
      if (packing === 'none') return onBytes(bytes)
      if (packing === 'unknown') {
        isSound = false
        return
      }
      stream ??= open(packing)
      if (isSound && stream.writable) stream.write(Buffer.from(bytes))
    },
    async end() {
      if (stream && isSound) stream.end()
      await isOver
      const isInnerSound = (await inner?.end()) ?? true
      return isSound && isInnerSound
    },
  }
}

/** A cut end is no mistake: everything up to it is given. */
const AS_FAR_AS_IT_GOES = { finishFlush: zlib.constants.Z_SYNC_FLUSH }

function toPacking(encoding: string, first: Uint8Array): Packing {
  if (encoding === 'gzip' || encoding === 'x-gzip') return () => zlib.createGunzip(AS_FAR_AS_IT_GOES)
  if (encoding === 'br')
    return () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })
  if (encoding === 'deflate') {
    const hasHeader = ((first[0] ?? 0) & 0x0f) === 8
    return () =>
      hasHeader ? zlib.createInflate(AS_FAR_AS_IT_GOES) : zlib.createInflateRaw(AS_FAR_AS_IT_GOES)
  }
  if (encoding === 'zstd') return zstd() ?? 'unknown'
  return 'unknown'
}

/** Neither a stream of events nor JSON begins with one of these bytes. */
function findPacking(first: Uint8Array): Packing {
  if (first[0] === 0x1f) return () => zlib.createGunzip(AS_FAR_AS_IT_GOES)
  if (first[0] === 0x28) return zstd() ?? 'unknown'
  return 'none'
}

/** Node has it since 22.15. */
function zstd(): (() => Transform) | undefined {
  if (!('createZstdDecompress' in zlib) || typeof zlib.createZstdDecompress !== 'function') return undefined
  const create = zlib.createZstdDecompress
  return () => {
    const made: unknown = create()
    // Whatever it is, it unpacks nothing, and that is told at the end.
    return made instanceof Transform ? made : zlib.createGunzip()
  }
}
