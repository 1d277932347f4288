import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRollout, openTempDir, readAll, ROLLOUT, runs, type SumFigures, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BEFORE_ANSWERS, createAnswerTracker } from './answers.ts'
import { toMessages } from './assemble.ts'
import { createBilling } from './billing.ts'
import type { Entry } from './entry.ts'
import type { ReplyMessage } from './message.ts'
import { createPassageFold } from './passages.ts'
import { createSurvey } from './survey.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

async function read(text: string): Promise<readonly Entry[]> {
  const path = join(dir.path, `rollout-2026-11-15T07-25-13-${ROLLOUT}.jsonl`)
  await writeFile(path, text)
  return (await readAll(path)).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

/** Where the sums of a response stood: Codex 0.34 to 0.79, 0.80 to 0.141, 0.142 to 0.158, and beside a bill since then. */
type Order = 'before' | 'within' | 'behind' | 'billed'

interface Response {
  readonly order: Order
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number }
  readonly calls: boolean
  /** The sums before it are told again at its beginning, and behind it. */
  readonly repeatsBefore: boolean
  readonly repeatsAfter: boolean
}

const ORDERS: readonly Order[] = ['before', 'within', 'behind', 'billed']
const figures = fc.record({
  input: fc.nat(9000),
  cached: fc.nat(9000),
  output: fc.integer({ min: 1, max: 99 }),
})
const response = (order: fc.Arbitrary<Order>): fc.Arbitrary<Response> =>
  fc
    .record({
      order,
      usage: figures,
      calls: fc.boolean(),
      repeatsBefore: fc.boolean(),
      repeatsAfter: fc.boolean(),
    })
    .map((one) => ({ ...one, usage: { ...one.usage, cached: Math.min(one.usage.cached, one.usage.input) } }))
/** A thread is written by one version after another, never by an older one in between. */
const turns = fc
  .tuple(fc.constantFrom(...ORDERS), fc.constantFrom(...ORDERS))
  .chain(([first, last]) =>
    fc.tuple(
      fc.array(fc.array(response(fc.constant(first)), { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.array(response(fc.constant(last)), { maxLength: 3 }), { maxLength: 2 }),
    ),
  )
  .map(([before, after]) => [...before, ...after])

/** A rollout of these turns. With `resumedAt`, the sums start again at that turn, as they did before version 0.64. */
function write(all: readonly (readonly Response[])[], resumedAt?: number): string {
  const rollout = createRollout()
  let sums: string | undefined
  let total = { input: 0, cached: 0, output: 0 }
  let call = 0
  const lines = [rollout.meta(), rollout.line('turn_context', { cwd: '/w', model: 'gpt-5' })]
  for (const [index, turn] of all.entries()) {
    lines.push(rollout.prompt('go on'))
    if (index === resumedAt) {
      total = { input: 0, cached: 0, output: 0 }
      sums = undefined
    }
    for (const { order, usage, calls, repeatsBefore, repeatsAfter } of turn) {
      if (repeatsBefore && sums !== undefined) lines.push(sums)
      total = add(total, usage)
      sums = rollout.sums(usage, total)
      const id = `call_${++call}`
      const items = calls ? [rollout.reply('a'), rollout.call(id, { cmd: 'ls' })] : [rollout.reply('a')]
      const results = calls ? [rollout.output(id, 'done')] : []
      const bill = rollout.bill(`resp_${call}`, {
        input_tokens: usage.input,
        cached_input_tokens: usage.cached,
        output_tokens: usage.output,
      })
      if (order === 'before') lines.push(sums, ...items, ...results)
      else if (order === 'within') lines.push(...items, sums, ...results)
      else if (order === 'behind') lines.push(...items, ...results, sums)
      else lines.push(...items, bill, ...results, sums)
      if (repeatsAfter) lines.push(sums)
    }
  }
  return lines.join('')
}

function add(a: Required<Omit<SumFigures, 'estimate'>>, b: Response['usage']): typeof a {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output }
}

function toUsage({ input, cached, output }: Response['usage']): object {
  return {
    input: input - cached,
    output,
    cacheRead: cached,
    cacheCreation: 0,
    cacheCreation5m: 0,
    cacheCreation1h: 0,
  }
}

function replies(messages: readonly { readonly kind: string }[]): readonly ReplyMessage[] {
  return messages.filter((message): message is ReplyMessage => message.kind === 'reply')
}

function billsOf(entries: readonly Entry[]): readonly (object | undefined)[] {
  const billing = createBilling()
  const bills = new Map<string, object | undefined>()
  for (const entry of entries) {
    const bill = billing.add(entry)
    if (
      bill !== undefined &&
      (entry.kind === 'record' || (entry.kind === 'reply' && entry.usage !== undefined))
    )
      bills.set(bill.key, bill.usage)
  }
  return [...bills.values()]
}

test('[CDX30] every response is billed once, and its answer shows its own cost, wherever versions put the sums', async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.option(fc.nat(4), { nil: undefined }), async (all, resumedAt) => {
      const expected = all.flat().map(({ usage }) => toUsage(usage))
      const entries = await read(write(all, resumedAt))
      expect(billsOf(entries)).toEqual(expected)
      const answers = createAnswerTracker(BEFORE_ANSWERS)
      expect(replies(toMessages(entries, { answers })).map(({ usage }) => usage)).toEqual(expected)
      const fold = createPassageFold({ spine: new Set(), delivered: new Set() })
      const told = entries.flatMap((entry) => fold.add({ kind: 'entry', entry }) ?? [])
      told.push(...(fold.finish() ?? []))
      expect(replies(told).map(({ usage }) => usage)).toEqual(expected)
      const survey = createSurvey('s')
      for (const entry of entries) survey.addEntry(entry)
      expect(survey.finish().facts.replies).toBe(expected.length)
    }),
    runs(200),
  )
})

test('[CDX30] the estimate after a compaction is no bill, and sums without figures are none', async () => {
  const rollout = createRollout()
  const total = { input: 500, output: 20 }
  const entries = await read(
    [
      rollout.meta(),
      rollout.prompt('go'),
      rollout.event({ type: 'token_count', info: null, rate_limits: { primary: null } }),
      rollout.reply('a'),
      rollout.sums(total, total),
      rollout.line('compacted', { message: 'They asked.' }),
      rollout.sums({ input: 0, output: 0, estimate: 90 }, total),
    ].join(''),
  )
  const usage = { ...toUsage({ input: 500, cached: 0, output: 20 }) }
  expect(billsOf(entries)).toEqual([usage])
  expect(replies(toMessages(entries)).map((reply) => reply.usage)).toEqual([usage])
})
