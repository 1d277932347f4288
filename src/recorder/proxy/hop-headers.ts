import * as zlib from 'node:zlib'

/** Headers that are about one connection only (RFC 9110, 7.6.1), and not for whoever comes next. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** Names and values in turn, as they came, without those that are about the connection. */
export function toEndToEnd(raw: readonly string[], without: readonly string[] = []): string[] {
  const named = pairsOf(raw)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()))
  const left = new Set([...HOP_BY_HOP, ...named, ...without])
  return pairsOf(raw).flatMap(([name, value]) => (left.has(name.toLowerCase()) ? [] : [name, value]))
}

/** What may be packed only in ways that can be unpacked here: older versions of Node know no zstd. */
export function toReadable(raw: readonly string[]): string[] {
  if ('createZstdDecompress' in zlib) return [...raw]
  return pairsOf(raw).flatMap(([name, value]) => {
    if (name.toLowerCase() !== 'accept-encoding') return [name, value]
    const known = value.split(',').filter((one) => !/^\s*zstd\s*(?:;|$)/iu.test(one))
    return [name, known.join(',').trim() || 'identity']
  })
}

/** Names and values in turn, as pairs. */
export function pairsOf(raw: readonly string[]): (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? ''])
  return pairs
}

export function hasHeader(raw: readonly string[], name: string): boolean {
  return pairsOf(raw).some(([one]) => one.toLowerCase() === name)
}
