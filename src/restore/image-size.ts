/** How large a picture is, in pixels. */
interface ImageSize {
  readonly width: number
  readonly height: number
}

/** What the first bytes of a picture say of it; nothing when they are those of no picture that is known. */
export interface ImageFacts {
  readonly mediaType: string
  readonly size: ImageSize | undefined
}

/** Reads the head of a picture. Never throws; most of what can be wrong with one shows here. */
export function readImage(bytes: Buffer): ImageFacts | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47]))
    return { mediaType: 'image/png', size: pair(bytes, 16, 'be32') }
  if (startsWith(bytes, [0x47, 0x49, 0x46, 0x38]))
    return { mediaType: 'image/gif', size: pair(bytes, 6, 'le16') }
  if (startsWith(bytes, [0xff, 0xd8])) return { mediaType: 'image/jpeg', size: readJpeg(bytes) }
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return { mediaType: 'image/webp', size: readWebp(bytes) }
  return undefined
}

function startsWith(bytes: Buffer, head: readonly number[]): boolean {
  return head.every((byte, at) => bytes[at] === byte)
}

function pair(bytes: Buffer, at: number, how: 'be32' | 'be16' | 'le16'): ImageSize | undefined {
  const step = how === 'be32' ? 4 : 2
  if (bytes.length < at + 2 * step) return undefined
  const read = (from: number): number =>
    how === 'be32'
      ? bytes.readUInt32BE(from)
      : how === 'be16'
        ? bytes.readUInt16BE(from)
        : bytes.readUInt16LE(from)
  return { width: read(at), height: read(at + step) }
}

/** The size stands in the frame, which comes after any number of other segments. */
function readJpeg(bytes: Buffer): ImageSize | undefined {
  let at = 2
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) {
      const size = pair(bytes, at + 5, 'be16')
      return size && { width: size.height, height: size.width }
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

function readWebp(bytes: Buffer): ImageSize | undefined {
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8 ') {
    const size = pair(bytes, 26, 'le16')
    return size && { width: size.width & 0x3fff, height: size.height & 0x3fff }
  }
  if (kind === 'VP8X' && bytes.length >= 30)
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8L' && bytes.length >= 25) {
    const bits = bytes.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
  }
  return undefined
}
