import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { parseDirectives, renderDirective } from '#model'
import { createToldStream } from './told-stream.ts'

const SAID = `First. ${renderDirective('remember', { content: 'one {"}"} thing', tags: ['a'] })} Then.\n\n${renderDirective('marker', { content: 'a moment' })}\n\nThe end.\n`

test('[MWB4] while a reply is written, no part of a directive is ever shown, and each gets its sign once', () => {
  const toTold = createToldStream()
  let signs = 0
  for (let length = 1; length <= SAID.length; length++) {
    const told = toTold(SAID.slice(0, length))
    expect(told.text).not.toContain('[REMEMBER')
    expect(told.text).not.toContain('content')
    expect(told.signs.size).toBeGreaterThanOrEqual(signs)
    signs = told.signs.size
  }
  expect(signs).toBe(2)
})

test('[MWB4] cut anywhere, it comes to the same words and the same signs', () => {
  const whole = parseDirectives(SAID)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: SAID.length }), { maxLength: 8 }), (cuts) => {
      const toTold = createToldStream()
      for (const cut of cuts.toSorted((a, b) => a - b)) toTold(SAID.slice(0, cut))
      const { text, signs } = toTold(SAID)
      expect(signs.size).toBe(whole.directives.length)
      const words = Array.from(text)
        .filter((character) => !signs.has(character))
        .join('')
      expect(words.replaceAll(/\s+/g, ' ').trim()).toBe(whole.text.replaceAll(/\s+/g, ' ').trim())
    }),
    runs(200),
  )
})

test('[MWB4] another text begins anew', () => {
  const toTold = createToldStream()
  toTold(SAID)
  const { text, signs } = toTold('Something else.\n')
  expect(text).toBe('Something else.\n')
  expect(signs.size).toBe(0)
})
