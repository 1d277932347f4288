import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { findIndex, toTops } from './virtual-list.tsx'

test('[WEB2] what is at a height is found without looking at everything, whatever the heights are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
      fc.nat(5000),
      (heights, height) => {
        const tops = toTops(heights, (one) => one)
        expect(tops.length).toBe(heights.length + 1)
        const at = findIndex(tops, height)
        expect(tops[at] ?? Infinity).toBeLessThanOrEqual(height)
        expect(tops[at + 1] ?? Infinity).toBeGreaterThan(height)
      },
    ),
    runs(200),
  )
})
