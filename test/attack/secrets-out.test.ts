import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportSession, openThroughline, type LocalThroughline } from '#app'
import { field, isObject, parseJson, ThroughlineError } from '#base'
import { readBlocks, type SessionSummary } from '#model'
import { redactBlocks } from '#redact'
import {
  canBeRead,
  createLines,
  openTempDir,
  plantSecrets,
  SECRET_FORMS,
  toJsonl,
  writeTranscript,
  type PlantedSecret,
  type SecretForm,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, openTarget } from './target.ts'

let dir: TempDir
let throughline: LocalThroughline | undefined

beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  await throughline?.close()
  throughline = undefined
  await dir.remove()
})

async function openWith(
  text: string,
): Promise<{ readonly throughline: LocalThroughline; readonly session: SessionSummary }> {
  const claudeDir = join(dir.path, 'claude')
  await mkdir(claudeDir, { recursive: true })
  await writeTranscript(claudeDir, text)
  throughline = await openThroughline({
    env: { HOME: dir.path },
    config: { home: join(dir.path, 'home'), claudeDir },
  })
  const { sessions } = await throughline.list({})
  const [session] = sessions
  if (session === undefined) throw new Error('there is no session')
  return { throughline, session }
}

async function read(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  return all
}

/** Each in the words of a person, in what an agent thinks and says, in calls and in what they gave. */
function toLines(form: SecretForm, planted: readonly PlantedSecret[]): string {
  const lines = createLines()
  const rows = planted.flatMap((secret, index) => {
    const text = form.write(secret, index)
    switch (index % 4) {
      case 0:
        return [lines.prompt(text), lines.reply([{ type: 'text', text: 'Yes.' }])]
      case 1:
        return [
          lines.prompt('Go.'),
          lines.reply([{ type: 'thinking', thinking: text, signature: 'c2lnbmVk' }]),
        ]
      case 2:
        return [lines.prompt('Go.'), lines.reply([{ type: 'text', text }])]
      default:
        return [
          lines.prompt('Go.'),
          lines.reply([{ type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command: text } }]),
          lines.result(`t${index}`, text),
        ]
    }
  })
  return toJsonl(rows)
}

/** What somebody reads who undoes the escapes of Markdown and HTML. */
function toWords(made: string): string {
  return made
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

const planted = plantSecrets(46, 200)
const TESTED = ['raw', 'JSON', 'two lines', 'base64', 'URL', 'colours', 'a sum of two texts', 'hex']

describe('secrets in an export', () => {
  test.each(SECRET_FORMS.filter(({ name }) => TESTED.includes(name)))(
    '[RED12] [ATT46] in the form of $name do not leave in Markdown or HTML',
    async (form) => {
      const { throughline: here, session } = await openWith(toLines(form, planted))
      for (const format of ['md', 'html'] as const) {
        const words = form.read(toWords(await read(exportSession(here, session, { format }))))
        const missed = planted.filter((secret) => canBeRead(secret, form, words))
        expect([format, missed.filter(({ sort }) => sort === 'issued').map(({ kind }) => kind)]).toEqual([
          format,
          [],
        ])
        expect(missed.length).toBeLessThanOrEqual(planted.length * 0.05)
      }
    },
  )

  test('[RED12] the same over HTTP, which says that they are masked', async () => {
    const form = SECRET_FORMS[0]
    if (form === undefined) throw new Error('there is no form')
    const { throughline: here, session } = await openWith(toLines(form, planted.slice(0, 38)))
    const target = await openTarget({ throughline: here })
    for (const [format, secrets] of [
      ['md', 'masked'],
      ['html', 'masked'],
      ['jsonl', 'kept'],
    ] as const) {
      const path = `/api/sessions/${session.id}/export?format=${format}`
      const heard = await ask(target, `GET ${path}`, { token: target.token })
      expect([heard.status, heard.head.includes(`throughline-secrets: ${secrets}`)]).toEqual([200, true])
      const leaks = planted
        .slice(0, 30)
        .filter(({ secret }) => heard.body.includes(secret.split('\n')[1] ?? secret))
      expect([format, leaks.length > 0]).toEqual([format, secrets === 'kept'])
    }
  })

  test('[RED13] stay in an exact copy, and are told', async () => {
    const form = SECRET_FORMS[0]
    if (form === undefined) throw new Error('there is no form')
    const text = toLines(form, planted.slice(0, 12))
    const { throughline: here, session } = await openWith(text)
    const copy = exportSession(here, session, { format: 'jsonl' })
    expect(await read(copy)).toBe(text)
    expect(copy.secrets.get('aws-key')).toBeGreaterThan(0)
  })

  test('[RED14] stay when somebody asks for it', async () => {
    const [secret] = planted
    const { throughline: here, session } = await openWith(toJsonl([createLines().prompt(secret?.text ?? '')]))
    const kept = await read(exportSession(here, session, { format: 'md', secrets: 'keep' }))
    expect(toWords(kept)).toContain(secret?.secret)
  })
})

describe('[RED15] [ATT47] when they cannot be looked for', () => {
  const fails = (): never => {
    throw new Error('AKIA in a message of somebody else')
  }

  test.each(['md', 'html'] as const)(
    'nothing is exported as %s, and the next step is told',
    async (format) => {
      const { throughline: here, session } = await openWith(toJsonl([createLines().prompt('hello')]))
      const failure: unknown = await read(exportSession(here, session, { format, redactor: fails })).catch(
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(ThroughlineError)
      expect(failure).toMatchObject({ code: 'redaction-failed', hint: expect.stringContaining('jsonl') })
      expect(String(failure)).not.toContain('AKIA')
    },
  )
})

const FIXTURES = join(import.meta.dirname, '../fixtures')

/** Where something stands that was signed, encrypted or is bytes, and what. */
function* sealedOf(value: unknown, path = ''): Generator<readonly [string, unknown]> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* sealedOf(item, `${path}/${index}`)
  if (!isObject(value)) return
  for (const [key, held] of Object.entries(value)) {
    const isBytes = key === 'data' && (value['kind'] === 'base64' || value['kind'] === 'redacted-thinking')
    if (isBytes || /^(?:signature|thoughtSignature|encrypted_content)$/.test(key))
      yield [`${path}/${key}`, held]
    else yield* sealedOf(held, `${path}/${key}`)
  }
}

test('[RED7] what was signed, encrypted or is bytes comes out as it went in, in every recorded session', async () => {
  const names = (await readdir(FIXTURES, { recursive: true })).filter((name) => name.endsWith('.jsonl'))
  let seals = 0
  for (const name of names) {
    for (const line of (await readFile(join(FIXTURES, name), 'utf8')).split('\n')) {
      const blocks = readBlocks(field(field(parseJson(line), 'message'), 'content'))
      const before = [...sealedOf(blocks)].filter(([, value]) => value !== undefined)
      seals += before.length
      expect([...sealedOf(redactBlocks(blocks).blocks)].filter(([, value]) => value !== undefined)).toEqual(
        before,
      )
    }
  }
  expect(seals).toBeGreaterThan(5)
})

test('[RED7] an image keeps every byte in HTML, also where they read like a token', async () => {
  const token = ['AK', 'IA', 'ABCDEFGHIJKLMNOP'].join('')
  const data = `iVBORw0KGgo${token}${Buffer.from(`x ${token} y`).toString('base64')}`
  const lines = createLines()
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  const { throughline: here, session } = await openWith(
    toJsonl([
      lines.prompt('look'),
      lines.reply([{ type: 'tool_use', id: 't', name: 'Read', input: {} }]),
      lines.result('t', [image]),
    ]),
  )
  expect(await read(exportSession(here, session, { format: 'html' }))).toContain(data.replace(/=+$/, ''))
})
