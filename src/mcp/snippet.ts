import { isObject } from '#base'
import type { Entry } from '#model'
import type { SearchHit } from '#wire'
import { toPlain, type Quoting } from './quoting.ts'
import type { Desk } from './tool.ts'

const LONGEST_CHECKED = 512 * 1024
const LONG_WORD = 20
const LEFT_OUT = '[…]'

/**
 * The piece of an entry that a search shows, without secrets. A piece may hold the half of one that nobody would know
 * for what it is, so what is a secret is told by the whole entry.
 */
export async function readSnippet({ throughline, quoting }: Desk, hit: SearchHit): Promise<string> {
  const shown = quoting.clean(hit.snippet.text)
  const whole = await readWhole()
  const hidden = whole === undefined ? undefined : toHidden(whole, quoting)
  if (hidden?.size === 0) return shown
  return shown
    .split(' ')
    .map((word) => (isSecret(word, hidden) ? LEFT_OUT : word))
    .join(' ')

  async function readWhole(): Promise<string | undefined> {
    const session = await throughline.get(hit.session.id)
    const { readings } = await throughline.page(session, {
      limit: 1,
      before: hit.entry.cursor,
      raw: false,
      ...(hit.subagent === undefined ? {} : { subagent: hit.subagent }),
    })
    const reading = readings.at(-1)
    if (reading?.kind !== 'entry' || reading.entry.id !== hit.entry.id) return undefined
    const text = textsOf(reading.entry).join('\n')
    return text === '' || text.length > LONGEST_CHECKED ? undefined : text
  }
}

/** Without the entry to tell, every long word might be one. */
function isSecret(word: string, hidden: ReadonlySet<string> | undefined): boolean {
  const bare = word.replace(/^…|…$/g, '')
  if (hidden === undefined) return bare.length >= LONG_WORD && !bare.startsWith('[redacted:')
  if (hidden.has(bare)) return true
  // Only a word at an end of the piece can be cut.
  return bare !== '' && bare !== word && [...hidden].some((secret) => secret.includes(bare))
}

/** The words that are gone once the secrets are masked, as they are written and as they are shown. */
function toHidden(whole: string, quoting: Quoting): ReadonlySet<string> {
  const left = new Set(wordsOf(quoting.clean(whole)))
  return new Set(wordsOf(whole).filter((word) => word !== '' && !left.has(word)))
}

function wordsOf(text: string): readonly string[] {
  const plain = toPlain(text)
  return [text, plain, plain.replace(UNSEEN, '')].flatMap((each) => each.split(/\s+/))
}

/** What a snippet leaves out. */
// oxlint-disable-next-line no-control-regex -- they are what is left out
const UNSEEN = /\u001b\][^\u0007\u001b\n]{0,2048}(?:\u0007|\u001b\\)|[^\P{C}\s]/gu

/** Every text in an entry but its raw line, whatever it belongs to. */
function textsOf(entry: Entry): readonly string[] {
  const texts: string[] = []
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') texts.push(value)
    else if (depth > 20 || ArrayBuffer.isView(value)) return
    else if (Array.isArray(value)) for (const one of value) visit(one, depth + 1)
    else if (isObject(value)) for (const one of Object.values(value)) visit(one, depth + 1)
  }
  visit(entry, 0)
  return texts
}
