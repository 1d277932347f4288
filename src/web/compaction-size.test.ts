import { expect, test } from 'vitest'
import { toCompactionSize } from './compaction-size.ts'

test('[USE10] a size that a compaction does not state is left out, and is not 0', () => {
  expect(toCompactionSize({ tokensBefore: 170_000, tokensAfter: 12_000 })).toBe('170k → 12k')
  expect(toCompactionSize({ tokensBefore: 170_000 })).toBe('170k')
  expect(toCompactionSize({ tokensBefore: 170_000, tokensAfter: 0 })).toBe('170k → 0')
  expect(toCompactionSize({ tokensAfter: 12_000 })).toBe('to 12k')
  expect(toCompactionSize({})).toBe('')
})
