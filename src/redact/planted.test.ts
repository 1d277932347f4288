import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, parseJson } from '#base'
import { generateCorpus, openTempDir, plantSecrets, type PlantedSecret } from '#testing'
import { describe, expect, test } from 'vitest'
import { findSecrets } from './find-secrets.ts'
import { redact } from './redact.ts'

/** A way in which a text may be written down, and how to read it again. */
interface Form {
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

const FORMS: readonly Form[] = [
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

/** Whether eight characters in a row of what makes it secret can still be read. */
function escapes(planted: PlantedSecret, form: Form, index: number): boolean {
  const left = form.read(redact(form.write(planted, index)).text)
  const secret = form.name.includes('lines') ? planted.secret.replaceAll('\n', '') : planted.secret
  const body = planted.secret.startsWith('-----') ? secret.slice(40, -40) : secret
  for (let at = 0; at + 8 <= body.length; at += 1) {
    if (left.includes(body.slice(at, at + 8))) return true
  }
  return false
}

describe('secrets that were planted', () => {
  const planted = plantSecrets(46, 200)

  test.each(FORMS)('[RED1] [RED2] [RED3] in the form of $name are masked', (form) => {
    const missed = planted.filter((secret, index) => escapes(secret, form, index))
    const issued = missed.filter(({ sort }) => sort === 'issued')
    expect(issued.map(({ kind }) => kind)).toEqual([])
    expect(missed.length).toBeLessThanOrEqual(planted.length * 0.05)
  })

  test('[RED1] and named for what they are', () => {
    const kinds = planted.slice(0, 30).map(({ secret, kind }) => [kind, findSecrets(secret)[0]?.kind])
    expect(Object.fromEntries(kinds)).toMatchObject({
      'aws-key': 'aws-key',
      'github-fine': 'github-token',
      anthropic: 'anthropic-key',
      'openssh-key': 'private-key',
      'json-web-token': 'json-web-token',
    })
  })
})

function* leavesOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* leavesOf(item)
  else if (isObject(value)) for (const [, held] of Object.entries(value)) yield* leavesOf(held)
}

async function readLeaves(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true })
  const files = names.filter((name) => /\.(?:jsonl|ts|md)$/.test(name) && !/planted|node_modules/.test(name))
  const leaves: string[] = []
  for (const name of files) {
    const text = await readFile(join(dir, name), 'utf8')
    if (!name.endsWith('.jsonl')) leaves.push(...text.split(/\n{2,}/))
    else for (const line of text.split('\n')) leaves.push(...leavesOf(parseJson(line)))
  }
  return leaves.filter((leaf) => leaf.length > 20)
}

describe('ordinary text', () => {
  test.each(['test/fixtures/claude', 'src', 'docs'])('[RED4] in %s is left alone', async (dir) => {
    const leaves = await readLeaves(join(import.meta.dirname, '../..', dir))
    const touched = leaves.filter((leaf) => findSecrets(leaf).length > 0)
    expect(leaves.length).toBeGreaterThan(300)
    expect(touched.length / leaves.length).toBeLessThan(0.01)
  })

  test('[RED4] in a generated corpus is left alone', async () => {
    const temp = await openTempDir()
    try {
      await generateCorpus({ dir: temp.path, seed: 7, size: 'xs' })
      const leaves = await readLeaves(temp.path)
      const touched = leaves.filter((leaf) => findSecrets(leaf).length > 0)
      expect(touched.length / leaves.length).toBeLessThan(0.01)
    } finally {
      await temp.remove()
    }
  })
})
