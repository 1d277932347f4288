import { constants, gunzipSync, gzipSync } from 'node:zlib'
import type { PlantedSecret } from './planted-secrets.ts'

/** A way in which a text may be written down, and how to read it again. */
export interface SecretForm {
  readonly name: string
  readonly write: (planted: PlantedSecret, index: number) => string
  readonly read: (text: string) => string
}

const everyByte = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Base64 is read wherever it stands, at whatever offset its characters begin. */
function readBase64Runs(text: string): string {
  const runs = text.replace(/\n/g, '').match(/[\w+/-]{16,}/g) ?? []
  return runs
    .flatMap((run) => [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString('latin1')))
    .join(' ')
}

function cut(secret: string, index: number, joint: string): string {
  const at = 1 + ((index * 7919) % (secret.length - 1))
  return `${secret.slice(0, at)}${joint}${secret.slice(at)}`
}

const JOINTS = ['\n', '\n    ', '\r\n', '\\\n', '" +\n  "', "'\n  '", '\n> ']
const joinLines = (text: string): string =>
  text.replace(/["']?[ \t]*[+\\]?\r?\n[ \t]*(?:> )?["']?/g, '').replaceAll('\n', '')

const ESC = '\u001b'
/** As `grep --color` does it, a colour for each character, a link, an OSC of another kind, spelled out. */
const PAINTS: readonly ((secret: string) => string)[] = [
  (secret) =>
    `${ESC}[01;31m${ESC}[K${secret.slice(0, 4)}${ESC}[m${ESC}[K${secret.slice(4, 20)}${ESC}[0m${secret.slice(20)}`,
  (secret) =>
    Array.from(secret)
      .map((char, at) => `${ESC}[38;5;${at % 256}m${char}`)
      .join(''),
  (secret) =>
    `${secret.slice(0, 6)}${ESC}]8;;https://a.test/\u0007${secret.slice(6, 11)}${ESC}]8;;${ESC}\\${secret.slice(11)}`,
  (secret) =>
    Array.from(secret)
      .map((char) => `${char}${ESC}]0;title\u0007`)
      .join(''),
  (secret) => secret.replace(/[^\n]{3}/g, '$&\\033[1m'),
  (secret) => secret.replace(/[^\n]{3}/g, '$&^[[0m'),
]
// oxlint-disable no-control-regex -- they are what is taken away
const PAINT = /(?:\u001b|\\033|\^\[)\[[\d;]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g
// oxlint-enable no-control-regex
const INVISIBLE = ['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u0000']

const picked = <T>(all: readonly T[], index: number, other: T): T => all[index % all.length] ?? other

/** With the secret written in another way, and what stands around it as it is. */
function replaced(
  write: (secret: string, index: number) => string,
): (planted: PlantedSecret, index: number) => string {
  return ({ text, secret }, index) => text.replace(secret, () => write(secret, index))
}

const OPERATORS = ['" + "', "' . '", '" "', '""', "' || '", '" & "']

/** What looks as it is and is not: painted, spread, taken to pieces, packed. */
const HIDING_FORMS: readonly SecretForm[] = [
  {
    name: 'colours',
    write: replaced((secret, index) => picked(PAINTS, index, (text) => text)(secret)),
    read: (text) => text.replace(PAINT, ''),
  },
  {
    name: 'invisible characters',
    write: replaced((secret, index) => Array.from(secret).join(picked(INVISIBLE, index, ''))),
    read: (text) => INVISIBLE.reduce((all, char) => all.replaceAll(char, ''), text),
  },
  {
    name: 'a space behind each character',
    write: replaced((secret) => Array.from(secret).join(' ').replaceAll(' \n ', '\n')),
    read: (text) => text.replace(/(\S) (?=\S(?!\w))/g, '$1'),
  },
  {
    name: 'a sum of two texts',
    write: replaced((secret, index) => cut(secret, index, picked(OPERATORS, index, ''))),
    read: (text) => OPERATORS.reduce((all, operator) => all.replaceAll(operator, ''), text),
  },
  {
    name: 'hex',
    write: ({ text }, index) =>
      `data: ${Buffer.from(text)
        .toString('hex')
        .replace(/../g, picked(['$&', '$& ', '$&:'], index, '$&'))}`,
    read: (text) =>
      (text.replace(/(?<=[\da-f]{2})[ :](?=[\da-f]{2})/g, '').match(/[\da-f]{16,}/g) ?? [])
        .flatMap((run) => [run, run.slice(1)])
        .map((run) => Buffer.from(run, 'hex').toString('latin1'))
        .join(' '),
  },
  {
    name: 'gzip in base64',
    write: ({ text }) => `data: ${gzipSync(text).toString('base64')} end`,
    read: (text) => (text.match(/H4sI[\w+/]+={0,2}/g) ?? []).map(readPacked).join(' '),
  },
]

/** As they are, behind escapes, cut by line breaks, in base64, in URLs, and hidden. */
export const SECRET_FORMS: readonly SecretForm[] = [
  { name: 'raw', write: ({ text }) => text, read: (text) => text },
  {
    name: 'JSON',
    write: ({ text }) => JSON.stringify({ text }),
    read: (text) => text.replaceAll('\\n', '\n'),
  },
  {
    name: 'JSON in JSON',
    write: ({ text }) => JSON.stringify({ line: JSON.stringify({ text }) }),
    read: (text) => text.replaceAll('\\\\n', '\n'),
  },
  {
    name: 'JSON with every character escaped',
    write: ({ text }) =>
      text.replace(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
    read: (text) =>
      text.replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  },
  {
    name: 'two lines',
    write: ({ text, secret }, index) =>
      text.replace(secret, () => cut(secret, index, JOINTS[index % JOINTS.length] ?? '\n')),
    read: joinLines,
  },
  {
    name: 'lines of 20 characters',
    write: ({ text, secret }) => text.replace(secret, () => secret.replace(/[^\n]{20}(?=[^\n])/g, '$&\n')),
    read: joinLines,
  },
  {
    name: 'base64',
    write: ({ text }) => `data: ${Buffer.from(text).toString('base64')}`,
    read: readBase64Runs,
  },
  {
    name: 'base64 of the URL alphabet',
    write: ({ text }) => `/v1/x/${Buffer.from(text).toString('base64url')}?a=1`,
    read: readBase64Runs,
  },
  {
    name: 'base64 in lines',
    write: ({ text }) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n'),
    read: readBase64Runs,
  },
  { name: 'URL', write: ({ text }) => `https://x.test/?q=${encodeURIComponent(text)}`, read: decodeLoosely },
  { name: 'URL with every byte escaped', write: ({ text }) => everyByte(text), read: decodeLoosely },
  ...HIDING_FORMS,
]

/** What is whole of it: an outline may have cut it. */
function readPacked(run: string): string {
  try {
    return gunzipSync(Buffer.from(run, 'base64'), { finishFlush: constants.Z_SYNC_FLUSH }).toString()
  } catch {
    return ''
  }
}

function decodeLoosely(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Whether eight characters in a row of what makes it secret are in a text that was read in a form. */
export function canBeRead(planted: PlantedSecret, form: SecretForm, text: string): boolean {
  const secret = form.name.includes('lines') ? planted.secret.replaceAll('\n', '') : planted.secret
  const body = planted.secret.startsWith('-----') ? secret.slice(40, -40) : secret
  const pieces = piecesOf(text)
  for (let at = 0; at + PIECE <= body.length; at += 1) {
    if (pieces.has(body.slice(at, at + PIECE))) return true
  }
  return false
}

const PIECE = 8

/** Many secrets are looked for in one text, one after the other. */
let last = { text: '', pieces: new Set<string>() }

function piecesOf(text: string): ReadonlySet<string> {
  if (last.text === text) return last.pieces
  const pieces = new Set<string>()
  for (let at = 0; at + PIECE <= text.length; at += 1) pieces.add(text.slice(at, at + PIECE))
  last = { text, pieces }
  return pieces
}
