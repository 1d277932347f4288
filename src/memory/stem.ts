/** What an ending becomes, when enough of a word stands before it. */
type Endings = readonly (readonly [ending: string, becomes: string])[]

const STEP_2: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]
const STEP_3: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const STEP_4: readonly string[] = [
  'ement',
  'ance',
  'ence',
  'able',
  'ible',
  'ment',
  'ant',
  'ent',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
  'al',
  'er',
  'ic',
  'ou',
]

/**
 * The stem of an English word in small letters, after M. F. Porter, "An algorithm for suffix stripping" (1980). What
 * has other letters than a to z is its own stem.
 */
export function toStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  let stem = toSingular(word)
  stem = withoutPast(stem)
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  stem = withEnding(stem, STEP_2)
  stem = withEnding(stem, STEP_3)
  stem = withoutLast(stem)
  return withoutE(stem)
}

function toSingular(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const cut = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const stem = word.slice(0, word.length - cut)
  if (cut === 0 || !hasVowel(stem)) return word
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

function withEnding(word: string, endings: Endings): string {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (!found) return word
  const stem = word.slice(0, -found[0].length)
  return measure(stem) > 0 ? stem + found[1] : word
}

function withoutLast(word: string): string {
  if (/[st]ion$/.test(word)) return measure(word.slice(0, -3)) > 1 ? word.slice(0, -3) : word
  const ending = STEP_4.find((one) => word.endsWith(one))
  if (ending === undefined) return word
  const stem = word.slice(0, -ending.length)
  return measure(stem) > 1 ? stem : word
}

function withoutE(word: string): string {
  let stem = word
  if (stem.endsWith('e')) {
    const rest = stem.slice(0, -1)
    const size = measure(rest)
    if (size > 1 || (size === 1 && !endsShort(rest))) stem = rest
  }
  return stem.endsWith('ll') && measure(stem) > 1 ? stem.slice(0, -1) : stem
}

/** c for a consonant and v for a vowel; y is a vowel after a consonant. */
function toShape(word: string): string {
  let shape = ''
  for (const letter of word) {
    const isVowel = 'aeiou'.includes(letter) || (letter === 'y' && shape.endsWith('c'))
    shape += isVowel ? 'v' : 'c'
  }
  return shape
}

function measure(word: string): number {
  return toShape(word).match(/v+c+/g)?.length ?? 0
}

function hasVowel(word: string): boolean {
  return toShape(word).includes('v')
}

/** Ends consonant, vowel, consonant, the last not w, x or y: as in "hop". */
function endsShort(word: string): boolean {
  return toShape(word).endsWith('cvc') && !/[wxy]$/.test(word)
}
