/** Halves of characters that stand alone, and noughts: JSON can say them, and providers refuse them. */
const UNSOUND = /[\0\p{Cs}]/u
const EVERY_UNSOUND = /[\0\p{Cs}]/gu

/** Finds what may be unsound without looking at whole characters, which takes far longer. */
const SUSPECT = /[\0\uD800-\uDFFF]/

export function isSoundText(text: string): boolean {
  return !SUSPECT.test(text) || !UNSOUND.test(text)
}

/** The text with whatever no provider takes replaced by U+FFFD. The same string when there is nothing of the kind. */
export function toSoundText(text: string): string {
  return isSoundText(text) ? text : text.replaceAll(EVERY_UNSOUND, '\uFFFD')
}

/** The value with every string in it made sound, keys too. The same value when all of it is. */
export function toSoundValue(value: unknown): unknown {
  if (typeof value === 'string') return toSoundText(value)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map(toSoundValue)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const sound = members.map(([key, member]) => [toSoundText(key), toSoundValue(member)] as const)
  const isSame = sound.every(([key, member], index) => {
    const before = members[index]
    return before !== undefined && key === before[0] && member === before[1]
  })
  return isSame ? value : Object.fromEntries(sound)
}
