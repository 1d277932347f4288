import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { billKey, createBilling } from '#model'
import { createLines, generateCorpus, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTranscript } from '../transcript-file.ts'
import { createBillReader, type BilledMessage, type FoundCompaction } from './usage-scan.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

const reader = createBillReader()

interface Found {
  readonly messages: ReadonlyMap<string, BilledMessage>
  readonly compactions: ReadonlyMap<string, FoundCompaction>
}

async function bills(path: string): Promise<Found> {
  const file = openTranscript(path)
  try {
    const { messages, compactions } = await reader.read(file)
    return {
      messages: new Map(messages.map((bill) => [bill.key, bill])),
      compactions: new Map(compactions.map((one) => [one.key, one])),
    }
  } finally {
    file.close()
  }
}

/** The same from everything a transcript reads as. */
async function readBills(path: string): Promise<Found> {
  const messages = new Map<string, BilledMessage>()
  const compactions = new Map<string, FoundCompaction>()
  const billing = createBilling()
  for (const reading of await readAll(path)) {
    if (reading.kind === 'damage') continue
    const { entry } = reading
    const ms = Date.parse(entry.at ?? '')
    const at = Number.isNaN(ms) ? undefined : ms
    const workdir = entry.cwd
    if (entry.kind === 'compaction') {
      const { tokensBefore, tokensAfter } = entry.compaction
      const key = entry.forkedFrom?.entryId ?? entry.id
      compactions.set(key, {
        key,
        at,
        workdir,
        ...(tokensBefore === undefined ? {} : { unseen: true }),
        ...(tokensBefore === undefined || tokensAfter === undefined
          ? {}
          : { tokens: Math.max(0, tokensBefore - tokensAfter) }),
      })
    }
    const bill = billing.add(entry)
    if (bill?.isCompaction && bill.usage) {
      const { isCompaction: _is, usage, at: when, ...rest } = bill
      messages.set(bill.key, { ...rest, at: Date.parse(when ?? ''), usage })
    }
    if (entry.kind !== 'reply' || entry.synthetic || entry.usage === undefined) continue
    const key = billKey(entry)
    messages.set(key, { key, at, model: entry.model, workdir, usage: entry.usage })
  }
  return { messages, compactions }
}

function transcriptsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl') && name.includes('projects'))
    .map((name) => join(folder, name))
}

describe('bills without reading', () => {
  test('[USE6] [USE9] every real session has the bills that a full read finds', async () => {
    const fixtures = join(import.meta.dirname, '../../../test/fixtures/claude')
    const paths = transcriptsIn(fixtures)
    expect(paths.length).toBeGreaterThan(50)
    for (const path of paths)
      expect({ path, bills: await bills(path) }).toEqual({ path, bills: await readBills(path) })
  })

  test('[USE6] so has a generated corpus with damage, forks and subagents', async () => {
    const config = join(dir.path, 'corpus')
    await generateCorpus({ dir: config, seed: 5, size: 'xs' })
    for (const path of transcriptsIn(dir.path)) {
      expect({ path, bills: await bills(path) }).toEqual({ path, bills: await readBills(path) })
    }
  })

  test('[USE6] [USE9] whatever happened to the bytes, the bills are those of a full read', async () => {
    const path = join(dir.path, 'broken.jsonl')
    const lines = createLines()
    const spent = (n: number): object =>
      lines.reply([{ type: 'text', text: `a "usage": {"output_tokens":${n}} ${'x'.repeat(n * 40)}` }], {
        ...(n % 4 === 0 ? { requestId: undefined } : { requestId: `req_${n % 3}` }),
        message: {
          ...(n % 5 === 0 ? {} : { id: `msg_${n % 7}` }),
          model: n % 6 === 0 ? '<synthetic>' : 'claude-opus-5-5',
          content: [
            { type: 'tool_use', id: 't', name: 'x', input: { message: { usage: { output_tokens: 9 } } } },
          ],
          usage: { input_tokens: n, output_tokens: n * 2, cache_creation: { ephemeral_1h_input_tokens: n } },
        },
      })
    const compaction = (n: number): object =>
      lines.system('compact_boundary', {
        compactMetadata: {
          trigger: 'auto',
          preTokens: 1000 * n,
          ...(n % 2 === 0 ? {} : { postTokens: 5000 }),
        },
      })
    const whole = Buffer.from(
      toJsonl(
        Array.from({ length: 24 }, (_, n) =>
          n % 8 === 7
            ? compaction(n)
            : n % 3 === 2
              ? lines.prompt(`"usage" "compact_boundary" ${n}`)
              : spent(n),
        ),
      ),
    )
    const harm = fc.record({
      at: fc.nat(whole.length - 1),
      length: fc.integer({ min: 0, max: 400 }),
      put: fc.constantFrom('', '\0\0\0', '\n', '"', '{"type":"assistant","usage":{}}', '}', ' ', '\\'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(harm, { maxLength: 4 }), async (harms) => {
        let bytes = whole
        for (const { at, length, put } of harms) {
          bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + length)])
        }
        await writeFile(path, bytes)
        expect(await bills(path)).toEqual(await readBills(path))
      }),
      runs(300),
    )
  })

  test('[USE6] lines of every length are held whole', async () => {
    const path = join(dir.path, 'long.jsonl')
    const lines = createLines()
    const texts = [10, 70_000, 5, 200_000, 65_400, 65_536, 3_000_000, 1]
    const made = texts.map((length, n) =>
      lines.reply([], {
        requestId: 'r',
        message: {
          id: `msg_${n}`,
          content: [{ type: 'text', text: 'é'.repeat(length) }],
          usage: { output_tokens: n },
        },
      }),
    )
    await writeFile(path, toJsonl(made).trimEnd())
    const found = await bills(path)
    expect(found.messages.size).toBe(texts.length)
    expect(found).toEqual(await readBills(path))
  })
})
