import * as fc from 'fast-check'
import { parseMarkdown } from '#render'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { createChunks } from './stream-chunks.ts'

const pieces = fc.array(
  fc.constantFrom(
    'a word ',
    '\n',
    '\n\n',
    '```\n',
    '```js\n',
    '- item\n',
    '~~~\n',
    '> q\n',
    '# h\n',
    '  ',
    '````\n',
  ),
  { maxLength: 40 },
)

test('[LWB4] chunks of a growing text put together are the text, and those that are whole do not change', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const toChunks = createChunks()
      let text = ''
      let before: readonly string[] = []
      for (const part of parts) {
        text += part
        const { done, open } = toChunks(text)
        expect(done.slice(0, before.length)).toEqual(before)
        expect(`${done.join('')}${open}`.replaceAll(/\s+/g, ' ').trim()).toBe(
          text.replaceAll(/\s+/g, ' ').trim(),
        )
        before = done
      }
    }),
    runs(200),
  )
})

test('[LWB4] code between fences is one chunk, whatever blank lines are in it', () => {
  const text = 'Look:\n\n```ts\na\n\nb\n```\n\nafter'
  const { done, open } = createChunks()(text)
  expect(done).toEqual(['Look:\n\n', '```ts\na\n\nb\n```\n\n'])
  expect(open).toBe('after')
  const blocks = [...done, open].flatMap((chunk) => parseMarkdown(chunk))
  expect(blocks).toEqual(parseMarkdown(text))
})

test('[LWB4] a long text is cut in less time than it takes to come: two thousand pictures of it in seconds', () => {
  const toChunks = createChunks()
  let text = ''
  const begun = performance.now()
  for (let n = 0; n < 2000; n++) {
    text += n % 10 === 0 ? `${'word '.repeat(20)}\n\n` : 'word '.repeat(20)
    toChunks(text)
  }
  expect(performance.now() - begun).toBeLessThan(3000)
})
