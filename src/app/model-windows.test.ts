import { expect, test } from 'vitest'
import { createLines, readLines } from '#testing'
import { windowIn } from './model-windows.ts'

test('[RST13] a window is as large as what the model of the session has answered to, whatever its name says', async () => {
  const make = createLines()
  const answer = (id: string, model: string, read: number): object =>
    make.reply([], {
      message: {
        id,
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'so' }],
        usage: { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: read },
      },
    })
  const small = [make.prompt('go'), answer('a', 'claude-opus-4-8', 150_000)]
  expect(windowIn(await readLines(small))).toBe(200_000)
  const large = [...small, make.prompt('on'), answer('b', 'claude-opus-4-8', 414_000)]
  expect(windowIn(await readLines(large))).toBe(1_000_000)
  // Another model answers for itself.
  expect(windowIn(await readLines([...large, answer('c', 'claude-haiku-4-5', 9_000)]))).toBe(200_000)
})
