import { grown } from './grown.ts'

/** Gives ids numbers, the first one 0. Small enough for all ids of the largest session, and exact. */
export interface IdTable {
  readonly size: number
  /** The number of an id, a new one where it has none yet. */
  add(id: string): number
  has(id: string): boolean
  /** -1 for an id that was never added. */
  find(id: string): number
  idOf(number: number): string
}

/** How the characters of an id are kept. */
const UUID = 0
const ASCII = 1
const OTHER = 2

const UUID_WORDS = 4
const LONGEST_ASCII = 255

/** Ids are kept as numbers where they are UUIDs, as bytes where they are ASCII, and as they are otherwise. */
export function createIdTable(): IdTable {
  let size = 0
  let forms = new Uint8Array(64)
  /** Where the characters of each are, in the list of its form. */
  let places = new Uint32Array(64)
  let words = new Uint32Array(64)
  let wordCount = 0
  let bytes = new Uint8Array(64)
  let byteCount = 0
  const others: string[] = []
  // Ids come from foreign files: which of them fall together is nothing that a file can know.
  const seed = (Math.random() * 0x7fffffff) | 0
  let slots = new Int32Array(128).fill(-1)

  function isAt(number: number, id: string, isUuid: boolean): boolean {
    const place = places[number] ?? 0
    switch (forms[number]) {
      case UUID:
        if (!isUuid) return false
        for (let at = 0; at < UUID_WORDS; at++) if (words[place + at] !== uuid[at]) return false
        return true
      case ASCII:
        if (isUuid || bytes[place] !== id.length) return false
        for (let at = 0; at < id.length; at++) if (bytes[place + 1 + at] !== id.charCodeAt(at)) return false
        return true
      default:
        return others[place] === id
    }
  }

  /** The slot of an id: that of its number, or the free one where that belongs. */
  function slotOf(id: string, isUuid: boolean): number {
    const last = slots.length - 1
    for (let slot = hashOf(id, isUuid) & last; ; slot = (slot + 1) & last) {
      const number = slots[slot] ?? -1
      if (number === -1 || isAt(number, id, isUuid)) return slot
    }
  }

  function hashOf(id: string, isUuid: boolean): number {
    let hash = seed
    if (isUuid) for (let at = 0; at < UUID_WORDS; at++) hash = mix(hash, uuid[at] ?? 0)
    else for (let at = 0; at < id.length; at++) hash = mix(hash, id.charCodeAt(at))
    return finish(hash)
  }

  /** The same, from what is kept of it. */
  function hashAt(number: number): number {
    const place = places[number] ?? 0
    let hash = seed
    switch (forms[number]) {
      case UUID:
        for (let at = 0; at < UUID_WORDS; at++) hash = mix(hash, words[place + at] ?? 0)
        return finish(hash)
      case ASCII:
        for (let at = 1; at <= (bytes[place] ?? 0); at++) hash = mix(hash, bytes[place + at] ?? 0)
        return finish(hash)
      default:
        return hashOf(others[place] ?? '', false)
    }
  }

  function keep(id: string, isUuid: boolean): void {
    if (size === forms.length) {
      forms = grown(forms)
      places = grown(places)
    }
    if (isUuid) {
      if (wordCount + UUID_WORDS > words.length) words = grown(words)
      words.set(uuid, wordCount)
      forms[size] = UUID
      places[size] = wordCount
      wordCount += UUID_WORDS
    } else if (isAscii(id)) {
      while (byteCount + id.length + 1 > bytes.length) bytes = grown(bytes)
      forms[size] = ASCII
      places[size] = byteCount
      bytes[byteCount++] = id.length
      for (let at = 0; at < id.length; at++) bytes[byteCount++] = id.charCodeAt(at)
    } else {
      forms[size] = OTHER
      places[size] = others.length
      others.push(id)
    }
    size++
  }

  function growSlots(): void {
    slots = new Int32Array(slots.length * 2).fill(-1)
    const last = slots.length - 1
    for (let number = 0; number < size; number++) {
      let slot = hashAt(number) & last
      while (slots[slot] !== -1) slot = (slot + 1) & last
      slots[slot] = number
    }
  }

  return {
    get size() {
      return size
    },
    add(id) {
      const isUuid = readUuid(id)
      const slot = slotOf(id, isUuid)
      const known = slots[slot] ?? -1
      if (known !== -1) return known
      slots[slot] = size
      keep(id, isUuid)
      if (size > slots.length * FULL) growSlots()
      return size - 1
    },
    has: (id) => slots[slotOf(id, readUuid(id))] !== -1,
    find: (id) => slots[slotOf(id, readUuid(id))] ?? -1,
    idOf(number) {
      const place = places[number] ?? 0
      if (number < 0 || number >= size) return ''
      switch (forms[number]) {
        case UUID:
          return toText(words.subarray(place, place + UUID_WORDS))
        case ASCII:
          return String.fromCharCode(...bytes.subarray(place + 1, place + 1 + (bytes[place] ?? 0)))
        default:
          return others[place] ?? ''
      }
    },
  }
}

/** So much of the slots may be taken. */
const FULL = 0.7

/** What was read last: nothing is asked of it later. */
const uuid = new Uint32Array(UUID_WORDS)

/** Only as it is written everywhere: another spelling of the same one is another id. */
function readUuid(id: string): boolean {
  if (id.length !== 36) return false
  let digits = 0
  let word = 0
  for (let at = 0; at < 36; at++) {
    const code = id.charCodeAt(at)
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== DASH) return false
      continue
    }
    const digit = code >= A && code <= F ? code - A + 10 : code >= ZERO && code <= NINE ? code - ZERO : -1
    if (digit === -1) return false
    word = (word << 4) | digit
    digits++
    if ((digits & 7) === 0) uuid[(digits >>> 3) - 1] = word
  }
  return true
}

const DASH = 0x2d
const ZERO = 0x30
const NINE = 0x39
const A = 0x61
const F = 0x66

function toText(four: Uint32Array): string {
  const hex = Array.from(four, (word) => word.toString(16).padStart(8, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function isAscii(id: string): boolean {
  if (id.length > LONGEST_ASCII) return false
  for (let at = 0; at < id.length; at++) if (id.charCodeAt(at) > 0x7f) return false
  return true
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x5bd1e995) ^ (hash >>> 15)
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 13), 0x5bd1e995)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
