import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { addRange, bytesIn, covers, lastEnd, missingOf, type Range, type Ranges } from './mirror-ranges.ts'

const anyRange = fc
  .tuple(fc.nat(60), fc.nat(60))
  .map(([one, other]): Range => ({ from: Math.min(one, other), to: Math.max(one, other) }))

test('[TEA47] stretches are what was added to them, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 12 }), anyRange, fc.nat(60), (added, asked, at) => {
      const ranges = added.reduce<Ranges>((sum, range) => addRange(sum, range), [])
      const isIn = (byte: number): boolean => added.some(({ from, to }) => from <= byte && byte < to)
      const bytes = Array.from({ length: 60 }, (_, byte) => byte)
      const wanted = bytes.filter((byte) => byte >= asked.from && byte < asked.to)
      expect(bytes.filter((byte) => covers(ranges, { from: byte, to: byte + 1 }))).toEqual(bytes.filter(isIn))
      expect(bytesIn(ranges)).toBe(bytes.filter(isIn).length)
      expect(covers(ranges, asked)).toBe(wanted.every(isIn))
      const missing = missingOf(ranges, asked)
      expect(wanted.filter((byte) => missing.some(({ from, to }) => from <= byte && byte < to))).toEqual(
        wanted.filter((byte) => !isIn(byte)),
      )
      const ends = ranges.map(({ to }) => to).filter((end) => end <= at)
      expect(lastEnd(ranges, at)).toBe(Math.max(0, ...ends))
    }),
    runs(300),
  )
})
