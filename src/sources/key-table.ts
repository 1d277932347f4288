/** Finds the number of a known key by its bytes, without making a string of it. */
export class KeyTable {
  readonly #keys: readonly Uint8Array[]
  readonly #bySignature: ReadonlyMap<number, readonly number[]>

  constructor(keys: readonly string[]) {
    const encoder = new TextEncoder()
    this.#keys = keys.map((key) => encoder.encode(key))
    const bySignature = new Map<number, number[]>()
    this.#keys.forEach((key, index) => {
      const signature = signatureOf(key, 0, key.length)
      bySignature.set(signature, [...(bySignature.get(signature) ?? []), index])
    })
    this.#bySignature = bySignature
  }

  /** The number of the key that stands in `bytes[from, to)`, or -1. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const candidates = this.#bySignature.get(signatureOf(bytes, from, to))
    if (candidates === undefined) return -1
    for (const index of candidates) {
      const key = this.#keys[index]!
      let same = 0
      while (same < key.length && key[same] === bytes[from + same]) same++
      if (same === key.length) return index
    }
    return -1
  }
}

/** Length, first and middle byte: enough to tell nearly all keys apart. */
function signatureOf(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from
  return length === 0 ? 0 : (length << 16) | (bytes[from]! << 8) | bytes[from + (length >> 1)]!
}
