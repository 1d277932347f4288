import { createDirectiveStream, type DirectiveStream } from '#model'
import type { Sign } from './signed-text.ts'

/** What of a reply that is being written can be shown. */
export interface ToldSoFar {
  /** One character stands for each sign. */
  readonly text: string
  readonly signs: ReadonlyMap<string, Sign>
}

const FIRST = 0xe000
const MOST = 300
const OURS = /[\uE000-\uE12B]/g

/**
 * Reads a text that grows: a call costs what was added. What may yet become a directive is held back. A text that is
 * not the one before with something behind it begins anew.
 */
export function createToldStream(): (text: string) => ToldSoFar {
  let seen = ''
  let stream: DirectiveStream = createDirectiveStream()
  let shown = ''
  let signs: ReadonlyMap<string, Sign> = new Map()
  /** How much of what the stream gave has been shown: its places count without our characters. */
  let given = 0

  return (text) => {
    if (!text.startsWith(seen)) {
      stream = createDirectiveStream()
      shown = ''
      signs = new Map()
      given = 0
      seen = ''
    }
    const reading = stream.push(text.slice(seen.length))
    seen = text
    const found = [
      ...reading.directives.map((directive) => ({
        at: directive.at,
        sign: { kind: 'directive' as const, directive },
      })),
      ...reading.notices.map((notice) => ({ at: notice.at, sign: { kind: 'notice' as const, notice } })),
    ].toSorted((a, b) => a.at - b.at)
    const next = new Map(signs)
    // A character of the text that we use ourselves is shown as one that nobody knows, until the reply is written.
    const piece = reading.text.replaceAll(OURS, '\uFFFD')
    let last = 0
    for (const { at, sign } of found) {
      if (next.size >= MOST) break
      const character = String.fromCharCode(FIRST + next.size)
      next.set(character, sign)
      const from = Math.min(piece.length, Math.max(last, at - given))
      shown += `${piece.slice(last, from)} ${character} `
      last = from
    }
    shown += piece.slice(last)
    given += piece.length
    if (next.size > signs.size) signs = next
    return { text: shown, signs }
  }
}
