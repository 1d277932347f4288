import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { isObject, list, object, string } from '#base'
import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
  createLines,
  findAnthropicFaults,
  openTempDir,
  runs,
  SESSION,
  toJsonl,
  type LineMaker,
} from '#testing'
import { findTroubles } from './check.ts'
import { toRepaired } from './repair.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())
let files = 0

async function readLines(text: string): Promise<readonly Entry[]> {
  const path = join(temp.path, `${String(++files)}.jsonl`)
  writeFileSync(path, text)
  const file = openTranscript(path)
  try {
    return (await readConversation(file, formatOf(path))).entries
  } finally {
    file.close()
  }
}

/** The request that a client makes of a file that it trusts: lines of one answer together, everything as it is. */
function toNaive(entries: readonly Entry[]): readonly object[] {
  const messages: { role: string; content: unknown[]; id?: string | undefined }[] = []
  for (const entry of entries) {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(entry.raw))
    const message = object(parsed, 'message')
    if (message === undefined || (entry.kind === 'reply' && entry.synthetic)) continue
    const role = string(message, 'role') ?? ''
    const id = string(message, 'id')
    const given = message['content']
    const content = typeof given === 'string' ? [{ type: 'text', text: given }] : list(message, 'content')
    const same = id === undefined ? undefined : messages.find((each) => each.id === id)
    const last = messages.at(-1)
    if (same !== undefined) same.content.push(...content)
    else if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: [...content], id })
  }
  return messages
}

let minted = 0
const mintId = (): string => `10000000-0000-4000-8000-${String(++minted).padStart(12, '0')}`
const COPY = '0c0ffee0-0000-4000-8000-00000000000c'

async function repair(lines: readonly object[]): Promise<{
  readonly kinds: readonly string[]
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly lines: readonly string[]
}> {
  const entries = await readLines(toJsonl(lines))
  const troubles = findTroubles(entries)
  const repaired = toRepaired(entries, troubles, { sessionId: COPY, mintId })
  const again = await readLines(repaired.lines.map((line) => `${line}\n`).join(''))
  expect(findTroubles(again)).toEqual([])
  return {
    kinds: troubles.map(({ kind }) => kind),
    before: findAnthropicFaults(toNaive(entries)),
    after: findAnthropicFaults(toNaive(again)),
    lines: repaired.lines,
  }
}

/** Lines that differ in more than the session they belong to and where they hang. */
function changed(before: readonly object[], after: readonly string[]): number {
  const plain = (line: unknown): string => {
    if (!isObject(line)) return ''
    const { sessionId: _id, parentUuid: _parent, forkedFrom: _from, ...rest } = line
    return JSON.stringify(rest)
  }
  const kept = new Set(before.map(plain))
  const missing = after.filter((line) => !kept.has(plain(JSON.parse(line))))
  return missing.length + Math.max(0, before.length - after.length)
}

const call = (id: string, name = 'Bash'): object => ({ type: 'tool_use', id, name, input: { command: 'ls' } })
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function pngOf(width: number, height: number): string {
  const bytes = Buffer.from(PNG, 'base64')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

const image = (data: string, media_type = 'image/png'): object => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})

type Make = (make: LineMaker) => readonly object[]

/** What broke sessions of others: the lines, what is found, and how many lines differ when it is mended. */
const POISONED: readonly (readonly [
  id: string,
  what: string,
  make: Make,
  kinds: readonly string[],
  lines: number,
])[] = [
  [
    'P01',
    'a call that was never answered',
    (make) => [make.prompt('go'), make.reply([call('toolu_1')]), make.prompt('still there?')],
    ['call-unanswered'],
    1,
  ],
  [
    'P01',
    'one of two parallel calls was never answered',
    (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1'), call('toolu_2')]),
      make.result('toolu_1', 'done'),
    ],
    ['call-unanswered'],
    1,
  ],
  [
    'P02',
    'a result that answers nothing',
    (make) => [make.prompt('go'), make.result('toolu_0', 'lost'), make.reply([{ type: 'text', text: 'so' }])],
    ['result-orphaned'],
    1,
  ],
  [
    'P02',
    'a prompt wedged between a call and its result',
    (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.prompt('and hurry'),
      make.result('toolu_1', 'done'),
      make.reply([{ type: 'text', text: 'so' }]),
    ],
    ['result-late'],
    0,
  ],
  [
    'P02',
    'a call that is answered twice',
    (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.result('toolu_1', 'a'),
      make.result('toolu_1', 'b'),
    ],
    ['result-repeated'],
    1,
  ],
  [
    'P04',
    'thinking whose text was emptied',
    (make) => [
      make.prompt('go'),
      make.reply([
        { type: 'thinking', thinking: '', signature: 'sig' },
        { type: 'text', text: 'so' },
      ]),
    ],
    ['thinking-edited'],
    1,
  ],
  [
    'P09',
    'a picture without a byte',
    (make) => [
      make.prompt('', { message: { role: 'user', content: [{ type: 'text', text: 'look' }, image('')] } }),
    ],
    ['image-broken'],
    1,
  ],
  [
    'P09',
    'a result with a picture that is called what it is not',
    (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1', 'Read')]),
      make.result('toolu_1', [image(PNG, 'image/bmp')]),
    ],
    ['image-broken'],
    1,
  ],
  [
    'P02',
    'two calls with one id',
    (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.result('toolu_1', 'done'),
      make.reply([{ type: 'text', text: 'again' }, call('toolu_1')]),
    ],
    ['call-repeated'],
    1,
  ],
]

describe('pre-flight and repair of what broke others [P01] [P02] [P04] [P09]', () => {
  test.each(POISONED)('%s [E2.3] %s', async (_id, _what, make, kinds, lines) => {
    const made = make(createLines())
    const { kinds: found, before, after, lines: mended } = await repair(made)
    expect(before).not.toEqual([])
    expect(found).toEqual(kinds)
    expect(after).toEqual([])
    expect(changed(made, mended)).toBe(lines)
  })

  test('[P09] [E2.3] pictures that are too large for how many there are', async () => {
    const make = createLines()
    const one = await readLines(
      toJsonl([make.prompt('', { message: { content: [image(pngOf(3000, 10))] } })]),
    )
    expect(findTroubles(one)).toEqual([])
    const huge = await readLines(
      toJsonl([make.prompt('', { message: { content: [image(pngOf(9000, 10))] } })]),
    )
    expect(findTroubles(huge).map(({ kind }) => kind)).toEqual(['image-too-large'])
    const content = Array.from({ length: 21 }, () => image(pngOf(3000, 10)))
    const many = await readLines(toJsonl([make.prompt('', { message: { content } })]))
    expect(findTroubles(many)).toHaveLength(21)
  })

  test('[E2.3] half characters, empty texts, a system among the messages, a folder that is gone, a full window', async () => {
    const make = createLines({ cwd: '/gone' })
    const usage = { input_tokens: 150_000, output_tokens: 1, cache_read_input_tokens: 60_000 }
    const entries = await readLines(
      toJsonl([
        make.prompt('a \ud83d b'),
        make.prompt('', { message: { role: 'system', content: 'be nice' } }),
        make.reply(
          [
            { type: 'text', text: ' ' },
            { type: 'text', text: 'so' },
          ],
          {
            message: {
              id: 'm',
              role: 'assistant',
              model: 'x',
              usage,
              content: [{ type: 'text', text: ' ' }],
            },
          },
        ),
      ]),
    )
    const troubles = findTroubles(entries, { hasFolder: () => false })
    expect(troubles.map(({ kind }) => kind)).toEqual([
      'text-broken',
      'role-unknown',
      'text-empty',
      'context-too-long',
      'workdir-gone',
    ])
    for (const { reason, fix, place } of troubles) {
      expect(reason.length * fix.length).toBeGreaterThan(0)
      expect(place.length).toBeGreaterThan(0)
    }
  })

  test('[E2.3] recorded sessions without trouble have none, and mending them changes nothing', async () => {
    const root = join(import.meta.dirname, '../../test/fixtures/claude')
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    let sound = 0
    for (const name of names.filter((each) => /projects.*\.jsonl$/u.test(each))) {
      const file = openTranscript(join(root, name))
      const { entries } = await readConversation(file, formatOf(name))
      file.close()
      const troubles = findTroubles(entries)
      if (troubles.length > 0) continue
      sound++
      const { lines, mended, left } = toRepaired(entries, troubles, { sessionId: SESSION, mintId })
      expect([mended, left]).toEqual([[], []])
      expect(lines).toHaveLength(entries.length)
    }
    expect(sound).toBeGreaterThan(40)
  })

  test('[E2.3] whatever was cut out of a session, what is mended is taken, and mending it again does nothing', async () => {
    const make = createLines()
    const whole = Array.from({ length: 6 }, (_none, turn) => [
      make.prompt(`turn ${turn}`),
      make.reply([
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        call(`toolu_${turn}a`),
        call(`toolu_${turn}b`),
      ]),
      make.result(`toolu_${turn}a`, 'one'),
      make.result(`toolu_${turn}b`, [{ type: 'text', text: 'two' }, image(PNG)]),
      make.reply([{ type: 'text', text: 'so' }]),
    ]).flat()
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(whole.length - 1), { maxLength: 12 }), async (cut) => {
        const lines = whole.filter((_line, at) => at === 0 || !cut.includes(at))
        const { after } = await repair(lines)
        expect(after).toEqual([])
      }),
      runs(60),
    )
  })
})
