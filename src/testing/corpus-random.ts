/**
 * The only source of chance in a corpus. A seed gives the same numbers on every machine and every run;
 * `child(label)` gives an independent stream, so one session does not change when another grows.
 */
export interface Random {
  /** In [0, 1). */
  next(): number
  /** Whole number in [min, max]. */
  int(min: number, max: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  logNormal(median: number, sigma: number): number
  uuid(): string
  hex(length: number): string
  /** Letters and digits, as in `msg_01…` and `toolu_01…`. */
  token(length: number): string
  child(label: string): Random
}

export function createRandom(seed: number, stream = 0): Random {
  // sfc32: 128 bits of state. With 32, two of a hundred thousand made-up ids would be the same one.
  let [first, second, third, counter] = [seed >>> 0, stream >>> 0, 0x9e3779b9, 1]

  function word(): number {
    const sum = (((first + second) >>> 0) + counter) >>> 0
    counter = (counter + 1) >>> 0
    first = (second ^ (second >>> 9)) >>> 0
    second = (third + (third << 3)) >>> 0
    third = ((((third << 21) | (third >>> 11)) >>> 0) + sum) >>> 0
    return sum
  }
  // The first words still look like the seed.
  for (let round = 0; round < 12; round++) word()

  const random: Random = {
    next: () => word() / 0x1_0000_0000,
    int: (min, max) => min + Math.floor(random.next() * (max - min + 1)),
    chance: (probability) => random.next() < probability,
    pick(items) {
      const item = items[Math.floor(random.next() * items.length)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
    logNormal(median, sigma) {
      const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
      return median * Math.exp(sigma * normal)
    },
    uuid() {
      const a = hexWord(word())
      const b = hexWord(word())
      const c = hexWord(word())
      const variant = '89ab'.charAt(word() & 3)
      return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${hexWord(word())}`
    },
    hex(length) {
      let text = ''
      while (text.length < length) text += hexWord(word())
      return text.slice(0, length)
    },
    token(length) {
      let text = ''
      for (let i = 0; i < length; i++) text += ALPHABET.charAt(word() % ALPHABET.length)
      return text
    },
    child: (label) => createRandom(hashOf(`${seed}/${stream}/${label}`), hashOf(`${label}/${seed}`)),
  }
  return random
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function hexWord(value: number): string {
  return value.toString(16).padStart(8, '0')
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
