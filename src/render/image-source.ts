import type { MediaSource } from '#model'

/** How the four kinds of image that are shown begin, in base64. */
const BEGINNINGS: readonly (readonly [beginning: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGODdh', 'image/gif'],
  ['R0lGODlh', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/**
 * The `data:` address of an image, or `undefined` when it is none that is safe to show. What the bytes are is read
 * from the bytes; the media type somebody wrote beside them decides nothing.
 */
export function toImageAddress(source: MediaSource): string | undefined {
  if (source.kind !== 'base64') return undefined
  const data = source.data.replace(/\s+/g, '')
  const type = BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1]
  if (type === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined
  // RIFF holds sounds and films too. `WEBP` stands at byte 8: the low bits of one character and the next four.
  if (type === 'image/webp' && data.slice(11, 16) !== 'XRUJQ') return undefined
  return `data:${type};base64,${data}`
}
