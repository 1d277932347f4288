import type { MediaSource } from '#model'

/** An image that a browser may show, as far as its first bytes tell. */
export interface ReadableImage {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif'
  readonly width?: number
  readonly height?: number
}

/** Enough base64 for the headers, those of a photo with a thumbnail too. A multiple of four. */
const HEADER = 96_000

/**
 * What the bytes say they are; the media type somebody wrote beside them decides nothing. `undefined` for what is not
 * shown as an image: SVG is a document that may act.
 */
export function readImage(source: MediaSource): ReadableImage | undefined {
  if (source.kind !== 'base64') return undefined
  const bytes = decodeBase64(source.data.slice(0, HEADER))
  if (bytes === undefined) return undefined
  const view = new DataView(bytes.buffer)
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
    return { type: 'image/png', ...pngSize(view) }
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return { type: 'image/jpeg', ...jpegSize(view) }
  const name = asciiOf(bytes, 0, 12)
  if (name.startsWith('GIF87a') || name.startsWith('GIF89a')) return { type: 'image/gif', ...gifSize(view) }
  if (name.startsWith('RIFF') && name.endsWith('WEBP')) return { type: 'image/webp', ...webpSize(view) }
  return /^ftypavi[fs]$/.test(name.slice(4)) ? { type: 'image/avif' } : undefined
}

/** The bytes of base64 text, or `undefined` when it is none. */
export function decodeBase64(data: string): Uint8Array<ArrayBuffer> | undefined {
  let text: string
  try {
    text = atob(data)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(text.length)
  // A loop, because images are large and `from` with a function is ten times slower.
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

/** The text of base64, for what is shown as text; `undefined` when it is no text. */
export function decodeText(data: string): string | undefined {
  const bytes = decodeBase64(data)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, at) => bytes[at] === byte)
}

function asciiOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}

type Size = { readonly width: number; readonly height: number } | undefined

function pngSize(view: DataView): Size {
  return view.byteLength < 24 ? undefined : toSize(view.getUint32(16), view.getUint32(20))
}

function gifSize(view: DataView): Size {
  return view.byteLength < 10 ? undefined : toSize(view.getUint16(6, true), view.getUint16(8, true))
}

function webpSize(view: DataView): Size {
  // The extended form says how large its canvas is; the others are laid out when they are loaded.
  if (view.byteLength < 30 || view.getUint32(12) !== 0x56503858) return undefined
  const read = (at: number): number => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
  return toSize(read(24), read(27))
}

/** The frame's header is found by going from segment to segment. */
function jpegSize(view: DataView): Size {
  let at = 2
  while (at + 9 < view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return toSize(view.getUint16(at + 7), view.getUint16(at + 5))
    at += 2 + Math.max(2, view.getUint16(at + 2))
  }
  return undefined
}

function toSize(width: number, height: number): Size {
  return width > 0 && height > 0 && width <= 65_535 && height <= 65_535 ? { width, height } : undefined
}
