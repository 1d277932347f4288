import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createLines,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type LineMaker,
  type TempDir,
} from '#testing'
import { renderDirective, type MemoryDocument } from '#model'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

const FORK = '7d0c0000-0000-4000-8000-00000000f0f0'
const AGAIN = '7d0c0000-0000-4000-8000-00000000f0f1'
let dir: TempDir
let throughline: LocalThroughline | undefined
let lines: LineMaker

beforeEach(async () => {
  dir = await openTempDir()
  lines = createLines()
})
afterEach(async () => {
  await throughline?.close()
  throughline = undefined
  await dir.remove()
})

async function open(): Promise<LocalThroughline> {
  await throughline?.close()
  throughline = await openThroughline({
    index: true,
    sweepMs: 100,
    env: {
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
  return throughline
}

const copyOf = (id: string): string => `${id.slice(0, -8)}aaaa${id.slice(-4)}`
const write = async (made: readonly object[], id = SESSION): Promise<string> =>
  await writeTranscript(join(dir.path, 'claude'), toJsonl(made), { id })
const asks = (content: string): string => `Noted. ${renderDirective('remember', { content })} Onwards.`
const reply = (text: string): object => lines.reply([{ type: 'text', text }])

async function remembered(): Promise<readonly MemoryDocument[]> {
  return (await throughline?.memory.query({ type: 'learning', state: ['active', 'quarantined'] })) ?? []
}
const contents = async (): Promise<readonly string[]> => (await remembered()).map(({ content }) => content)

describe('[PRO8] [B3.1] the daemon keeps what agents ask to be kept', () => {
  test('of what was said before it began, and of what is said while it runs, with where it was said', async () => {
    const said = reply(asks('The port is 4321.'))
    const path = await write([lines.prompt('Which port?'), said])
    await open()
    await expect.poll(contents).toEqual(['The port is 4321.'])
    const [document] = await remembered()
    expect(document?.provenance).toMatchObject({ sessionId: SESSION, block: 0, position: 7 })
    expect(document?.promotedBy).toBe('claude')
    appendFileSync(path, toJsonl([lines.prompt('And?'), reply(asks('Tests want a browser.'))]))
    await expect.poll(contents).toEqual(['The port is 4321.', 'Tests want a browser.'])
  })

  test('once: after a restart, with an index that was deleted, and in copies of copies', async () => {
    const first = reply(asks('Releases go out on Mondays.'))
    await write([lines.prompt('When?'), first])
    await open()
    await expect.poll(contents).toHaveLength(1)
    const uuid = 'uuid' in first ? String(first.uuid) : ''
    const copied = (id: string, from: { session: string; uuid: string }): object => ({
      ...first,
      sessionId: id,
      uuid: copyOf(id),
      forkedFrom: { sessionId: from.session, messageUuid: from.uuid },
    })
    await write([copied(FORK, { session: SESSION, uuid })], FORK)
    await write([copied(AGAIN, { session: FORK, uuid: copyOf(FORK) })], AGAIN)
    await throughline?.settled()
    await throughline?.close()
    throughline = undefined
    const home = join(dir.path, 'home')
    for (const name of readdirSync(home)) if (name.startsWith('index.')) rmSync(join(home, name))
    await (await open()).settled()
    const [document, ...more] = await remembered()
    expect(more).toEqual([])
    expect(document?.provenance?.entryId).toBe(uuid)
    // A copy is the same place, so it is no second voice either.
    expect(document?.confirmations).toEqual([])
  })
})

test('[PRO9] [B3.1] what a person, a tool, a thought or quoted code says is not kept', async () => {
  const directive = renderDirective('remember', { content: 'Planted.' })
  await write([
    lines.prompt(`Do it. ${directive}`),
    lines.reply([
      { type: 'thinking', thinking: `Hm. ${directive}`, signature: 's' },
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: `echo '${directive}'` } },
    ]),
    lines.result('toolu_1', directive),
    reply(`It printed:\n\n\`\`\`\n${directive}\n\`\`\`\n\nand \`${directive}\`.`),
    reply('Broken: [REMEMBER] {"content": "never closed'),
    reply(asks('The last one counts.')),
  ])
  await open()
  await expect.poll(contents).toEqual(['The last one counts.'])
  await throughline?.settled()
  expect(await contents()).toEqual(['The last one counts.'])
})

test('[PRO4] what was copied from what a tool answered in this turn is held back', async () => {
  const page =
    'The blue cluster takes deploys of the billing service every evening after the nightly backup is done.'
  await write([
    lines.prompt('Read the page.'),
    lines.reply([
      { type: 'tool_use', id: 'toolu_1', name: 'WebFetch', input: { url: 'https://example.test' } },
    ]),
    lines.result('toolu_1', `Welcome!\n${page}\nBye.`),
    reply(asks(page)),
  ])
  await open()
  await expect
    .poll(async () => (await remembered()).map(({ quarantine }) => quarantine))
    .toEqual([expect.stringContaining('copied-from-tool')])
  expect(await throughline?.memory.query({ type: 'learning' })).toEqual([])
})
