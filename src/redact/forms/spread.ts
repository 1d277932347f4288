import type { Effort } from '../secret.ts'
import { createSplice, type Splice, type View } from './view.ts'

/** Twelve single characters or more, with the same sign between each two of them. A space among them may be one. */
const SPREAD =
  /\S([ \t\u00a0\u2000-\u200a\u202f\u3000.,|/·•*:;-]| {2}|, )\S\1(?<![A-Za-z0-9]\S\1\S\1)(?:(?:\S|\1(?=\1\S))\1){9,}\S(?!\w)/g

/** What stands so near to a place is read with it. The rest of a text was read without it. */
const NEAR = 1024

/** With words put together again whose characters were spread; `undefined` when there are none. */
export function toGathered(source: View, effort: Effort): View | undefined {
  if (!mayBeSpread(source.text)) return undefined
  // Each place is looked at from at most twelve others.
  effort.spend(source.text.length)
  const found = [...source.text.matchAll(SPREAD)]
  return toNeighbourhoods(source, found, ({ 0: whole, 1: between = ' ', index }, out) => {
    for (let at = 0; at < whole.length; at += 1 + between.length) out.copy(index + at, index + at + 1)
  })
}

/** Looks at every twelfth place: whether the same sign stands at every second one, or at every third. */
function mayBeSpread(text: string): boolean {
  for (let at = 12; at + 11 < text.length; at += 12) {
    for (let shift = 0; shift < 3; shift += 1) {
      const code = text.charCodeAt(at + shift)
      if (IS_WORD[code] === 1 || code === text.charCodeAt(at + shift + 1)) continue
      if (repeats(text, at + shift, 2) || repeats(text, at + shift, 3)) return true
    }
  }
  return false
}

function repeats(text: string, at: number, step: number): boolean {
  const code = text.charCodeAt(at)
  return (
    code === text.charCodeAt(at + step) &&
    code === text.charCodeAt(at + 2 * step) &&
    code === text.charCodeAt(at + 3 * step)
  )
}

const IS_WORD = Uint8Array.from({ length: 128 }, (_, code) => (/\w/.test(String.fromCharCode(code)) ? 1 : 0))

/** What stands around some matches, with something else in the place of each. */
function toNeighbourhoods(
  source: View,
  found: readonly RegExpExecArray[],
  put: (match: RegExpExecArray, out: Splice) => void,
): View | undefined {
  const [first] = found
  if (first === undefined) return undefined
  const out = createSplice(source)
  let from = Math.max(0, first.index - NEAR)
  for (const [nth, match] of found.entries()) {
    out.copy(from, match.index)
    put(match, out)
    const end = match.index + match[0].length
    const next = found[nth + 1]?.index ?? source.text.length + 2 * NEAR
    from = end
    if (next - end <= 2 * NEAR) continue
    out.copy(end, Math.min(end + NEAR, source.text.length))
    from = next - NEAR
    // Two line breaks: nothing goes on behind them.
    if (from < source.text.length) out.put({ text: '\n\n', length: 0 }, from)
  }
  return out.view()
}

/** Where one quoted text ends and the next begins that is added to it: `"a" + "b"`, `'a' . 'b'`, `a""b`, `"a" "b"`. */
const SUM =
  /["'`][ \t]{0,8}(?:[+.~&]|\|\||\.\.|<>)[ \t]{0,8}[A-Za-z]{0,2}["'`]|(["'`])(?<=[\w.~+/=!@#$^*?-] ?\1)[ \t]{0,8}\1(?= ?[\w.~+/=!@#$^*?-])/g
const SUM_OR_LIST = new RegExp(`${SUM.source}|["'\`][ \\t]{0,8},[ \\t]{0,8}["'\`]`, 'g')
/** Where lists of texts are put together. */
const JOINS_LISTS = /join\s{0,4}\(|concat\s{0,4}\(/i

/** With texts put together that a program would put together; `undefined` when there are none. */
export function toSummed(source: View, effort: Effort): View | undefined {
  const { text } = source
  if (!/["'`]/.test(text)) return undefined
  effort.spend(text.length)
  const found = [...text.matchAll(JOINS_LISTS.test(text) ? SUM_OR_LIST : SUM)]
  return toNeighbourhoods(source, found, (_, out) => out.joint())
}
