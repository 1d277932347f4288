import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyMarkdown, runs, wordsOf } from '#testing'
import { collect, prompt, reply, text, transcriptOf } from './fixtures/session.ts'
import { toHtmlProse } from './html-markdown.ts'
import { toHtml } from './html.ts'
import { toMarkdown } from './markdown.ts'
import { parseMarkdown, type MarkdownBlock } from './markdown-tree.ts'
import { toTerminal } from './terminal.ts'

const WIDE = 20_000

/** What a page says, its tags and styles with it: an address is in an attribute. */
async function renderings(said: string): Promise<Readonly<Record<string, string>>> {
  const transcript = (): ReturnType<typeof transcriptOf> => transcriptOf([prompt('go'), reply(text(said))])
  const terminal = { width: WIDE, full: true }
  return {
    html: await collect(toHtml(transcript())),
    markdown: await collect(toMarkdown(transcript())),
    'terminal, plain': await collect(toTerminal(transcript(), { ...terminal, colour: false })),
    'terminal, in colour': await collect(toTerminal(transcript(), { ...terminal, colour: true })),
  }
}

test('[REND30] every word of a text is in every rendering of it', async () => {
  await fc.assert(
    fc.asyncProperty(anyMarkdown(), async (said) => {
      const words = wordsOf(said)
      for (const [name, shown] of Object.entries(await renderings(said))) {
        const lost = words.filter((word) => !shown.includes(word))
        expect({ name, lost }).toEqual({ name, lost: [] })
      }
    }),
    runs(300),
  )
})

function table(said: string): {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
} {
  const [block] = parseMarkdown(said)
  if (block?.kind !== 'table') throw new Error('this is no table')
  const plain = (cells: (MarkdownBlock & { kind: 'table' })['head']): readonly string[] =>
    cells.map((cell) => toHtmlProse('').concat(...cell.map((node) => ('text' in node ? node.text : '…'))))
  return { head: plain(block.head), rows: block.rows.map(plain) }
}

test('[REND30] no cell of a table is dropped', () => {
  const escaped = '| A | B |\n|---|---|\n| x \\| y | two |\n| `\\|\\| true` (ours) | exit code |'
  expect(table(escaped)).toEqual({
    head: ['A', 'B'],
    rows: [
      ['x | y', 'two'],
      ['|| true (ours)', 'exit code'],
    ],
  })
  const uneven = '| A | B |\n|---|---|\n| one | two | three extra |\n| one |\n|---|'
  expect(table(uneven)).toEqual({
    head: ['A', 'B', ''],
    rows: [
      ['one', 'two', 'three extra'],
      ['one', '', ''],
      ['---', '', ''],
    ],
  })
})

test('[REND30] a pipe inside of a code span divides a line only where the table has as many columns', () => {
  expect(table('| A | B |\n|---|---|\n| `a | b` | two |').rows).toEqual([['a | b', 'two']])
  expect(table('| A | B |\n|---|---|\n| it`s | that`s |').rows).toEqual([['it`s', 'that`s']])
})

test('[REND30] the numbers of a list and the words behind a fence are shown', () => {
  expect(toHtmlProse('3. a\n7. b\n8. c')).toBe(
    '<ol start="3">\n<li value="3">a</li>\n<li value="7">b</li>\n<li value="8">c</li>\n</ol>',
  )
  expect(toHtmlProse('1. a\n1. b')).toBe('<ol>\n<li>a</li>\n<li>b</li>\n</ol>')
  expect(toHtmlProse('```ts title="a"\nb\n```')).toBe(
    '<pre tabindex="0" data-language="ts title=&quot;a&quot;"><code>b</code></pre>',
  )
})
