import { isMasked, type Effort, type Secret } from '../secret.ts'
import { endBeforeWords, type View } from '../forms/view.ts'
import { findInCommands } from './commands.ts'
import { findCookies } from './cookies.ts'
import type { Family } from './families.ts'
import { findInFiles } from './known-files.ts'
import { createScan } from './scan.ts'
import { isBasic, isDense, isMixed, isPlaceholder, isReference } from './values.ts'

/** What is said around a value that makes it a secret: a name, a header, a place in an address. */
export function findInContext(view: View, families: ReadonlySet<Family>, effort: Effort): readonly Secret[] {
  const { text } = view
  effort.spend(text.length * 2)
  return [
    ...findNamed(view, effort),
    ...findAuthorised(text, effort),
    ...findInAddresses(text, effort),
    ...(families.has('cookies') ? findCookies(text, effort) : []),
    ...(families.has('commands') ? findInCommands(text, effort) : []),
    ...(families.has('files') ? findInFiles(text, effort) : []),
  ]
}

const NAME =
  /passw(?:or)?[dt]|passphrase|passwd|pwd|secret|token|api[-_ ]?key|access[-_]?key|private[-_]?key|auth[-_]?key|encryption[-_]?key|signing[-_]?key|account[-_]?key|credential|connection[-_]?string/i
const findName = createScan(NAME, 'pas pwd sec tok api acc pri aut enc sig cre con'.split(' '))

/** Between the name and its value: the rest of the name, a quote, and what says that a value follows. */
const JOINER = /([\w.-]{0,40})["'\]]{0,2}[ \t]{0,8}(?::=|=>|==?|:)[ \t]{0,8}/y
/** `password is …`, `--token …` */
const SPOKEN = /[\w-]{0,20}(?: is |[ \t]+is:[ \t]+| )/y
const QUOTED = /(?:[a-z]{0,2})(["'`])([^"'`\s]{4,512})\1/y
const BARE = /[^\s"'`,;()<>{}[\]&|\\]{4,256}/y

function findNamed(view: View, effort: Effort): readonly Secret[] {
  const { text } = view
  const found: Secret[] = []
  let from = 0
  for (let match = findName(text, from); match !== null; match = findName(text, from)) {
    const named = match.index + match[0].length
    from = named
    const whole =
      valueAfter(text, named) ?? optionAfter(text, match.index, named) ?? spokenAfter(text, match[0], named)
    effort.spend(64 + (whole === undefined ? 0 : whole.end - match.index))
    if (whole === undefined) continue
    const end = whole.quoted ? whole.end : endBeforeWords(view, whole, { least: 1, longestWord: 512 })
    const value = { ...whole, end, text: text.slice(whole.start, end) }
    const kind = kindOf(match[0])
    if (!isSecretValue(value, { kind, name: text.slice(Math.max(0, match.index - 24), value.joinedAt) }))
      continue
    found.push({ kind, start: value.start, end: value.end, confidence: 'likely' })
    from = value.end
  }
  return found
}

function kindOf(name: string): string {
  if (/pass|pwd/i.test(name)) return 'password'
  if (/token/i.test(name)) return 'token'
  return /key/i.test(name) ? 'key' : 'secret'
}

interface Value {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly quoted: boolean
  /** Where the name ended. */
  readonly joinedAt: number
  /** `NAME=value` without a space, as in a shell or a file of settings. */
  readonly isSetting: boolean
}

function valueAfter(text: string, named: number): Value | undefined {
  JOINER.lastIndex = named
  const joiner = JOINER.exec(text)
  if (joiner === null) return undefined
  const joinedAt = named + (joiner[1]?.length ?? 0)
  const start = named + joiner[0].length
  return valueAt(text, start, { joinedAt, isSetting: text.slice(joinedAt, start) === '=' })
}

/** `--password hunter2` */
function optionAfter(text: string, start: number, named: number): Value | undefined {
  if (!/--?[\w-]{0,20}$/.test(text.slice(Math.max(0, start - 24), start))) return undefined
  SPOKEN.lastIndex = named
  const spoken = SPOKEN.exec(text)
  if (spoken === null) return undefined
  return valueAt(text, named + spoken[0].length, { joinedAt: named, isSetting: false })
}

const SAYS =
  /[ \t]{1,4}(?:[\w ]{0,40}?[ \t])?(?:(?:is|was|be|ist|lautet)(?: now| still| (?:re)?set to| changed to)?|to|=)[ \t]*:?[ \t]{1,4}/y
/** What is said of passwords that is none. */
const ABOUT = /^(?:sha|base|md|utf|argon|aes|rsa|bcrypt|scrypt|pbkdf|v)-?\d|^\d+[a-z]*$|\//i

const WORD = /[^\s"'`,;()<>{}[\]\\]{4,256}/y

/** `the password is Tr0ub4dor`, `the password for staging was changed to …` */
function spokenAfter(text: string, name: string, named: number): Value | undefined {
  if (kindOf(name) !== 'password') return undefined
  SAYS.lastIndex = named
  const says = SAYS.exec(text)
  if (says === null) return undefined
  const at = named + says[0].length
  WORD.lastIndex = at
  const word = WORD.exec(text)?.[0].replace(/[.:!?]+$/, '') ?? ''
  const about = { joinedAt: named, isSetting: false }
  const value =
    word.length < 4
      ? valueAt(text, at, about)
      : { ...about, start: at, end: at + word.length, text: word, quoted: false }
  if (value === undefined || value.text.length < 6 || ABOUT.test(value.text)) return undefined
  const digits = value.text.match(/\d/g)?.length ?? 0
  const isOdd = /[^\w.-]/.test(value.text) || isMixed(value.text) || digits >= 3
  return digits > 0 && /[A-Za-z]/.test(value.text) && isOdd ? value : undefined
}

function valueAt(
  text: string,
  at: number,
  about: { readonly joinedAt: number; readonly isSetting: boolean },
): Value | undefined {
  QUOTED.lastIndex = at
  const quoted = QUOTED.exec(text)
  if (quoted !== null) {
    const end = at + quoted[0].length - 1
    const value = quoted[2] ?? ''
    return { ...about, start: end - value.length, end, text: value, quoted: true }
  }
  BARE.lastIndex = at
  const bare = BARE.exec(text)?.[0].replace(/[.:!?]+$/, '')
  if (bare === undefined || bare.length < 4) return undefined
  return { ...about, start: at, end: at + bare.length, text: bare, quoted: false }
}

/** `config.auth.token`, `getToken`, `user_password`: names of code, not values. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*$/

function isSecretValue(value: Value, about: { readonly kind: string; readonly name: string }): boolean {
  const { text, quoted, isSetting } = value
  if (isReference(text) || isPlaceholder(text)) return false
  const digits = text.match(/\d/g)?.length ?? 0
  const letters = text.match(/[A-Za-z]/g)?.length ?? 0
  // `max_tokens: 8192`, `"cache_read_input_tokens": 15234`.
  if (letters === 0) return about.kind === 'password' && (quoted || isSetting) && digits >= 6
  const isShouted = isSetting && /[A-Z][A-Z0-9_]{2,}$/.test(about.name)
  if (isShouted && text.length >= 6 && new Set(text).size >= 5) return true
  if (text.length < (about.kind === 'password' ? 6 : 12)) return false
  if (quoted && about.kind === 'password') return digits > 0 || /[^\w.-]/.test(text)
  if (!quoted && IDENTIFIER.test(text) && !isDense(text)) return false
  if (digits === 0)
    return text.length >= 20 && new Set(text).size >= 12 && !/[-_.:/]/.test(text) && isMixed(text)
  return about.kind === 'password' ? !/[/:]/.test(text) || isDense(text) : isDense(text)
}

const SCHEME =
  /\b(?:bearer|basic|authorization["']?:[ \t]{0,4}["']?token)[ \t]{1,4}([\w.~+/-]{12,2048}={0,2})/gi

function findAuthorised(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  for (const match of text.matchAll(SCHEME)) {
    const value = match[1] ?? ''
    effort.spend(match[0].length)
    const isRandom = /\d/.test(value) && isDense(value.slice(0, 64))
    if (!isRandom && !(/^basic/i.test(match[0]) && isBasic(value))) continue
    const end = match.index + match[0].length
    found.push({ kind: 'authorization', start: end - value.length, end, confidence: 'likely' })
  }
  return found
}

const CREDENTIALS = /:\/\/([^\s/:@"'<>`]{0,128}):([^\s/@"'<>`]{3,256})@[\w.[-]/y

/** `scheme://user:password@host`: the password. */
function findInAddresses(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    CREDENTIALS.lastIndex = at
    const match = CREDENTIALS.exec(text)
    effort.spend(match?.[0].length ?? 3)
    const password = match?.[2]
    if (match === null || password === undefined) continue
    if (isMasked(`${match[1]}:${password}`)) continue
    if (isPlaceholder(password) || /^pass$|^[$<{[*]|\$\{/i.test(password)) continue
    const start = at + 3 + (match[1]?.length ?? 0) + 1
    found.push({ kind: 'url-password', start, end: start + password.length, confidence: 'likely' })
  }
  return found
}
