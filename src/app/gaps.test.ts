import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { restore } from '#restore'
import { createLines, openTempDir, runs, toJsonl } from '#testing'
import { readSession } from './session-entries.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())

const say = (text: string): readonly object[] => [{ type: 'text', text }]
let files = 0

async function lossesOf(text: string | Uint8Array): Promise<readonly string[]> {
  const path = join(temp.path, `${String(++files)}.jsonl`)
  writeFileSync(path, text)
  const session = await readSession(path)
  const { losses } = restore(session.entries, 'anthropic', session)
  return losses.flatMap(({ kind, how, why, origin }) =>
    kind === 'gap' ? [`${how} ${origin.entryId.slice(-2)}: ${why}`] : [],
  )
}

test('[RST15] two prompts whose answer is torn are not said to be whole: the loss names what is missing, and where', async () => {
  const make = createLines()
  const first = toJsonl([make.prompt('one'), make.reply(say('first')), make.prompt('two')])
  const torn = JSON.stringify(make.reply(say('the answer that is lost'))).slice(0, 120)
  const rest = toJsonl([make.prompt('three', { parentUuid: '00000000-0000-4000-8000-000000000003' })])
  expect(await lossesOf(`${first}${torn}\n${rest}`)).toEqual([
    `dropped 03: 120 bytes at byte ${String(Buffer.byteLength(first))} could not be read (torn): what was said there is missing`,
  ])
})

test('[RST15] a line that was never written is missing, also when nothing else shows it', async () => {
  const make = createLines()
  const lines = [make.prompt('one'), make.reply(say('lost')), make.prompt('two'), make.reply(say('so'))]
  const [lost, ...others] = await lossesOf(toJsonl(lines.filter((_line, at) => at !== 1)))
  expect(lost).toContain('00000000-0000-4000-8000-000000000002, was never written')
  expect(others).toEqual([])
  expect(await lossesOf(toJsonl(lines))).toEqual([])
})

test('[RST15] what is damaged before a compaction is not in the conversation, and no loss of it', async () => {
  const make = createLines()
  const before = `${toJsonl([make.prompt('one')])}garbage\n${toJsonl([make.reply(say('first'))])}`
  const boundary = make.system('compact_boundary', {
    parentUuid: null,
    compactMetadata: { trigger: 'manual', preTokens: 1 },
  })
  const after = toJsonl([boundary, make.prompt('summary', { isCompactSummary: true }), make.prompt('two')])
  expect(await lossesOf(`${before}${after}`)).toEqual([])
  expect(await lossesOf(`${before}${after}more garbage\n`)).toHaveLength(1)
})

test('[RST15] whichever line is garbled, its loss is told', async () => {
  const make = createLines()
  const lines = Array.from({ length: 8 }, (_none, at) =>
    at % 2 === 0 ? make.prompt(`p${String(at)}`) : make.reply(say(`r${String(at)}`)),
  ).map((line) => JSON.stringify(line))
  await fc.assert(
    fc.asyncProperty(fc.nat(7), fc.constantFrom('cut', 'zeros', 'garbage'), async (at, how) => {
      const line = lines[at] ?? ''
      const broken =
        how === 'cut' ? line.slice(0, 90) : how === 'zeros' ? '\0'.repeat(line.length) : 'no record at all'
      const text = lines
        .with(at, broken)
        .map((each) => `${each}\n`)
        .join('')
      expect((await lossesOf(text)).join('\n')).toContain('could not be read')
    }),
    runs(30),
  )
})
