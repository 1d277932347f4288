import type { Passage } from '#model'
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  call,
  collect,
  everything,
  inBatches,
  prompt,
  reply,
  session,
  subagentTalk,
  text,
  transcriptOf,
} from './fixtures/session.ts'
import { toHtmlProse } from './html-markdown.ts'
import { STYLE, STYLE_HASH } from './html-style.ts'
import { toHtml } from './html.ts'
import { toImageAddress } from './image-source.ts'
import { toContainedMarkdown } from './markdown-text.ts'

/** Every tag the prose may hold, in full. What is left of the output after taking them away has no angle in it. */
const TAGS =
  /<\/?(?:p|h[3-6]|ul|ol|li|code|strong|em|del|blockquote|table|thead|tbody|tr|td|a|pre|div)>|<(?:br|hr)>|<pre tabindex="0"(?: data-language="[^"<>]*")?>|<li value="\d{1,9}">|<ol start="\d{1,9}">|<th scope="col">|<\/th>|<div class="table" tabindex="0">|<a href="(?:https?:\/\/|mailto:)[^"<>\s]*" rel="noreferrer noopener">/gi

const PIECES = [
  '<script>alert(1)</script>',
  '<img src=x onerror=x>',
  '"',
  "'",
  '`',
  '```',
  '**',
  '*',
  '_',
  '~~',
  '[',
  ']',
  '(',
  ')',
  '](',
  'javascript:alert(1)',
  'https://a.example',
  'mailto:a@b',
  '\n',
  '\n\n',
  '- ',
  '1. ',
  '> ',
  '# ',
  '|',
  '|---|',
  '---',
  '    ',
  '\\',
  '&',
  '&lt;',
  ' ',
  'word',
  '\u0000',
  '\u202e',
  '<!--',
  '-->',
  'data:text/html,x',
]
const markdown = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { maxLength: 40 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
)

test('[REND20] for any text, prose holds no tag and no attribute that is not on the list', () => {
  fc.assert(
    fc.property(markdown, (said) => {
      expect(toHtmlProse(said).replace(TAGS, '')).not.toMatch(/[<>]/)
    }),
    { numRuns: 3000 },
  )
})

test('[REND20] every tag that is opened is closed, in order', () => {
  fc.assert(
    fc.property(markdown, (said) => {
      const open: string[] = []
      const crossed: string[] = []
      for (const [, slash, name = ''] of toHtmlProse(said).matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
        if (name === 'br' || name === 'hr') continue
        if (slash === '') open.push(name)
        else if (open.pop() !== name) crossed.push(name)
      }
      expect([open, crossed]).toEqual([[], []])
    }),
    { numRuns: 1000 },
  )
})

test('[REND20] Markdown reads as what it says', () => {
  expect(
    toHtmlProse(
      '# Title\n\nSome **bold**, *soft* and `a < b`.\n\n- one\n- two\n  1. deep\n\n> said\n\n```ts\nlet a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---',
    ),
  ).toBe(
    [
      '<h3>Title</h3>',
      '<p>Some <strong>bold</strong>, <em>soft</em> and <code>a &lt; b</code>.</p>',
      '<ul>\n<li>one</li>\n<li>two\n<ol>\n<li>deep</li>\n</ol></li>\n</ul>',
      '<blockquote><p>said</p></blockquote>',
      '<pre tabindex="0" data-language="ts"><code>let a = 1</code></pre>',
      '<div class="table" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
      '<hr>',
    ].join('\n'),
  )
  expect(toHtmlProse('snake_case_name and 2 * 3 * 4')).toBe('<p>snake_case_name and 2 * 3 * 4</p>')
})

test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'custom:x',
  '//evil.example',
  '&#106;avascript:x',
  'https:\u0000//x',
  'src/a.ts',
])('[REND21] %j is no link', (address) => {
  expect(toHtmlProse(`[label](${address})`)).not.toContain('<a')
})

test('[REND21] the web and mail are links that tell nobody where they were', () => {
  const rel = 'rel="noreferrer noopener"'
  expect(toHtmlProse('[a](https://a.example/?q=1&r="2)')).toBe(
    `<p><a href="https://a.example/?q=1&amp;r=&quot;2" ${rel}>a</a></p>`,
  )
  expect(toHtmlProse('see https://a.example/b.')).toBe(
    `<p>see <a href="https://a.example/b" ${rel}>https://a.example/b</a>.</p>`,
  )
  expect(toHtmlProse('[https://a.example](mailto:a@b.example)')).toBe(
    `<p><a href="mailto:a@b.example" ${rel}>https://a.example</a></p>`,
  )
})

test('[REND22] no text takes more time than its length deserves', () => {
  const start = performance.now()
  for (const piece of [
    '*',
    '**a',
    '_',
    '`',
    '`a',
    '``` `',
    '[',
    '[a](',
    '](',
    '![',
    '~~',
    '> ',
    '- ',
    '1. ',
    '|',
    '| a |\n',
    '\\',
    'https://',
    '&',
    '<',
    '#',
    '\n',
    '  - a\n',
    '> > > a\n',
    '*a **b ',
    '[a](x y',
    '` `` ',
    ' ',
  ]) {
    const said = piece.repeat(200_000 / piece.length)
    toHtmlProse(said)
    toContainedMarkdown(said)
  }
  expect(performance.now() - start).toBeLessThan(8000)
})

test('[REND19] the page allows its own style sheet by its hash, and nothing else', async () => {
  const html = await collect(toHtml(transcriptOf(everything)))
  expect(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`).toBe(STYLE_HASH)
  expect(html).toContain(
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'">`,
  )
  expect(html).toContain(`<style>${STYLE}</style>`)
  expect(html).not.toMatch(/<script|<link|<iframe|<object|<form|@import|url\(|style="|\son\w+="/i)
})

test('[REND24] the head says what the session is, and the outline lists its prompts', async () => {
  const html = await collect(toHtml(transcriptOf(everything)))
  expect(html).toContain('<title>Fix the flaky checkout test</title>')
  for (const fact of [
    '<code>/home/ada/shop</code> on <code>main</code>',
    '2026-01-12 14:03 – 14:41 UTC',
    '<code>claude-opus-4-5</code>',
    '439,658 (1.2k in, 5.3k out, 433k cached)',
    `<code>${session.id}</code>`,
  ]) {
    expect(html).toContain(fact)
  }
  expect(html).toContain('<li><a href="#prompt-3">And this screenshot?</a></li>')
  expect(html).toContain('<article class="prompt" id="prompt-3">')
  expect(html).toContain(
    '3 prompts · 3 replies · 6 tool calls · 1 place that could not be read · 2 lines around the conversation not shown.',
  )
})

test('[REND25] calls and thinking are folded under a line that names them; damage and compactions stand where they are', async () => {
  const html = await collect(toHtml(transcriptOf(everything)))
  for (const part of [
    '<details class="fold failed"><summary><b>Bash</b><span class="what">npm test -- checkout</span><span class="outcome">exit 1</span></summary>',
    '<summary>thought for 15 words</summary>',
    '<span class="removed">− export const today = () =&gt; new Date()\n</span><span class="added">+ export const today = (clock) =&gt; clock.now()\n</span>',
    '<p class="damage" role="note">⚠ 412 bytes at 10,240 could not be read: torn',
    '<section class="divider" aria-label="Compaction"><p class="label"><span>compacted by hand, 45k → 2.1k tokens</span></p>',
    '<article class="prompt off-path" id="prompt-2">',
    '<p class="thing">document spec.pdf, application/pdf, 9 B</p>',
  ]) {
    expect(html).toContain(part)
  }
})

test('[REND26] subagents are unfolded inside the call that started them, to a depth that ends', async () => {
  const nested: readonly Passage[] = [
    prompt('deeper'),
    reply(call('Agent', { description: 'again' }, 'ok', 'done', 'toolu_agent')),
  ]
  const html = await collect(toHtml({ ...transcriptOf(nested), subagent: () => inBatches(nested) }))
  expect(html.match(/class="subagent"/g)).toHaveLength(4)
  const once = await collect(toHtml({ ...transcriptOf(everything), subagent: () => inBatches(subagentTalk) }))
  expect(once).toContain('Two places: checkout and invoice.')
})

test('[REND23] an image is what its bytes say, or a placeholder', () => {
  expect(toImageAddress(base64('\u0089PNG\r\n\u001a\n...', 'text/html'))).toMatch(/^data:image\/png;base64,/)
  expect(toImageAddress(base64('\u00ff\u00d8\u00ff\u00e0...'))).toMatch(/^data:image\/jpeg;base64,/)
  expect(toImageAddress(base64('GIF89a...'))).toMatch(/^data:image\/gif;base64,/)
  expect(toImageAddress(base64('RIFF\u0001\u0002\u0003\u0004WEBPVP8 '))).toMatch(/^data:image\/webp;base64,/)
  for (const source of [
    base64('RIFF\u0001\u0002\u0003\u0004WAVEfmt '),
    base64('<svg onload=alert(1)>', 'image/svg+xml'),
    base64('<html>'),
    { kind: 'url', url: 'https://t.example/p.png' },
    { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo" onerror="x' },
  ] as const) {
    expect(toImageAddress(source)).toBeUndefined()
  }
})

test('[REND25] what stands between tags is what was said', async () => {
  const html = await collect(toHtml(transcriptOf([prompt('a < b & c'), reply(text('x'))])))
  expect(html).toContain('<div class="words" dir="auto">a &lt; b &amp; c</div>')
})

function base64(
  bytes: string,
  mediaType = 'image/png',
): { readonly kind: 'base64'; readonly mediaType: string; readonly data: string } {
  return { kind: 'base64', mediaType, data: Buffer.from(bytes, 'latin1').toString('base64') }
}
