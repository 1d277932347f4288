import { exportSession } from '#app'
import { openDocuments, promoteDirective } from '#memory'
import { parseDirectives, renderDirective } from '#model'
import { maskLine } from '#redact'
import {
  canBeRead,
  createLines,
  openTempDir,
  plantSecrets,
  SECRET_FORMS,
  type ChainLine,
  type LineMaker,
  type SecretForm,
} from '#testing'
import { describe, expect, test } from 'vitest'
import { openMcpPlace, WORKDIR, type McpPlace } from '../mcp-place.ts'

/** Every kind, each of them once for each place that it may stand in. */
const PLACES = 3
const KINDS = new Set(plantSecrets(1, 400).map(({ kind }) => kind)).size
const SEED = 4711
const planted = plantSecrets(SEED, KINDS * PLACES)
process.stdout.write(`secrets planted with seed ${SEED}: ${KINDS} kinds, ${SECRET_FORMS.length} forms\n`)

const NOW = Date.UTC(2026, 10, 16, 8)
const SESSION = '00000000-0000-4000-8000-000000000001'
const at = (minute: number): object => ({
  timestamp: new Date(Date.UTC(2026, 10, 1, 0, minute)).toISOString(),
})

/** In words of both sides, in what was thought, in a call, as its name and as a key of its input, and in what it gave. */
function toLines(form: SecretForm, make: LineMaker): readonly ChainLine[] {
  return planted.flatMap((secret, index) => {
    const text = `needle ${form.write(secret, index)} needle`
    const id = `t${index}`
    const use = (name: string, input: object): ChainLine =>
      make.reply([{ type: 'tool_use', id, name, input }])
    const answer = make.reply([{ type: 'text', text: `That was it. ${text}` }], at(index))
    switch (index % PLACES) {
      case 0:
        return [make.prompt(text, at(index)), answer]
      case 1:
        return [
          make.prompt('Go.', at(index)),
          use(form.write(secret, index), { [form.write(secret, index)]: 1, deep: [{ value: text }] }),
          make.result(id, text),
          answer,
        ]
      default:
        return [make.prompt('Go.', at(index)), use('Bash', { command: text }), make.result(id, text), answer]
    }
  })
}

/** As it would be read by somebody who undoes all that a way out does to a text. */
function* toReadings(out: string, { read }: SecretForm): Generator<string> {
  const plain = out
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&#(?:x([\da-f]+)|(\d+));/gi, (_, hex: string | undefined, decimal: string | undefined) =>
      String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  // oxlint-disable-next-line no-control-regex -- they are what is taken away
  const shown = plain.replace(/<U\+[\dA-F]+>|\u001b\[[\d;]*[A-Za-z]|[\u2400-\u2426]/g, '')
  for (const text of [out, plain, shown]) {
    yield text
    yield read(text)
    yield read(text.replaceAll('\\n', '\n'))
  }
}

function leaksOf(way: string, out: string, form: SecretForm): readonly string[] {
  const leaks = new Set<string>()
  for (const reading of toReadings(out, form))
    for (const secret of planted)
      if (canBeRead(secret, form, reading)) leaks.add(`${secret.sort} ${secret.kind}`)
  return [...leaks].map((leak) => `${way}: ${leak}`)
}

async function collect(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  return all
}

async function askAll({ call, request }: McpPlace): Promise<string> {
  const answers: string[] = []
  for (let cursor: string | undefined, page = 0; page < 40; page++) {
    const given = { session: SESSION, limit: 50, characters: 8000 }
    const { text } = await call('read_entries', cursor === undefined ? given : { ...given, cursor })
    answers.push(text)
    cursor = /Earlier: read_entries with cursor "([^"]+)"/.exec(text)?.[1]
    if (cursor === undefined) break
  }
  for (const [name, given] of [
    ['read_session', { session: SESSION }],
    ['read_entries', { session: SESSION, limit: 50, characters: 120 }],
    ['previous_session', {}],
    ['search', { query: 'needle', limit: 20 }],
    ['recall', { question: 'needle', limit: 20 }],
  ] as const)
    answers.push((await call(name, given)).text)
  const uri = `throughline://sessions/${SESSION}`
  const listed = JSON.stringify(await request('resources/list'))
  answers.push(listed, JSON.stringify(await request('resources/read', { uri }).catch(String)))
  return answers.join('\n')
}

/** All that is kept of what an agent asked to be remembered: words, tags, and why it was held back. */
async function promoteAll(form: SecretForm): Promise<string> {
  const dir = await openTempDir()
  let minted = 0
  const documents = await openDocuments({ home: dir.path, now: () => NOW, mintId: () => `id-${++minted}` })
  for (const [index, secret] of planted.entries()) {
    const text = form.write(secret, index)
    const said = renderDirective('remember', { content: `Number ${index} is ${text} here.`, tags: [text] })
    for (const directive of parseDirectives(`Noted. ${said}`).directives) {
      const entryId = `entry-${index}`
      await promoteDirective(
        documents,
        {
          directive,
          provenance: { sessionId: SESSION, entryId, block: 0, position: directive.start },
          messageId: entryId,
          agent: 'claude',
          files: [],
          toolTexts: [],
          before: 0,
        },
        { now: NOW, review: 'off' },
      )
    }
  }
  const kept = documents
    .query({ state: ['active', 'quarantined'] })
    .map((document) => JSON.stringify(document))
  expect(kept.length).toBeGreaterThan(planted.length / 2)
  await documents.close()
  await dir.remove()
  return kept.join('\n')
}

/** What a rule knows only by what stands around it may get through once in a while; of what is issued nothing may. */
const LIKELY_SHARE = 0.05

describe('a secret that is hidden in a text', () => {
  test.each(SECRET_FORMS)('[RED20] in the form of $name can be read in nothing that leaves', async (form) => {
    const place = await openMcpPlace({ sessions: { [SESSION]: (make) => toLines(form, make) } })
    const { throughline } = place
    const session = await throughline.get(SESSION)
    const remembered: string[] = []
    for (const [index, secret] of planted.entries()) {
      const content = `The key is ${form.write(secret, index)} here.`
      const outcome = await throughline.memory.remember({ type: 'learning', content, speaker: 'human' })
      if (secret.sort === 'issued') expect([secret.kind, outcome.kind]).toEqual([secret.kind, 'secret'])
      remembered.push(outcome.kind === 'secret' ? outcome.masked : '')
    }
    const lines = toLines(form, createLines({ sessionId: SESSION })).map((line) =>
      maskLine(Buffer.from(`${JSON.stringify(line)}\n`)).toString(),
    )
    const ways = {
      md: await collect(exportSession(throughline, session, { format: 'md' })),
      html: await collect(exportSession(throughline, session, { format: 'html' })),
      mcp: await askAll(place),
      'wake-up': (await throughline.memory.wakeUp({ workdir: WORKDIR })).text,
      remember: remembered.join('\n'),
      directive: await promoteAll(form),
      team: lines.join(''),
    }
    for (const [way, out] of Object.entries(ways))
      expect([way, out.includes('[redacted')]).toEqual([way, true])
    const leaks = Object.entries(ways).flatMap(([way, out]) => leaksOf(way, out, form))
    expect(leaks.filter((leak) => leak.includes(': issued '))).toEqual([])
    expect(leaks.length).toBeLessThanOrEqual(KINDS * Object.keys(ways).length * LIKELY_SHARE)
  })
})
