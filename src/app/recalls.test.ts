import { join } from 'node:path'
import { createLines, openTempDir, toJsonl, writeTranscript, type LineMaker, type TempDir } from '#testing'
import { renderWakeUp } from '#model'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

const SHOP = '7d0c0000-0000-4000-8000-00000000aaa1'
const BLOG = '7d0c0000-0000-4000-8000-00000000aaa2'
let dir: TempDir
let throughline: LocalThroughline

async function open(index: boolean): Promise<LocalThroughline> {
  throughline = await openThroughline({
    index,
    sweepMs: 100,
    env: {
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
  await throughline.settled()
  return throughline
}

async function write(id: string, cwd: string, say: (lines: LineMaker) => readonly object[]): Promise<void> {
  const lines = createLines({ sessionId: id, cwd })
  await writeTranscript(join(dir.path, 'claude'), toJsonl(say(lines)), {
    id,
    project: cwd.replaceAll('/', '-'),
  })
}

const filler = (lines: LineMaker, count: number): readonly object[] =>
  Array.from({ length: count }, (_, n) => [
    lines.prompt(`Please look at file number ${n} next.`),
    lines.reply([{ type: 'text', text: `File ${n} is fine, and so is the one beside it.` }]),
  ]).flat()

beforeEach(async () => {
  dir = await openTempDir()
  await write(SHOP, '/home/user/shop', (lines) => [
    ...filler(lines, 30),
    lines.prompt('Why did the checkout fail on Safari?'),
    lines.reply([
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'grep cookie' } },
      { type: 'text', text: 'The payment cookie was dropped: SameSite was strict on the redirect.' },
    ]),
    lines.result('toolu_1', 'a pangolin stood only in what a tool printed'),
    ...filler(lines, 30),
  ])
  await write(BLOG, '/home/user/blog', (lines) => [
    lines.prompt(
      renderWakeUp({
        opening: 'You are waking up.',
        contexts: [{ section: 'knowledge', items: [{ text: 'The axolotl lives only in a wake-up.' }] }],
        closing: 'Greet.',
      }),
    ),
    lines.reply([{ type: 'text', text: 'Hello again.' }]),
    lines.prompt('Make the feed validate.'),
    lines.reply([{ type: 'text', text: 'The Atom feed validates since dates carry a time zone.' }]),
  ])
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

describe.each([
  ['with an index', true],
  ['without one', false],
])('[DOC50] what was said is found again by a question, %s', (_, index) => {
  test('with where it stands, in other words than it was said in', async () => {
    const { hits } = await (
      await open(index)
    ).memory.recall({
      question: 'what happened to the cookies in the Safari checkouts?',
    })
    expect(hits.slice(0, 2).map(({ text }) => text)).toContainEqual(
      expect.stringContaining('SameSite was strict'),
    )
    expect(hits[0]).toMatchObject({ kind: 'message', sessionId: SHOP })
  })

  test('of one folder only, where that is asked', async () => {
    await open(index)
    const about = { question: 'does the feed validate with a time zone?' }
    const all = await throughline.memory.recall(about)
    expect(all.hits[0]?.sessionId).toBe(BLOG)
    const shop = await throughline.memory.recall({ ...about, workdir: '/home/user/shop' })
    expect(shop.hits.filter(({ sessionId }) => sessionId === BLOG)).toEqual([])
  })

  test('never from what tools printed, nor from a wake-up', async () => {
    await open(index)
    for (const question of ['pangolin', 'where does the axolotl live?']) {
      const { hits } = await throughline.memory.recall({ question })
      expect(hits.filter(({ text }) => /pangolin|axolotl/.test(text))).toEqual([])
    }
  })
})

test('[DOC51] documents are found beside what was said, and a question without words finds nothing', async () => {
  await open(false)
  const made = await throughline.memory.remember({ content: 'Staging runs on Hetzner, behind Caddy.' })
  const id = 'document' in made ? made.document.id : ''
  const { hits } = await throughline.memory.recall({ question: 'which host has staging?' })
  expect(hits[0]).toMatchObject({ kind: 'document', id, text: 'Staging runs on Hetzner, behind Caddy.' })
  expect((await throughline.memory.recall({ question: 'the of and' })).hits).toEqual([])
})
