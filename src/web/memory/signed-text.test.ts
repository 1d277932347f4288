import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { parseDirectives, renderDirective } from '#model'
import { toShownText, toSignedText } from './signed-text.ts'

const SAY = renderDirective('remember', { content: 'x' })

function signedOf(said: string): string {
  const { text, signs } = toSignedText(parseDirectives(said))
  return text.replaceAll(/[\uE000-\uF8FF]/g, (character) => (signs.has(character) ? '◆' : character))
}

test('[MWB1] a sign stands where its directive was, and changes nothing that stands beside it', () => {
  expect(signedOf(`Noted. ${SAY} Next.`)).toMatch(/^Noted\. ◆ +Next\.$/)
  expect(signedOf(`One\n${SAY}\ntwo`)).toBe('One ◆\ntwo')
  expect(signedOf(`One\n\n${SAY}\n\ntwo`).replaceAll(/\n+/g, '|')).toBe('One|◆|two')
  expect(signedOf(SAY).trim()).toBe('◆')
  // Behind a fence or a row of a table it would be part of it.
  expect(signedOf(`\`\`\`\ncode\n\`\`\`\n${SAY}\n`)).toMatch(/```\n\n\n◆/)
  expect(signedOf(`| a |\n|---|\n| b |\n${SAY}`)).toMatch(/\| b \|\n\n\n◆/)
})

test('[MWB3] a broken directive stays in the text, with its sign before it', () => {
  expect(signedOf('So: [REMEMBER] {"content": "open')).toBe('So: ◆ [REMEMBER] {"content": "open')
})

test('[MWB1] characters of the text are never taken for signs', () => {
  const reading = parseDirectives(`\uE000 \uE001 ${SAY}`)
  const { text, signs } = toSignedText(reading)
  expect([...signs.keys()]).toEqual(['\uE002'])
  expect(text).toContain('\uE000 \uE001')
})

test('[MWB1] whatever was said, all of it is there beside the signs, and every directive has one', () => {
  const piece = fc.oneof(
    fc.constantFrom(SAY, '\n', '\n\n', '```\n', '[REMEMBER] {', ' ', '- ', '\uE000'),
    fc.string({ maxLength: 12 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const reading = parseDirectives(pieces.join(''))
      const { text, signs, rest } = toSignedText(reading)
      expect(signs.size + rest.length).toBe(reading.directives.length + reading.notices.length)
      const without = Array.from(text)
        .filter((character) => !signs.has(character))
        .join('')
      expect(without.replaceAll(/\s/g, '')).toBe(reading.text.replaceAll(/\s/g, ''))
    }),
    runs(200),
  )
})

test('[MWB2] what is copied has no directive in it, and no gap where one had lines of its own', () => {
  expect(toShownText(parseDirectives(`One\n\n${SAY}\n\nTwo`))).toBe('One\n\nTwo')
  expect(toShownText(parseDirectives(`One ${SAY} two`))).toBe('One two')
  const code = '```\na\n\n\n\nb\n```'
  expect(toShownText(parseDirectives(code))).toBe(code)
})
