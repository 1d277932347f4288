import { constants, gunzipSync, inflateSync } from 'node:zlib'

/** What is packed may be a thousand times as long: so much is unpacked for one text, and no more. */
export interface Unpacking {
  left: number
}

export function createUnpacking(): Unpacking {
  return { left: 2_000_000 }
}

/** What gzip or zlib packed, as far as it is whole, or that it is too long to be looked through. */
export type Unpacked = { readonly state: 'unpacked'; readonly text: string } | { readonly state: 'too-long' }

/** Takes and gives one character for each byte; `undefined` when nothing was packed. */
export function unpack(bytes: string, unpacking: Unpacking): Unpacked | undefined {
  const [first, second] = [bytes.charCodeAt(0), bytes.charCodeAt(1)]
  const isGzip = first === 0x1f && second === 0x8b
  const isZlib = first === 0x78 && (second === 0x01 || second === 0x9c || second === 0xda)
  if (!isGzip && !isZlib) return undefined
  if (unpacking.left <= 0) return { state: 'too-long' }
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: unpacking.left }
  try {
    const packed = Buffer.from(bytes, 'latin1')
    const text = (isGzip ? gunzipSync(packed, options) : inflateSync(packed, options)).toString('latin1')
    unpacking.left -= text.length
    return { state: 'unpacked', text }
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined
    unpacking.left = 0
    return { state: 'too-long' }
  }
}
