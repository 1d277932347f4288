import { readFileSync } from 'node:fs'
import { appendFile, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { readBlocks, type Entry, type Reading } from '#model'
import { openRecording, type Recording } from '#recorder'
import { openTempDir, readAll, runs, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFollower } from '../follower.ts'
import { readPageBefore } from '../pages.ts'
import { openTranscript } from '../transcript-file.ts'
import { entireFormat } from './read-line.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const record = (large: 'lines' | 'blobs' = 'blobs'): Promise<Recording> =>
  openRecording({
    cwd: dir.path,
    agent: 'forgeflare',
    version: '1',
    register: false,
    large,
    provider: 'anthropic',
  })

const LONG = 'a text that is long — and has ümläuts \u2028 in it. '.repeat(400)

function entriesOf(readings: readonly Reading[]): readonly Entry[] {
  return readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

/** The bytes of every line, as they are on disk. */
function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

/** Short, and long enough to be taken out of its line, with everything a string may have. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  fc.constantFrom('\u2028\u2029', '</script>', '\ud800', ''),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), fc.integer({ min: 1500, max: 12_000 }))
    .map(([unit, times]) => unit.repeat(times)),
)
const json = fc.jsonValue({ maxDepth: 2 })
const extra = fc.option(fc.record({ cache_control: json, openai: json }), { nil: {} })
const media = fc.oneof(
  text.map((data) => ({ type: 'base64', media_type: 'image/png', data })),
  text.map((url) => ({ type: 'url', url })),
  text.map((data) => ({ type: 'text', media_type: 'text/plain', data })),
  json.map((value) => ({ type: 'file', value })),
)
const plain = fc.oneof(
  fc.tuple(text, extra).map(([words, more]) => ({ ...more, type: 'text', text: words })),
  fc.tuple(media, extra).map(([source, more]) => ({ ...more, type: 'image', source })),
  fc.tuple(media, text).map(([source, title]) => ({ type: 'document', source, title })),
  json.map((value) => ({ type: 'something_new', value })),
)
const said = fc.oneof(
  plain,
  fc.tuple(text, text).map(([thinking, signature]) => ({ type: 'thinking', thinking, signature })),
  text.map((data) => ({ type: 'redacted_thinking', data })),
  fc.tuple(text, json).map(([name, input]) => ({ type: 'tool_use', id: 'toolu_1', name, input: { input } })),
)
const turn = fc.oneof(
  fc.record({ by: fc.constant('user' as const), content: fc.oneof(text, fc.array(plain, { maxLength: 4 })) }),
  fc.record({ by: fc.constant('assistant' as const), content: fc.array(said, { maxLength: 4 }) }),
  fc.record({
    by: fc.constant('result' as const),
    content: fc.oneof(text, fc.array(plain, { maxLength: 3 })),
    failed: fc.boolean(),
  }),
)

/** What the one who is asked reads as, before it was ever written. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('[E1.1] [E1.2] [E7.1] [ENT7] [ENT20] every type of content reads back as it was recorded, in its line or beside it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('lines' as const, 'blobs' as const),
      async (turns, large) => {
        const recording = await record(large)
        const expected: object[] = []
        for (const { by, content, ...rest } of turns) {
          if (by === 'user') {
            const { uuid } = await recording.user(content)
            expected.push({ id: uuid, blocks: readBlocks(asJson(content)) })
          } else if (by === 'assistant') {
            const { uuid } = await recording.assistant(
              {
                id: 'msg_1',
                model: 'm',
                content,
                stop_reason: 'end_turn',
                usage: { input_tokens: 7 },
              },
              { requestId: 'req_1' },
            )
            expected.push({
              id: uuid,
              blocks: readBlocks(asJson(content)),
              kind: 'reply',
              messageId: 'msg_1',
              requestId: 'req_1',
              provider: 'anthropic',
              model: 'm',
              stopReason: 'end_turn',
              usage: expect.objectContaining({ input: 7 }) as unknown,
            })
          } else {
            const is_error = 'failed' in rest && rest.failed
            const { uuid } = await recording.toolResult({ tool_use_id: 'toolu_1', content, is_error })
            const block = { type: 'tool_result', tool_use_id: 'toolu_1', content, is_error }
            expected.push({ id: uuid, kind: 'result', blocks: readBlocks(asJson([block])) })
          }
        }
        await recording.end()
        const readings = await readAll(recording.path)
        expect(readings.filter(({ kind }) => kind === 'damage')).toEqual([])
        const entries = entriesOf(readings)
        expect(entries.map((entry) => readable(entry))).toMatchObject(expected)
        expect(entries.map(({ raw }) => Buffer.from(raw).toString())).toEqual(linesOf(recording.path))
      },
    ),
    runs(30),
  )
})

/** An answer to a command or an interruption has words, and no blocks; nothing here reads as one. */
function readable(entry: Entry): object {
  return entry.kind === 'command' || entry.kind === 'interruption' ? { id: entry.id } : entry
}

async function recordLong(): Promise<Recording> {
  const recording = await record()
  await recording.user('short')
  await recording.user(LONG)
  await recording.assistant({
    content: [
      { type: 'text', text: LONG },
      { type: 'thinking', thinking: 'x', signature: LONG },
    ],
  })
  await recording.end()
  return recording
}

test('[E7.1] [ENT7] what is in a file of its own is back, forwards, backwards and while it is followed', async () => {
  const recording = await recordLong()
  expect(await readFile(recording.path, 'utf8')).not.toContain('ümläuts')
  const entries = entriesOf(await readAll(recording.path))
  expect(entries[1]).toMatchObject({ kind: 'prompt', blocks: [{ kind: 'text', text: LONG }] })
  expect(entries[2]).toMatchObject({ blocks: [{ text: LONG }, { thinking: 'x', signature: LONG }] })

  const file = openTranscript(recording.path)
  const page = await readPageBefore(file, entireFormat, { limit: 2 })
  file.close()
  expect(entriesOf(page.readings)).toMatchObject([
    { blocks: [{ text: LONG }] },
    { blocks: [{ text: LONG }, {}] },
  ])

  const follower = createFollower(recording.path, entireFormat)
  const events: unknown[] = []
  for (const event of await follower.poll()) events.push(event)
  expect(JSON.stringify(events)).toContain('ümläuts')
})

test('[ENT8] a file that is gone or changed leaves its name where its text was, and is told as damage with the place', async () => {
  const recording = await recordLong()
  const blobs = join(recording.folder, 'blobs')
  const [blob = ''] = await readdir(blobs)
  const places = entriesOf(await readAll(recording.path)).map(({ place }) => place)
  const damageIn = async (): Promise<readonly unknown[]> =>
    (await readAll(recording.path)).flatMap((reading) => (reading.kind === 'damage' ? [reading.damage] : []))
  const shown = async (): Promise<unknown> => entriesOf(await readAll(recording.path))[1]

  await appendFile(join(blobs, blob), 'x')
  expect(await damageIn()).toEqual([
    { ...places[1], reason: 'blob-changed' },
    { ...places[2], reason: 'blob-changed' },
  ])
  expect(await shown()).toMatchObject({
    kind: 'prompt',
    blocks: [{ text: `[${Buffer.byteLength(LONG)} bytes in blobs/${blob}]` }],
  })

  await rm(join(blobs, blob))
  expect(await damageIn()).toEqual([
    { ...places[1], reason: 'blob-missing' },
    { ...places[2], reason: 'blob-missing' },
  ])

  const elsewhere = join(dir.path, 'elsewhere')
  await writeFile(elsewhere, LONG)
  await symlink(elsewhere, join(blobs, blob))
  expect(await damageIn()).toMatchObject([{ reason: 'blob-missing' }, { reason: 'blob-missing' }])
})

test('[ENT8] a line that only says it has something elsewhere is read as it is', async () => {
  const recording = await recordLong()
  const foreign = (blobs: unknown, content: string): string =>
    `${JSON.stringify({ type: 'user', uuid: 'u', sessionId: 's', message: { role: 'user', content }, blobs })}\n`
  const sha256 = 'a'.repeat(64)
  await writeFile(
    recording.path,
    foreign('nothing', 'one') +
      foreign([{ sha256: '../../../etc/passwd', bytes: 3, path: ['message', 'content'] }], 'two') +
      foreign([{ sha256, bytes: 3, path: ['sessionId'] }], 'three'),
  )
  const readings = await readAll(recording.path)
  expect(entriesOf(readings).map((entry) => (entry.kind === 'prompt' ? entry.blocks : []))).toMatchObject([
    [{ text: 'one' }],
    [{ text: 'two' }],
    [{ text: 'three' }],
  ])
})

test('[ENT12] cut at any byte, a recording reads up to the cut, and says where it breaks off', async () => {
  const recording = await recordLong()
  const whole = entriesOf(await readAll(recording.path)).map(({ id }) => id)
  const bytes = await readFile(recording.path)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (cut) => {
      await writeFile(recording.path, bytes)
      await truncate(recording.path, cut)
      const readings = await readAll(recording.path)
      const ids = entriesOf(readings).map(({ id }) => id)
      expect(ids).toEqual(whole.slice(0, ids.length))
      const damage = readings.flatMap((reading) => (reading.kind === 'damage' ? [reading.damage] : []))
      const rest = bytes.subarray(0, cut).lastIndexOf(0x0a) + 1
      const isTorn = rest < cut && ids.length === linesBefore(bytes, cut)
      expect(damage).toMatchObject(isTorn ? [{ offset: rest, reason: 'torn' }] : [])
    }),
    runs(60),
  )
})

function linesBefore(bytes: Buffer, cut: number): number {
  return bytes.subarray(0, cut).filter((byte) => byte === 0x0a).length
}
