import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTokens } from './token-count.ts'

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.lorem({ maxCount: 20 }),
  fc.string({ maxLength: 60 }),
)

test('[WAK14] two texts count no more together than alone, and no less than the longer one', () => {
  fc.assert(
    fc.property(texts, texts, (first, second) => {
      const together = countTokens(`${first}\n${second}`)
      expect(together).toBeLessThanOrEqual(countTokens(`${first}\n`) + countTokens(second))
      expect(together).toBeGreaterThanOrEqual(Math.max(countTokens(first), countTokens(second)))
    }),
    runs(1000),
  )
})

test.each([
  // Counted with the vocabulary of @anthropic-ai/tokenizer 0.0.4.
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['const answer: number = await ask({ question, signal })', 12],
  ['{"type":"user","uuid":"7cba7611-621c-4d97-bbec-3ccbfc75c8fe","cwd":"/home/user/work"}', 41],
  ['| room | holds | may enter |\n|---|---|---|\n| `base` | errors | – |', 22],
  ['', 0],
])('[WAK14] %s is about %i tokens', (text, tokens) => {
  expect(Math.abs(countTokens(text) - tokens)).toBeLessThanOrEqual(1 + tokens * 0.1)
})
