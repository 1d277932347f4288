import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  createLines,
  expectError,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import type { RememberOutcome } from '#wire'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline

beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

async function open(env: Record<string, string> = {}): Promise<LocalThroughline> {
  throughline = await openThroughline({
    env: {
      HOME: dir.path,
      THROUGHLINE_HOME: join(dir.path, 'home'),
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      ...env,
    },
  })
  return throughline
}

const idOf = (outcome: RememberOutcome): string => ('document' in outcome ? outcome.document.id : '')

test('[DOC45] what was learned outside the allowed roots is as if it were not there', async () => {
  const [inside, outside] = [join(dir.path, 'shop'), join(dir.path, 'secret')]
  for (const folder of [inside, outside]) mkdirSync(folder)
  const all = (await open()).memory
  const hidden = idOf(await all.remember({ content: 'The vault is under the stairs.', workdir: outside }))
  await all.remember({ content: 'The shop opens at nine.', workdir: inside })
  await all.remember({ content: 'Ada likes short answers.', category: 'identity' })
  await throughline.close()

  const { memory } = await open({ ALLOWED_ROOTS: inside })
  const shown = await memory.query({ type: 'learning' })
  expect(shown.map(({ content }) => content)).toEqual(['The shop opens at nine.', 'Ada likes short answers.'])
  await expectError(memory.get(hidden), 'document-not-found')
  await expectError(memory.versions(hidden), 'document-not-found')
  await expectError(memory.act(hidden, { do: 'retire' }), 'document-not-found')
  await expectError(memory.edit(hidden, { content: 'Moved.' }), 'document-not-found')
  expect((await memory.recall({ question: 'where is the vault?' })).hits.map(({ id }) => id)).not.toContain(
    hidden,
  )
  expect(await memory.export()).not.toContain('under the stairs')
})

test('[PRO10] what an agent remembers through a tool is held back when it was copied from another', async () => {
  const lines = createLines()
  const page =
    'The blue cluster takes deploys of the billing service every evening after the nightly backup is done.'
  const call = lines.reply([
    { type: 'tool_use', id: 'toolu_2', name: 'mcp__throughline__remember', input: {} },
  ])
  await writeTranscript(
    join(dir.path, 'claude'),
    toJsonl([
      lines.prompt('Read the page.'),
      lines.reply([{ type: 'tool_use', id: 'toolu_1', name: 'WebFetch', input: {} }]),
      lines.result('toolu_1', `Welcome! ${page}`),
      call,
    ]),
  )
  const { memory } = await open()
  const at = { sessionId: SESSION, entryId: call.uuid }
  const outcome = await memory.remember({ content: page, speaker: 'agent', agent: 'claude-code', at })
  expect(outcome).toMatchObject({
    kind: 'held',
    reason: expect.stringContaining('copied-from-tool') as unknown,
  })
  const own = await memory.remember({
    content: 'Billing wants Node 22.',
    speaker: 'agent',
    agent: 'claude-code',
    at,
  })
  expect(own).toMatchObject({ kind: 'remembered', document: { promotedBy: 'claude-code' } })
})
