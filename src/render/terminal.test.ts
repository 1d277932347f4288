// oxlint-disable no-control-regex -- these tests look for control characters
import type { Passage } from '#model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth } from './display-width.ts'
import {
  aside,
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
import { toTerminal } from './terminal.ts'

const plain = { colour: false, width: 80, full: false }

test('[REND9] [REND14] a session reads as words, with one line for each call and none for what surrounds it', async () => {
  expect(await collect(toTerminal(transcriptOf(everything), plain))).toBe(`Fix the flaky checkout test
Claude · /home/ada/shop · 2026-01-12 14:03 – 14:41 UTC · 184 kB
7d0c1f3e-5a52-4b1c-9d5e-2f6f0a9f4c11

▌ Person  14:03
▌ The checkout test fails about once in ten runs.
▌ Find out why, and fix it.

▸ thought for 15 words

I'll run it a few times, and look at how it reads the clock.

▸ Bash npm test -- checkout → exit 1
▸ Read src/checkout.ts
▸ Agent Explore: find every use of the clock

## Why it fails

The test compares **local** dates, the code writes \`UTC\` ones:

- \`today()\` is UTC
- the test is local

| when      | test   | code   |
| --------- | ------ | ------ |
| 00:30 CET | 13 Jan | 12 Jan |

\`\`\`ts
const today = () => clock.now()
\`\`\`

▸ Edit src/checkout.ts (+1 −1)
▸ github · create_issue Clock in checkout → denied
▸ WebFetch https://example.com/dates → no answer

⚠ 412 bytes at 10,240 could not be read: torn, a record breaks off in the middle

───────────────────── compacted by hand, 45k → 2.1k tokens ─────────────────────

▌ /model opus
  Set model to opus

· API Error: 529 overloaded
▸ result of a call that is not here (toolu_gone)

┊ not on the way to the end of this conversation:
┊
┊ ▌ Person  14:30
┊ ▌ Never mind that

▌ Person  14:40  while the agent was working
▌ And this screenshot?
▌ [image, image/png, 72 B]
▌ [document spec.pdf, application/pdf, 9 B]

It shows the same. Done.
`)
})

test('[REND10] full unfolds calls, diffs, thinking, asides and subagents', async () => {
  const transcript = { ...transcriptOf(everything), subagent: () => inBatches(subagentTalk) }
  const shown = await collect(toTerminal(transcript, { ...plain, full: true }))
  for (const part of [
    '    $ npm test -- checkout\n',
    '       expected "12 Jan" to be "13 Jan"\n',
    '    - export const today = () => new Date()\n    + export const today = (clock) => clock.now()\n',
    '    Flaky tests are mostly clocks',
    '· permission-mode, file-history-snapshot\n',
    '  ╭ Explore, 2.0 kB\n  │ ▌ Task  14:03\n  │ ▌ Find every use of Date.\n  │\n  │ Two places: checkout and invoice.\n  ╰\n',
    'We fixed the clock.\n',
    '    late\n',
  ]) {
    expect(shown).toContain(part)
  }
})

test('[REND10] a long prompt is cut unless everything is asked for', async () => {
  const long = Array.from({ length: 500 }, (_, line) => `line ${line}`).join('\n')
  const short = await collect(toTerminal(transcriptOf([prompt(long)]), plain))
  expect(short).toContain('4,389 characters in all; --full shows them')
  expect(short).not.toContain('line 499')
  expect(await collect(toTerminal(transcriptOf([prompt(long)]), { ...plain, full: true }))).toContain(
    'line 499',
  )
})

test('[REND11] damage stands where it is in the file, with its place and its reason', async () => {
  const passages: readonly Passage[] = [
    prompt('before'),
    { kind: 'damage', damage: { offset: 7, length: 1, reason: 'nul-run' } },
    prompt('after'),
  ]
  expect(await collect(toTerminal(transcriptOf(passages), plain))).toMatch(
    /before\n\n⚠ 1 byte at 7 could not be read: nul-run, zero bytes, as a power cut leaves them\n\n.*\n▌ after/,
  )
})

test('[REND12] what is off the active path is marked', async () => {
  const off = { ...reply(text('old\n\nanswer')), offPath: true as const }
  expect(await collect(toTerminal(transcriptOf([off, prompt('next')]), plain))).toContain(
    '┊ not on the way to the end of this conversation:\n┊\n┊ old\n┊\n┊ answer\n\n▌ Person',
  )
})

test('[REND13] without colours there is no escape, with them only ours', async () => {
  const evil: readonly Passage[] = [
    prompt('\u001b[2Jhi\u001b]52;c;AA\u0007'),
    reply(text('**bold** `code`\u009b31m'), call('Bash', { command: '\u001b[31mrm' }, '\u001b[5mout')),
  ]
  const grey = await collect(
    toTerminal(transcriptOf(evil, { name: '\u001b]0;x\u0007' }), { ...plain, full: true }),
  )
  expect(grey).not.toMatch(/[\u001b\u009b\u0007]/)
  const coloured = await collect(
    toTerminal(transcriptOf(evil, { name: '\u001b]0;x\u0007' }), { ...plain, colour: true, full: true }),
  )
  const codes = new Set(coloured.match(/\u001b[^m]*m?/g))
  expect([...codes].filter((code) => !/^\u001b\[(?:\d{1,2};?)+m$/.test(code))).toEqual([])
  expect(coloured).toContain('\u001b[1mbold\u001b[22m')
})

test('[REND8] no line is wider than the terminal, whatever is said', async () => {
  const words = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('漢字かな', '👨‍👩‍👧', '- ', '# ', '```', '\n', 'a'.repeat(200), ' '),
    ),
    { maxLength: 30 },
  )
  await fc.assert(
    fc.asyncProperty(words, fc.integer({ min: 30, max: 120 }), fc.boolean(), async (parts, width, full) => {
      const said = parts.join(' ')
      const passages = [prompt(said), reply(text(said), call('Bash', { command: said }, said)), aside(said)]
      const shown = await collect(
        toTerminal(transcriptOf(passages, { name: said }), { colour: false, width, full }),
      )
      const widest = Math.max(...shown.split('\n').map((line) => displayWidth(line)))
      expect(widest).toBeLessThanOrEqual(width)
    }),
  )
})

test('[REND8] words are kept whole, and list items hang', async () => {
  const shown = await collect(
    toTerminal(transcriptOf([reply(text('- one two three four five six seven'))]), { ...plain, width: 24 }),
  )
  expect(shown).toContain('\n- one two three four\n  five six seven\n')
})

test('[REND28] nothing is read ahead of what is written', async () => {
  let asked = 0
  async function* passages(): AsyncGenerator<readonly Passage[]> {
    for (; ; asked++) yield [prompt(`prompt ${asked}`)]
  }
  for await (const piece of toTerminal({ session, passages: passages() }, plain)) {
    if (piece.includes('prompt 3')) break
  }
  expect(asked).toBe(3)
})
