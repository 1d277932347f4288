/** Finds the number of a known key by its bytes, without making a string of it. */
export class KeyTable {
  readonly #keys: readonly Uint8Array[]
  /** For each slot the first key that falls there, and for each key the next one in its slot; -1 at the end. */
  readonly #slots: Int16Array = new Int16Array(SLOTS).fill(-1)
  readonly #next: Int16Array

  constructor(keys: readonly string[]) {
    const encoder = new TextEncoder()
    this.#keys = keys.map((key) => encoder.encode(key))
    this.#next = new Int16Array(keys.length).fill(-1)
    this.#keys.forEach((key, index) => {
      const slot = slotOf(key, 0, key.length)
      this.#next[index] = this.#slots[slot]!
      this.#slots[slot] = index
    })
  }

  /** The number of the key that stands in `bytes[from, to)`, or -1. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from
    for (let index = this.#slots[slotOf(bytes, from, to)]!; index >= 0; index = this.#next[index]!) {
      const key = this.#keys[index]!
      if (key.length !== length) continue
      let same = 0
      while (same < length && key[same] === bytes[from + same]) same++
      if (same === length) return index
    }
    return -1
  }
}

const SLOTS = 1024

/** Length, first and middle byte: enough to tell nearly all keys apart. */
function slotOf(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from
  if (length === 0) return 0
  return (length * 67 + bytes[from]! * 13 + bytes[from + (length >> 1)]! * 5) & (SLOTS - 1)
}
