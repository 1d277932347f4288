import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { toMarkdown } from '#render'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline

beforeEach(async () => {
  dir = await openTempDir()
  throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: dir.path }, index: false })
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

/** How often words are said in an export, and what a check says of the lines. */
async function told(
  lines: readonly object[],
  words: readonly string[],
): Promise<{
  readonly times: readonly number[]
  readonly warned: number
  readonly found: readonly string[]
}> {
  await writeTranscript(dir.path, toJsonl(lines))
  const session = await throughline.get(SESSION)
  let text = ''
  for await (const piece of toMarkdown({ session, passages: throughline.passages(session) })) text += piece
  const body = text.replaceAll(/^## .*$/gm, '').replace(/^# .*$/m, '')
  const count = (word: string): number => body.split(word).length - 1
  const { findings } = await throughline.check(session)
  return {
    times: words.map(count),
    warned: count('the same id as an earlier line'),
    found: findings
      .filter(({ code }) => code === 'entry-repeated' || code === 'id-shared')
      .map(({ code, severity, offset, entryId }) => `${severity} ${code} ${offset !== undefined} ${entryId}`),
  }
}

/** More lines than are put together at once. */
const between = (lines: ReturnType<typeof createLines>): readonly object[] =>
  Array.from({ length: 20 }, (_, n) => [
    lines.prompt(`ask ${n}`),
    lines.reply([{ type: 'text', text: 'yes' }]),
  ]).flat()

test('[READ31] a line that stands twice is shown once, and named by a check', async () => {
  const lines = createLines()
  const prompt = lines.prompt('a kumquat')
  const reply = lines.reply([{ type: 'text', text: 'a persimmon' }])
  const again = { ...reply, timestamp: '2026-11-16T00:00:00.000Z' }
  const all = [prompt, reply, prompt, ...between(lines), again]
  expect(await told(all, ['kumquat', 'persimmon'])).toEqual({
    times: [1, 1],
    warned: 0,
    found: [prompt, reply].map(({ uuid }) => `warning entry-repeated true ${uuid}`),
  })
})

test('[READ31] different lines with one id are all shown, with a warning', async () => {
  const lines = createLines()
  const prompt = lines.prompt('a kumquat')
  const other = { ...lines.prompt('a persimmon'), uuid: prompt.uuid, parentUuid: null }
  const all = [prompt, ...between(lines), other, prompt, other]
  expect(await told(all, ['kumquat', 'persimmon'])).toEqual({
    times: [1, 1],
    warned: 1,
    found: ['id-shared', 'entry-repeated', 'entry-repeated'].map(
      (code) => `warning ${code} true ${prompt.uuid}`,
    ),
  })
})
