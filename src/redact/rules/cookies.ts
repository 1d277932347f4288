import type { Effort, Secret } from '../secret.ts'
import { isDense, isPlaceholder, isReference } from './values.ts'

const HEADER = /(?:set-)?cookie2?["'\]]{0,2}[ \t]{0,4}[:= ][ \t]{0,4}["'`]{0,2}(?=[\w.$%-]{1,80}=)/gi
const PAIR = /([\w.$%-]{1,80})=("?)([^\s;,"'`\\<>]{0,4096})\2(?:;[ \t]{0,4})?/y
const MOST = 100

/** Names that say that whoever has the value is let in. */
const LETS_IN =
  /sess|(?:^|[._-])s?sid|auth|token|jwt|remember|secret|login|passw|ticket|bearer|credential|identity/i

/** One line of a jar of curl: domain, flags, path, time, name and value. */
const JAR =
  /\t(?:TRUE|FALSE)\t\/[^\t\n]{0,400}\t(?:TRUE|FALSE)\t\d{1,20}\t([^\t\n]{1,200})\t([^\s\t]{1,4096})/g

/** Values of cookies that let somebody in, and those that chance made. */
export function findCookies(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  const note = (name: string, start: number, value: string): void => {
    if (isReference(value) || isPlaceholder(value)) return
    const isOne = LETS_IN.test(name) ? value.length >= 6 : value.length >= 16 && isDense(value.slice(0, 64))
    if (isOne) found.push({ kind: 'cookie', start, end: start + value.length, confidence: 'likely' })
  }
  for (const header of text.matchAll(HEADER)) {
    PAIR.lastIndex = header.index + header[0].length
    for (let count = 0; count < MOST; count += 1) {
      const pair = PAIR.exec(text)
      if (pair === null) break
      const [whole, name = '', quote = '', value = ''] = pair
      effort.spend(whole.length)
      note(name, pair.index + name.length + 1 + quote.length, value)
    }
  }
  if (!text.includes('\tTRUE\t') && !text.includes('\tFALSE\t')) return found
  effort.spend(text.length)
  for (const { 0: line, 1: name = '', 2: value = '', index } of text.matchAll(JAR)) {
    note(name, index + line.length - value.length, value)
  }
  return found
}
