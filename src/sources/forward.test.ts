import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Entry, placeOf, type Reading } from '#model'
import { createLines, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

const fixtures = join(import.meta.dirname, '../../test/fixtures/claude')
const transcripts = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.jsonl') && name.includes('projects'),
)

async function reading(bytes: Uint8Array | string, options = {}): Promise<readonly Reading[]> {
  const path = join(dir.path, 'transcript.jsonl')
  await writeFile(path, bytes)
  return readAll(path, options)
}

function entriesOf(readings: readonly Reading[]): Entry[] {
  return readings.flatMap((each) => (each.kind === 'entry' ? [each.entry] : []))
}

/** The file put together again from what was read; what was not read must be white space or a byte order mark. */
function rebuilt(bytes: Buffer, readings: readonly Reading[]): Buffer {
  const out = Buffer.from(bytes.toString('latin1').replaceAll(/(?!ï»¿)[^ \t\r\n»¿]/g, '\u0000'), 'latin1')
  let end = 0
  for (const each of readings) {
    const { offset, length } = placeOf(each)
    expect(offset).toBeGreaterThanOrEqual(end)
    end = offset + length
    if (each.kind === 'entry') out.set(each.entry.raw, offset)
    else out.set(bytes.subarray(offset, end), offset)
  }
  return out
}

/** Lines of all sorts, and things that are no lines. */
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom('user', 'assistant', 'attachment', 'system', 'mode', 'new-in-2027'),
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
      )
      .map(([type, value, text]) =>
        Buffer.from(JSON.stringify({ type, uuid: text, sessionId: 's', message: value, content: text })),
      ),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))) },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
  },
)
const ending = fc.constantFrom('\n', '\r\n', '\n\n', ' \n')
const transcript = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, ending), { maxLength: 12 }), fc.boolean())
  .map(([mark, lines, torn]) => {
    const body = Buffer.concat(lines.flatMap(([bytes, end]) => [bytes, Buffer.from(end)]))
    const all = mark ? Buffer.concat([Buffer.from('\ufeff'), body]) : body
    return torn ? all.subarray(0, Math.max(0, all.length - 3)) : all
  })

describe('bytes', () => {
  test.each(transcripts)('[E1.1] [READ2] every line of %s comes back byte for byte', async (name) => {
    const path = join(fixtures, name)
    const bytes = await readFile(path)
    const readings = await readAll(path)
    expect(rebuilt(bytes, readings).equals(bytes)).toBe(true)
  })

  test('[READ2] [READ4] whatever a file holds, entries and damage give back all of it', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, fc.integer({ min: 1, max: 64 }), async (bytes, chunk) => {
        const readings = await reading(bytes, { chunk })
        expect(rebuilt(bytes, readings).equals(bytes)).toBe(true)
      }),
      runs(400),
    )
  })

  test('[T08] [READ2] a character divided between two pieces of the file is read whole, at every division', async () => {
    const lines = createLines()
    const bytes = Buffer.from(
      toJsonl([lines.prompt('日本語 😀 ünïcode'), lines.reply([{ type: 'text', text: '漢字' }])]),
    )
    const whole = await reading(bytes)
    // Every division of the first line; one step in seven of the rest, which is longer than a person would wait.
    for (let chunk = 1; chunk <= bytes.length; chunk += chunk < 120 ? 1 : 7)
      expect(await reading(bytes, { chunk })).toEqual(whole)
    expect(whole).toHaveLength(2)
  })

  test('[T07] [READ2] a lone surrogate is read as it was written, and the raw line is untouched', async () => {
    const json = String.raw`{"type":"user","uuid":"u","message":{"role":"user","content":"cut \ud83d here"}}`
    const [entry] = entriesOf(await reading(`${json}\n`))
    expect(entry).toMatchObject({ kind: 'prompt', blocks: [{ kind: 'text', text: 'cut \ud83d here' }] })
    expect(Buffer.from(entry?.raw ?? []).toString()).toBe(json)
  })

  test('[T09] [READ2] a zero character in a tool result is read and kept as it was written', async () => {
    const lines = createLines()
    const json = toJsonl([lines.result('toolu_1', 'binary \u0000\u0001 output')])
    const [entry] = entriesOf(await reading(json))
    expect(entry).toMatchObject({
      blocks: [{ content: [{ kind: 'text', text: 'binary \u0000\u0001 output' }] }],
    })
    expect(`${Buffer.from(entry?.raw ?? []).toString()}\n`).toBe(json)
  })

  test('[READ2] invalid UTF-8 in a string is shown as a replacement character and kept as it was', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"type":"user","uuid":"u","message":{"role":"user","content":"a'),
      Buffer.from([0xff, 0xc0, 0x80]),
      Buffer.from('b"}}\n'),
    ])
    const [entry] = entriesOf(await reading(bytes))
    expect(entry?.kind).toBe('prompt')
    expect(Buffer.from(entry?.raw ?? []).equals(bytes.subarray(0, -1))).toBe(true)
  })
})

describe('damage', () => {
  const untouched = (): readonly object[] => {
    const lines = createLines()
    return [
      lines.prompt('first'),
      lines.attachment('date'),
      lines.reply([{ type: 'text', text: 'an answer with "quotes" and {"braces"}' }]),
      lines.prompt('second'),
      lines.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls {"a":1}' } }]),
    ]
  }
  const rawOf = (readings: readonly Reading[]): string[] =>
    entriesOf(readings).map((entry) => Buffer.from(entry.raw).toString())

  test('[READ3] any cut, glue, zero bytes or flipped bit loses no line that it did not touch, and never throws', async () => {
    const lines = untouched().map((each) => JSON.stringify(each))
    const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''))
    const harm = fc.record({
      kind: fc.constantFrom('cut', 'glue', 'zeros', 'flip', 'insert'),
      at: fc.nat({ max: bytes.length - 1 }),
      length: fc.integer({ min: 1, max: 600 }),
      noise: fc.uint8Array({ minLength: 1, maxLength: 30 }),
    })
    await fc.assert(
      fc.asyncProperty(harm, async ({ kind, at, length, noise }) => {
        const { harmed, from, to } = harmBytes(bytes, kind, at, length, noise)
        const readings = await reading(harmed)
        const found = new Set(rawOf(readings))
        let start = 0
        for (const each of lines) {
          // A line is touched when the harm meets one of its bytes, or the newline that ends or begins it.
          const end = start + Buffer.byteLength(each)
          if (end < from || start > to) expect(found).toContain(each)
          start = end + 1
        }
        expect(rebuilt(harmed, readings).equals(harmed)).toBe(true)
      }),
      runs(1500),
    )
  })

  test('[T01] [READ4] a last line cut at any byte leaves all others and reports its place', async () => {
    const lines = untouched()
    const bytes = Buffer.from(toJsonl(lines))
    const lastStart = bytes.lastIndexOf(10, bytes.length - 2) + 1
    for (let end = lastStart + 1; end < bytes.length - 1; end++) {
      const readings = await reading(bytes.subarray(0, end))
      expect(entriesOf(readings)).toHaveLength(lines.length - 1)
      expect(readings.at(-1)).toEqual({
        kind: 'damage',
        damage: { offset: lastStart, length: end - lastStart, reason: 'torn' },
      })
    }
  })

  test('[T02] [READ4] a record glued behind the beginning of another is recovered, the beginning reported', async () => {
    const [first, , whole] = untouched()
    const stub = JSON.stringify(first).slice(0, 100)
    const readings = await reading(`${stub}${JSON.stringify(whole)}\n`)
    expect(rawOf(readings)).toEqual([JSON.stringify(whole)])
    expect(readings[0]).toEqual({ kind: 'damage', damage: { offset: 0, length: 100, reason: 'glued' } })
  })

  test('[T02] [READ4] a torn record is glued at any byte: the record behind it is always recovered', async () => {
    const [first, , whole] = untouched()
    const json = JSON.stringify(first)
    for (let cut = 1; cut < json.length; cut++) {
      const readings = await reading(`${json.slice(0, cut)}${JSON.stringify(whole)}\n`)
      expect(rawOf(readings), `cut at ${cut}`).toContain(JSON.stringify(whole))
    }
  })

  test('[T02] [READ4] two whole records on one line are both read, and nothing is damaged', async () => {
    const [first, second] = untouched().map((each) => JSON.stringify(each))
    const readings = await reading(`${first}${second}\n`)
    expect(rawOf(readings)).toEqual([first, second])
    expect(readings).toHaveLength(2)
  })

  test('[T03] [READ4] zero bytes between lines are reported, and both sides kept', async () => {
    const lines = untouched().map((each) => `${JSON.stringify(each)}\n`)
    const before = lines.slice(0, 2).join('')
    const readings = await reading(`${before}${'\0'.repeat(512)}${lines.slice(2).join('')}`)
    expect(entriesOf(readings)).toHaveLength(lines.length)
    expect(readings[2]).toEqual({
      kind: 'damage',
      damage: { offset: Buffer.byteLength(before), length: 512, reason: 'nul-run' },
    })
  })

  test('[T05] [READ4] a bad line in the middle hides nothing after it', async () => {
    const lines = untouched().map((each) => `${JSON.stringify(each)}\n`)
    const readings = await reading([...lines.slice(0, 2), 'not json at all\n', ...lines.slice(2)].join(''))
    expect(entriesOf(readings)).toHaveLength(lines.length)
    expect(readings[2]).toMatchObject({ kind: 'damage', damage: { reason: 'garbage', length: 15 } })
  })

  test('[T14] [READ3] empty files, blank lines and files with only a snapshot are read without complaint', async () => {
    expect(await reading('')).toEqual([])
    expect(await reading('\n\r\n  \n')).toEqual([])
    const snapshot =
      '{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}\n'
    expect(entriesOf(await reading(snapshot))).toMatchObject([
      { kind: 'record', type: 'file-history-snapshot' },
    ])
  })

  test('[READ3] salvage does not go on for ever: a torn line of a million nested beginnings ends at once', async () => {
    const before = process.cpuUsage()
    const readings = await reading(`${'{"a":'.repeat(200_000)}\n{"type":"mode","sessionId":"s","mode":"x"}\n`)
    const { user } = process.cpuUsage(before)
    expect(entriesOf(readings)).toHaveLength(1)
    // A hang guard: it takes a tenth of this.
    expect(user).toBeLessThan(10_000_000)
  })
})

describe('long lines', () => {
  test('[READ5] a line over the limit is told by its envelope, and the lines after it are read', async () => {
    const lines = createLines()
    const before = lines.prompt('before')
    const long = lines.result('toolu_1', 'x'.repeat(300_000))
    const after = lines.reply([{ type: 'text', text: 'after' }])
    const json = toJsonl([before, long, after])
    for (const chunk of [1000, 4096, 65_536]) {
      const [first, second, third] = entriesOf(await reading(json, { chunk, maxLine: 100_000 }))
      expect(first).toMatchObject({ kind: 'prompt' })
      expect(second).toMatchObject({
        kind: 'oversize',
        id: long.uuid,
        type: 'user',
        link: { parentId: before.uuid, sidechain: false },
        place: {
          offset: Buffer.byteLength(toJsonl([before])),
          length: Buffer.byteLength(JSON.stringify(long)),
        },
      })
      expect(third).toMatchObject({ kind: 'reply', id: after.uuid })
    }
  })

  test('[READ5] a line over the limit that is torn is damage, with its place', async () => {
    const readings = await reading(`{"type":"user","content":"${'x'.repeat(50_000)}`, {
      chunk: 1024,
      maxLine: 10_000,
    })
    expect(readings).toMatchObject([{ kind: 'damage', damage: { offset: 0, reason: 'torn' } }])
  })
})

function harmBytes(
  bytes: Buffer,
  kind: string,
  at: number,
  length: number,
  noise: Uint8Array,
): { harmed: Buffer; from: number; to: number } {
  const end = Math.min(bytes.length, at + length)
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(end)]
  switch (kind) {
    case 'cut':
      return { harmed: Buffer.from(head), from: at, to: bytes.length }
    case 'glue':
      return { harmed: Buffer.concat([head, tail]), from: at, to: end }
    case 'zeros':
      return { harmed: Buffer.concat([head, Buffer.alloc(end - at), tail]), from: at, to: end }
    case 'flip': {
      const harmed = Buffer.from(bytes)
      harmed[at] = (harmed[at] ?? 0) ^ (1 << (length % 8))
      return { harmed, from: at, to: at }
    }
    default:
      return { harmed: Buffer.concat([head, noise, bytes.subarray(at)]), from: at, to: at }
  }
}
