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

/** As they are, behind escapes, cut by line breaks, in base64, in URLs. */
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
]

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
