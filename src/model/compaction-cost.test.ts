import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, toJsonl, type LineMaker, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBilling, type Bill } from './billing.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

const MODEL = 'claude-opus-5-5'

const usage = (input: number, output: number): object => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
})

const costs = (input: number, output: number, fields: object = {}): object => ({
  type: 'cost-state',
  sessionId: 's',
  startTime: 1,
  modelUsage: { [MODEL]: { inputTokens: input, outputTokens: output } },
  ...fields,
})

function reply(lines: LineMaker, id: string, output: number, fields: object = {}): object {
  const message = { id, role: 'assistant', model: MODEL, content: [], stop_reason: 'end_turn' }
  return lines.reply([], { message: { ...message, usage: usage(10, output), ...fields }, requestId: id })
}

const compacted = (lines: LineMaker): object =>
  lines.system('compact_boundary', { compactMetadata: { trigger: 'auto', preTokens: 100 } })

/** A compaction, and what the client says before and after it, with what the lines between say. */
async function billsOf(
  middle: (lines: LineMaker) => readonly object[],
  after: object = costs(30, 12),
  before: readonly object[] = [costs(10, 5)],
): Promise<readonly Bill[]> {
  const lines = createLines()
  const all = [lines.prompt('go'), reply(lines, 'm1', 5), ...before, ...middle(lines), after]
  const path = join(dir.path, 'session.jsonl')
  await writeFile(path, toJsonl(all))
  const billing = createBilling()
  return (await readAll(path)).flatMap((reading) => {
    const bill = reading.kind === 'entry' ? billing.add(reading.entry) : undefined
    return bill?.isCompaction ? [bill] : []
  })
}

describe('[USE10] the request of a compaction', () => {
  test('is what the totals have more than the messages between', async () => {
    const [bill, ...others] = await billsOf((lines) => [compacted(lines), reply(lines, 'm2', 4)])
    expect(others).toEqual([])
    expect(bill).toMatchObject({ model: MODEL, usage: { input: 10, output: 3 }, isCompaction: true })
    expect(bill?.key).toMatch(/^compaction /)
    expect(bill?.at).toBeDefined()
  })

  const cases: readonly (readonly [why: string, ...of: Parameters<typeof billsOf>])[] = [
    ['nothing was compacted', (lines) => [reply(lines, 'm2', 4)]],
    [
      'the totals say no more than the messages',
      (lines) => [compacted(lines), reply(lines, 'm2', 4)],
      costs(20, 9),
    ],
    ['the totals say less', (lines) => [compacted(lines), reply(lines, 'm2', 4)], costs(20, 2)],
    ['no totals stand before it', (lines) => [compacted(lines)], costs(30, 12), []],
    ['another process totals anew', (lines) => [compacted(lines)], costs(30, 12, { startTime: 2 })],
    ['there are two of them', (lines) => [compacted(lines), compacted(lines)]],
    ['it is more than the window could be', (lines) => [compacted(lines)], costs(400, 12)],
    [
      'a subagent was at work',
      (lines) => [
        reply(lines, 'm2', 4, { content: [{ type: 'tool_use', id: 't', name: 'Task', input: {} }] }),
        compacted(lines),
      ],
    ],
    [
      'another model answered that the totals call otherwise',
      (lines) => [compacted(lines), reply(lines, 'm2', 4, { model: `${MODEL}-20260101` })],
    ],
    [
      'another model has more as well',
      (lines) => [compacted(lines)],
      costs(30, 12, {
        modelUsage: { [MODEL]: { inputTokens: 30, outputTokens: 9 }, other: { outputTokens: 3 } },
      }),
    ],
  ]
  for (const [why, ...of] of cases)
    test(`is not billed when ${why}`, async () => {
      expect(await billsOf(...of)).toEqual([])
    })
})
