import * as fc from 'fast-check'
import { randomFrom, runs } from '#testing'
import { expect, test } from 'vitest'
import { countDiff, countLineDiff, toLineDiff, type DiffLine } from './line-diff.ts'
import { matchLines } from './line-match.ts'

const lines = fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd', 'e'), { maxLength: 40 })
const pair = fc.tuple(lines, lines)
const sideOf = (diff: readonly DiffLine[], without: DiffLine['kind']): readonly string[] =>
  diff.filter(({ kind }) => kind !== without).map(({ text }) => text)
const toText = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

/** The length of the longest common subsequence, by the table of all lengths. */
function commonLength(old: readonly string[], fresh: readonly string[]): number {
  let row = Array.from({ length: fresh.length + 1 }, () => 0)
  for (const line of old) {
    const next = [0]
    for (const [at, other] of fresh.entries())
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(next[at] ?? 0, row[at + 1] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}

test('[DIG11] 500 changed lines of 1,500 are 500 and 500, not everything', () => {
  const before = Array.from({ length: 1500 }, (_, at) => `line ${at}`)
  const after = before.map((line, at) => (at % 3 === 1 ? `${line}, changed` : line))
  expect(countLineDiff(toText(before), toText(after))).toEqual({ added: 500, removed: 500 })
  const diff = toLineDiff(toText(before), toText(after))
  expect(countDiff(diff)).toEqual({ added: 500, removed: 500 })
  expect(diff.slice(0, 4).map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same'])
})

test('[DIG11] a diff applied to what was before gives what is after, and no shorter one exists', () => {
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const diff = toLineDiff(toText(before), toText(after))
      expect(sideOf(diff, 'added')).toEqual(before)
      expect(sideOf(diff, 'removed')).toEqual(after)
      const common = commonLength(before, after)
      const counted = { added: after.length - common, removed: before.length - common }
      expect(countDiff(diff)).toEqual(counted)
      expect(countLineDiff(toText(before), toText(after))).toEqual(counted)
    }),
    runs(3000),
  )
})

test('[DIG11] large texts are aligned, and the work grows with their lines, not with the square', () => {
  const start = fc.integer({ min: 1, max: 0x7fff_ffff })
  const length = fc.integer({ min: 2000, max: 4000 })
  fc.assert(
    fc.property(start, fc.integer({ min: 2, max: 60 }), length, length, (seed, kinds, one, other) => {
      const random = randomFrom(seed)
      const some = (count: number): string[] =>
        Array.from({ length: count }, () => `${Math.floor(random() * kinds)}`)
      const [before, after] = [some(one), some(other)]
      const diff = toLineDiff(toText(before), toText(after))
      expect(sideOf(diff, 'added').join(' ')).toBe(before.join(' '))
      expect(sideOf(diff, 'removed').join(' ')).toBe(after.join(' '))
      // Most of what can be shared at all is found even where the search is cut short.
      const shared = diff.filter(({ kind }) => kind === 'same').length
      expect(shared).toBeGreaterThan(commonLength(before, after) * 0.6)
    }),
    runs(4),
  )
  const size = 20_000
  const there = Array.from({ length: size }, (_, at) => `line ${at}`)
  for (const other of [
    there.toReversed(),
    there.map((line) => `${line}!`),
    [...there.slice(size / 2), ...there],
  ]) {
    const { steps } = matchLines(there, other)
    expect(steps).toBeLessThan((there.length + other.length) * 2 * 512)
  }
})

test('[DIG11] of equal lines around a change the last are the changed ones', () => {
  const before = 'start\na()\n}\n\nother\nend\n'
  const after = 'START\na()\n}\n\nb()\n}\n\nother\nEND\n'
  const added = toLineDiff(before, after).flatMap(({ kind, text }) => (kind === 'added' ? [text] : []))
  expect(added).toEqual(['START', 'b()', '}', '', 'END'])
})
