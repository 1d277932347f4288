import { ThroughlineError } from '#base'
import { runs } from '#testing'
import type { UsageReport, UsageRequest } from '#wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { embeddedPrices } from './price.ts'
import type { StoredBill, StoredCompaction } from './store.ts'
import { toUsageReport } from './usage.ts'

const prices = embeddedPrices()
const report = (bills: readonly StoredBill[], request: Partial<UsageRequest> = {}): UsageReport =>
  toUsageReport(bills, { by: 'day', ...request }, { prices })

const bill = (fields: Partial<StoredBill> & { readonly output?: number } = {}): StoredBill => ({
  key: 'msg_1 req_1',
  path: `/t/${fields.session ?? 'a'}.jsonl`,
  session: 'a',
  createdAt: '2026-01-01T00:00:00.000Z',
  at: Date.parse('2026-11-15T23:30:00.000Z'),
  model: 'claude-opus-4-5',
  workdir: '/w',
  usage: {
    input: 10,
    output: fields.output ?? 5,
    cacheRead: 0,
    cacheCreation: 0,
    cacheCreation5m: 0,
    cacheCreation1h: 0,
  },
  ...fields,
})

describe('usage', () => {
  test('[USE1] a message in several files counts once, for the session that was created first', () => {
    const copies = [
      bill({ session: 'b', createdAt: '2026-01-02T00:00:00.000Z' }),
      bill({ session: 'a' }),
      bill({ session: 'c', createdAt: '' }),
    ]
    const { rows, total } = report(copies, { by: 'session' })
    expect(rows.map(({ key, messages }) => [key, messages])).toEqual([['a', 1]])
    expect(total).toMatchObject({ messages: 1, usage: { input: 10, output: 5 } })
  })

  test('[USE1] a copy that has more of a message than its original gives the figures', () => {
    const torn = [
      bill({ output: 1 }),
      bill({ session: 'b', createdAt: '2026-01-02T00:00:00.000Z', output: 90 }),
    ]
    expect(report(torn, { by: 'session' }).rows).toMatchObject([{ key: 'a', usage: { output: 90 } }])
  })

  test('[USE2] the order in which bills come changes nothing, not even the last digit', () => {
    const count = fc.integer({ min: 0, max: 400_000 })
    const some = fc.record({
      key: fc.constantFrom('m1 ', 'm2 r', 'm3 r', 'm4 r', 'm5 r'),
      session: fc.constantFrom('a', 'b', 'c'),
      createdAt: fc.constantFrom('', '2026-01-01', '2026-01-02'),
      at: fc.constantFrom(undefined, 0, 86_400_000, 90_000_000),
      model: fc.constantFrom(undefined, 'claude-opus-4-5', 'claude-sonnet-4-5', 'nobody-knows'),
      workdir: fc.constantFrom(undefined, '/w', '/w/x', '/v'),
      usage: fc.record({
        input: count,
        output: count,
        cacheRead: count,
        cacheCreation: count,
        cacheCreation5m: count,
        cacheCreation1h: count,
      }),
    })
    // One bill per message and file.
    const all = fc.uniqueArray(some, { selector: ({ key, session }) => `${key} ${session}`, maxLength: 15 })
    const by = fc.constantFrom('day' as const, 'model' as const, 'workdir' as const, 'session' as const)
    const shuffled = all.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    fc.assert(
      fc.property(shuffled, by, ([list, other], kind) => {
        const whole = (bills: typeof list): UsageReport =>
          report(
            bills.map((one) => ({ ...one, path: `/t/${one.session}` })),
            { by: kind },
          )
        expect(whole(other)).toEqual(whole(list))
        const { rows, total } = whole(list)
        expect(rows.reduce((sum, row) => sum + row.usage.cacheRead, 0)).toBe(total.usage.cacheRead)
        expect(rows.reduce((sum, row) => sum + row.messages, 0)).toBe(total.messages)
      }),
      runs(400),
    )
  })

  test('[USE3] days are those of the time zone, and since and until are part of the stretch', () => {
    const bills = [0, 1, 2].map((n) =>
      bill({ key: `m${n}`, at: Date.parse('2026-11-14T23:30:00.000Z') + n * 86_400_000 }),
    )
    const days = (request: Partial<UsageRequest>): readonly string[] =>
      report(bills, request).rows.map(({ key }) => key)
    expect(days({})).toEqual(['2026-11-14', '2026-11-15', '2026-11-16'])
    expect(days({ timeZone: 'Europe/Berlin' })).toEqual(['2026-11-15', '2026-11-16', '2026-11-17'])
    expect(days({ since: '2026-11-15', until: '2026-11-15' })).toEqual(['2026-11-15'])
    expect(days({ since: '2026-11-17', timeZone: 'Europe/Berlin' })).toEqual(['2026-11-17'])
    expect(report([bill({ at: undefined })]).rows[0]?.key).toBe('')
    expect(report([bill({ at: undefined })], { since: '2020-01-01' }).rows).toEqual([])
    for (const request of [{ since: 'yesterday' }, { until: '2026-02-30' }, { timeZone: 'Mars' }]) {
      expect(() => report(bills, request)).toThrow(ThroughlineError)
    }
  })

  test('[USE3] a folder means it and what is below it', () => {
    const bills = ['/w', '/w/x', '/wx', undefined].map((workdir, n) => bill({ key: `m${n}`, workdir }))
    expect(report(bills, { workdir: '/w' }).total.messages).toBe(2)
    expect(report(bills, { workdir: '/w/' }).total.messages).toBe(1)
    expect(report(bills, { by: 'workdir' }).rows.map(({ key }) => key)).toEqual(['', '/w', '/w/x', '/wx'])
  })

  test('[USE4] tokens cost what the list says: by kind, by lifetime, and more beyond 200,000', () => {
    const costOf = (model: string, usage: Partial<StoredBill['usage']>): number =>
      report([bill({ model, usage: { ...bill().usage, input: 0, output: 0, ...usage } })]).total.cost
    expect(costOf('claude-opus-4-5', { input: 1_000_000 })).toBeCloseTo(5)
    expect(costOf('claude-opus-4-5', { output: 1_000_000 })).toBeCloseTo(25)
    expect(costOf('claude-opus-4-5', { cacheRead: 1_000_000 })).toBeCloseTo(0.5)
    expect(costOf('claude-opus-4-5', { cacheCreation: 1_000_000 })).toBeCloseTo(6.25)
    expect(costOf('claude-opus-4-5', { cacheCreation: 1_000_000, cacheCreation1h: 500_000 })).toBeCloseTo(
      8.125,
    )
    expect(costOf('claude-sonnet-4-5', { input: 300_000 })).toBeCloseTo(1.2)
    expect(costOf('claude-sonnet-4-5', { cacheCreation: 300_000, cacheCreation1h: 300_000 })).toBeCloseTo(2.4)
    expect(costOf('gpt-5.1-codex', { input: 1_000_000 })).toBeCloseTo(1.25)
    expect(costOf('gemini-2.5-pro', { input: 300_000 })).toBeCloseTo(0.5)
  })

  test('[USE5] a model without a known price is counted, named and not guessed', () => {
    const bills = [
      bill({ key: 'm1', model: 'claude-opus-5-5' }),
      bill({ key: 'm2', model: 'claude-opus-5' }),
      bill({ key: 'm3', model: undefined }),
    ]
    const { total, unpriced, prices: list } = report(bills)
    expect(unpriced).toEqual(['claude-opus-5-5'])
    expect(total).toMatchObject({ messages: 3, unpricedMessages: 2, usage: { input: 30 } })
    expect(total.cost).toBeCloseTo((10 * 5 + 5 * 25) / 1_000_000)
    expect(list.dated).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(prices.find('claude-opus-4-5-20991231')).toEqual(prices.find('claude-opus-4-5'))
    expect(prices.find('anthropic/claude-opus-4-5@20251101')).toEqual(prices.find('claude-opus-4-5'))
    expect(prices.find('claude-opus')).toBeUndefined()
    expect(prices.find('constructor')).toBeUndefined()
  })

  test('[USE8] without a cache, all that went in costs what input costs', () => {
    const usage = {
      ...bill().usage,
      input: 1_000,
      output: 10,
      cacheRead: 500_000,
      cacheCreation: 300_000,
      cacheCreation1h: 100_000,
    }
    const { total, rows } = report([bill({ usage }), bill({ key: 'm2', model: 'nobody-knows', usage })])
    expect(total.uncachedCost).toBeCloseTo((801_000 * 5 + 10 * 25) / 1_000_000)
    expect(total.cost).toBeLessThan(total.uncachedCost)
    expect(rows[0]?.uncachedCost).toBe(total.uncachedCost)
    expect(report([bill()]).total.uncachedCost).toBe(report([bill()]).total.cost)
  })

  test('[USE9] compactions count once, for the days and folders that were asked for', () => {
    const compaction = (fields: Partial<StoredCompaction>): StoredCompaction => ({
      key: 'c1',
      path: '/t/a.jsonl',
      at: Date.parse('2026-11-15T12:00:00.000Z'),
      workdir: '/w/x',
      tokens: 100,
      ...fields,
    })
    const all = [
      compaction({}),
      compaction({ path: '/t/copy.jsonl' }),
      compaction({ key: 'c2', tokens: 7, at: Date.parse('2026-11-17T12:00:00.000Z') }),
      compaction({ key: '@40', tokens: undefined, unseen: true, workdir: '/v' }),
      compaction({ key: '@40', path: '/t/b.jsonl', tokens: 0, workdir: undefined, at: undefined }),
    ]
    const of = (request: Partial<UsageRequest>): UsageReport['compactions'] =>
      toUsageReport([], { by: 'day', ...request }, { prices, compactions: all }).compactions
    expect(of({})).toEqual({ count: 4, tokens: 107, unknown: 1, unbilled: 1 })
    expect(of({ since: '2026-11-16' })).toEqual({ count: 1, tokens: 7, unknown: 0, unbilled: 0 })
    expect(of({ workdir: '/w' })).toEqual({ count: 2, tokens: 107, unknown: 0, unbilled: 0 })
    expect(of({ workdir: '/w', until: '2026-11-15' })).toEqual({
      count: 1,
      tokens: 100,
      unknown: 0,
      unbilled: 0,
    })
    expect(toUsageReport([], { by: 'day' }, { prices }).compactions).toEqual({
      count: 0,
      tokens: 0,
      unknown: 0,
      unbilled: 0,
    })
  })

  test('[USE2] sixty thousand bills take no time worth waiting for', () => {
    const bills = Array.from({ length: 60_000 }, (_, n) =>
      bill({ key: `msg_${n} req_${n}`, session: `s${n % 2000}`, at: 1_700_000_000_000 + n * 260_000 }),
    )
    const started = performance.now()
    expect(report(bills, { timeZone: 'Europe/Berlin' }).total.messages).toBe(60_000)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
