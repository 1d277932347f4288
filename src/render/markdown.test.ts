import type { Passage } from '#model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  aside,
  call,
  collect,
  everything,
  inBatches,
  prompt,
  reply,
  subagentTalk,
  text,
  transcriptOf,
} from './fixtures/session.ts'
import { toContainedMarkdown, toFenced } from './markdown-text.ts'
import { toMarkdown } from './markdown.ts'

/** The text outside of fenced blocks and of code spans on one line, as every Markdown reader sees it. */
function outsideCode(markdown: string): string {
  let fence: string | undefined
  const out: string[] = []
  for (const quoted of markdown.split('\n')) {
    const line = quoted.replace(/^(?:> ?)+/, '')
    const mark = /^(`{3,})/.exec(line)?.[1]
    if (fence === undefined && mark !== undefined && !line.slice(mark.length).includes('`')) fence = mark
    else if (fence !== undefined) {
      if (line.trimEnd().length >= fence.length && /^`+\s*$/.test(line)) fence = undefined
    } else
      out.push(
        line.replace(/\\[!-/:-@[-`{-~]|(?<!`)(`{1,3})(?!`)(.*?)(?<!`)\1(?!`)/g, (found) =>
          found.startsWith('\\') ? '' : 'CODE',
        ),
      )
  }
  if (fence !== undefined) out.push('UNCLOSED')
  return out.join('\n')
}

const BREAKERS = [
  '```',
  '~~~',
  '````',
  '`',
  '``',
  '<script>',
  '</details>',
  '<b>',
  '\n',
  '\n\n',
  '    ',
  '\t',
  '|',
  '\\',
  '> ',
  '- ',
  '# ',
  '[a](javascript:x)',
  '[x]: javascript:y',
  '![i](http://t.example/p.png)',
  'a',
  ' ',
]
const nasty = fc
  .array(fc.oneof(fc.constantFrom(...BREAKERS), fc.string()), { maxLength: 25 })
  .map((parts) => parts.join(''))

test('[REND18] a session reads as headings, quotes and folded calls', async () => {
  const transcript = { ...transcriptOf(everything), subagent: () => inBatches(subagentTalk) }
  const markdown = await collect(toMarkdown(transcript))
  expect(markdown).toContain(
    '# Fix the flaky checkout test\n\nClaude session\n\n- Workdir: `/home/ada/shop`\n- Branch: `main`\n',
  )
  expect(markdown).toContain(
    '\n## 1. The checkout test fails about once in ten runs. Find out why, and fix i…\n',
  )
  expect(markdown).toContain(
    '\n> The checkout test fails about once in ten runs.\n> Find out why, and fix it.\n',
  )
  expect(markdown).toContain(
    '<details><summary><b>Bash</b> <code>npm test -- checkout</code> → exit 1</summary>\n',
  )
  expect(markdown).toContain(
    '```diff\n  a\n- export const today = () => new Date()\n+ export const today = (clock) => clock.now()\n  b\n```',
  )
  expect(markdown).toContain('> ⚠ 412 bytes at 10,240 could not be read')
  expect(markdown).toContain('*compacted by hand, 45k → 2.1k tokens*')
  expect(markdown).toContain('#### Why it fails')
  expect(markdown).toContain('Two places: checkout and invoice.')
  expect(markdown.match(/<details>/g)).toHaveLength(markdown.match(/<\/details>/g)?.length ?? 0)
})

test('[REND15] no content ends the fence it stands in', () => {
  fc.assert(
    fc.property(nasty, (content) => {
      const fenced = toFenced(content)
      const mark = /^`+/.exec(fenced)?.[0] ?? ''
      const inside = fenced.slice(mark.length + 1, -mark.length - 1)
      expect(inside).toBe(content)
      expect(inside).not.toContain(mark)
    }),
  )
})

test('[REND15] [REND16] whatever people, agents and tools say, it opens no block and no tag of its own', async () => {
  await fc.assert(
    fc.asyncProperty(nasty, async (said) => {
      const passages: readonly Passage[] = [
        prompt(said),
        reply(
          text(said),
          { kind: 'thinking', thinking: said },
          call(said, { command: said }, said),
          call('Edit', { file_path: said, old_string: said, new_string: '' }, said),
        ),
        { kind: 'notice', id: 'n', entries: [], level: said, text: said },
        { kind: 'command', id: 'k', entries: [], command: said, args: said, output: said },
        aside(said),
        prompt('the end'),
      ]
      const markdown = await collect(
        toMarkdown(transcriptOf(passages, { name: said, workdirs: [said], gitBranch: said, id: said })),
      )
      const outside = outsideCode(markdown)
      const tags = outside.match(/<[^>\n]*>?/g) ?? []
      expect(tags.filter((tag) => !/^<\/?(?:details|summary|b|code)>$/.test(tag))).toEqual([])
      expect(outside).not.toContain('UNCLOSED')
      expect(markdown).toMatch(/\n## 2\. the end\n/)
    }),
    { numRuns: 300 },
  )
})

test('[REND16] code on one line keeps its angles', () => {
  expect(toContainedMarkdown('a `<b>` and <b>')).toBe('a `<b>` and &lt;b>')
  expect(toContainedMarkdown('an open ` tick <b>')).toBe('an open \\` tick &lt;b>')
  expect(toContainedMarkdown('escaped \\`<b>\\`')).toBe('escaped \\`&lt;b>\\`')
  expect(toContainedMarkdown('| `a | <b>` |')).toBe('| \\`a | &lt;b>\\` |')
})

test('[REND17] looking at it fetches nothing, and links lead to the web, to mail or nearby', () => {
  expect(toContainedMarkdown('![x](https://t.example/p.png)')).toBe('\\![x](https://t.example/p.png)')
  expect(toContainedMarkdown('[a](https://a.example) [b](src/b.ts)')).toBe(
    '[a](https://a.example) [b](src/b.ts)',
  )
  for (const link of [
    '[a](javascript:alert(1))',
    '[a](&#106;avascript:x)',
    '[a]( data:text/html,x)',
    '[a](<javascript:x>)',
    '[a](',
    '[a]: javascript:x',
    '[a]:',
  ]) {
    expect(toContainedMarkdown(link)).toContain('\\]')
  }
})
