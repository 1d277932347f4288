import { expect, test } from 'vitest'
import { NO_USAGE } from '#model'
import type { UsageRow } from '#wire'
import { createHeat, fillDays, moveDay, toRange, toWeeks } from './days.ts'
import { toAmount, toMoney, toShare } from './figures.ts'

function rowOf(key: string, messages: number): UsageRow {
  return { key, messages, usage: NO_USAGE, cost: 0, uncachedCost: 0, unpricedMessages: 0, models: [] }
}

test('[WEB44] a period of days ends today and has exactly that many', () => {
  expect(toRange({ kind: 'last', days: 7 }, '2026-03-02')).toEqual({
    since: '2026-02-24',
    until: '2026-03-02',
  })
  expect(toRange({ kind: 'all' }, '2026-03-02')).toEqual({})
  expect(toRange({ kind: 'between', since: '', until: '2026-01-01' }, '2026-03-02')).toEqual({
    until: '2026-01-01',
  })
  expect(moveDay('2026-03-29', 1)).toBe('2026-03-30')
  expect(moveDay('2024-02-28', 1)).toBe('2024-02-29')
})

test('[WEB44] every day of a period is there once, also those without anything, and no wrong clock makes it endless', () => {
  const range = { since: '2026-10-24', until: '2026-10-27' }
  const filled = fillDays([rowOf('2026-10-25', 3), rowOf('', 9)], range, '2026-11-16')
  expect(filled.map(({ key, messages }) => [key, messages])).toEqual([
    ['2026-10-24', 0],
    ['2026-10-25', 3],
    ['2026-10-26', 0],
    ['2026-10-27', 0],
  ])
  expect(fillDays([], {}, '2026-11-16')).toHaveLength(1)
  expect(fillDays([rowOf('0001-01-01', 1), rowOf('2026-11-14', 1)], {}, '2026-11-16').length).toBeLessThan(
    1100,
  )
})

test('[WEB45] weeks begin on Monday and have seven days', () => {
  // 2026-11-14 is a Saturday.
  const weeks = toWeeks(fillDays([], { since: '2026-11-14', until: '2026-11-17' }, '2026-11-17'))
  expect(weeks.map((week) => week.map((day) => day?.key.slice(8)))).toEqual([
    [undefined, undefined, undefined, undefined, undefined, '14', '15'],
    ['16', '17', undefined, undefined, undefined, undefined, undefined],
  ])
})

test('[WEB45] one enormous day does not make all others look idle', () => {
  const values = [0, 1, 2, 3, 4, 5, 6, 7, 100_000]
  const heat = createHeat(values)
  expect(values.map(heat)).toEqual([0, 1, 1, 1, 2, 2, 3, 3, 4])
  expect(createHeat([])(0)).toBe(0)
  expect(createHeat([5])(5)).toBe(1)
})

test('[WEB44] figures are as exact as anybody needs them', () => {
  expect([0, 0.004, 0.05, 12.345, 1234.5].map(toMoney)).toEqual([
    '$0',
    '< $0.01',
    '$0.05',
    '$12.35',
    '$1,235',
  ])
  expect([812, 45_000, 1_200_000, 999_600_000, 34e9].map(toAmount)).toEqual([
    '812',
    '45k',
    '1.2M',
    '1.0B',
    '34B',
  ])
  expect([toShare(0, 0), toShare(1, 1000), toShare(38, 100)]).toEqual(['0 %', '< 1 %', '38 %'])
})
