import { expect, test } from 'vitest'
import { ThroughlineError } from '#base'
import { toTrouble } from './answer.ts'

test('[WEB42] a failure is told in a sentence, with its next step', () => {
  const error = new ThroughlineError('index-unavailable', 'the index cannot be used', { hint: 'Try again.' })
  expect(toTrouble(error)).toEqual({
    message: 'The index cannot be used.',
    hint: 'Try again.',
    code: 'index-unavailable',
  })
  expect(toTrouble('nonsense').hint).not.toBe('')
})
