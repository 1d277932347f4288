import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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

test('[PRO1] [B3.1] who said it is called by the name that the person gave', async () => {
  const home = join(dir.path, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'config.json'), '{"names":{"human":"Marcus","agents":{"claude":"Julian"}}}')
  await write([lines.prompt('Which port?'), reply(asks('The port is 4321.'))])
  await open()
  await expect.poll(contents).toEqual(['The port is 4321.'])
  const [document] = await remembered()
  expect(document).toMatchObject({ promotedBy: 'Julian', speakerName: 'Julian', speakerType: 'agent' })
  expect(await throughline?.memory.query({ speakerName: 'Julian' })).toContainEqual(document)
  expect((await throughline?.memory.versions(document?.id ?? ''))?.[0]?.by).toBe('Julian')
})

test('[DOC30] [B4.1] what a person remembers is by their name, with the device in its history', async () => {
  const home = join(dir.path, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'config.json'), '{"names":{"human":"Marcus","agents":{"claude":"Julian"}}}')
  const { memory } = await open()
  const here = await memory.remember({ content: 'The port is 4321.' })
  expect(here).toMatchObject({
    kind: 'remembered',
    document: { promotedBy: 'Marcus', speakerName: 'Marcus' },
  })
  const there = await memory.remember({ content: 'Tests want a browser.', by: 'Chrome on Linux' })
  if (there.kind !== 'remembered') throw new Error(there.kind)
  expect(there.document.promotedBy).toBe('Marcus')
  expect((await memory.versions(there.document.id))[0]?.by).toBe('Marcus (Chrome on Linux)')
  const asked = { content: 'Use pnpm.', speaker: 'agent', agent: 'claude', by: 'claude' } as const
  expect(await memory.remember(asked)).toMatchObject({ document: { promotedBy: 'Julian' } })
})

describe('[PRO4] where the words of an agent stood first decides, not how far back that is', () => {
  const page =
    'The blue cluster takes deploys of the billing service every evening after the nightly backup is done.'
  const call = (id: string, name = 'WebFetch'): object =>
    lines.reply([{ type: 'tool_use', id, name, input: { url: 'https://example.test' } }])
  const talk = (turns: number): readonly object[] =>
    Array.from({ length: turns }, (_, n) => [
      lines.prompt(`Question ${n}?`),
      reply(`Answer number ${n} of this long talk.`),
    ]).flat()
  const spaced = page.replaceAll(/(?=.)/g, '\u200b')

  async function expectHeld(): Promise<void> {
    await open()
    await expect
      .poll(async () => (await remembered()).map(({ quarantine }) => quarantine))
      .toEqual([expect.stringContaining('copied-from-tool')])
  }

  test('a tool answered it 300 entries before', async () => {
    await write([
      lines.prompt('Read the page.'),
      call('toolu_1'),
      lines.result('toolu_1', `Welcome!\n${page}\nBye.`),
      ...talk(150),
      reply(asks(page)),
    ])
    await expectHeld()
  })

  test('it stands behind two megabytes of an answer', async () => {
    await write([
      lines.prompt('Read the page.'),
      call('toolu_1'),
      lines.result('toolu_1', `${'filler text of the page '.repeat(90_000)}\n${page}`),
      reply(asks(page)),
    ])
    await expectHeld()
  })

  test('characters that are not seen stand between its letters', async () => {
    await write([lines.prompt('Read.'), call('toolu_1'), lines.result('toolu_1', spaced), reply(asks(page))])
    await expectHeld()
  })

  test('a subagent read it', async () => {
    const read = [
      { ...lines.prompt('Read the page.'), isSidechain: true, agentId: 'a1b2c3' },
      { ...call('toolu_9'), isSidechain: true, agentId: 'a1b2c3' },
      { ...lines.result('toolu_9', page), isSidechain: true, agentId: 'a1b2c3' },
    ]
    const path = await write([lines.prompt('Find out.'), ...talk(60), reply(asks(page))])
    const folder = join(path.slice(0, -'.jsonl'.length), 'subagents')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'agent-a1b2c3.jsonl'), toJsonl(read))
    await expectHeld()
  })

  test('a prompt names a file that has it', async () => {
    const file = {
      ...lines.prompt(''),
      type: 'attachment',
      message: undefined,
      attachment: { type: 'file', filename: 'notes.md', content: { type: 'text', file: { content: page } } },
    }
    await write([lines.prompt('Look at @notes.md'), file, ...talk(60), reply(asks(page))])
    await expectHeld()
  })

  test('what a person said before, or what the agent found out before it wrote it down, counts at once', async () => {
    const own = 'Migrations of the billing service need a lock of the scheduler, or two of them run at once.'
    await write([
      lines.prompt(`Remember this: ${page}`),
      reply(`I see now: ${own}`),
      call('toolu_1', 'Read'),
      lines.result('toolu_1', `# Notes\n${own}\n${page}`),
      ...talk(60),
      reply(asks(page)),
      reply(asks(own)),
    ])
    await open()
    await expect.poll(contents).toEqual([page, own])
    expect((await remembered()).map(({ quarantine }) => quarantine)).toEqual([undefined, undefined])
  })

  test('a copy of a prompt that a client keeps beside it is no program\u2019s word', async () => {
    const said = `Remember this: ${page}`
    const copy = { type: 'last-prompt', lastPrompt: said, sessionId: SESSION }
    await write([copy, lines.prompt(said), copy, reply(asks(page))])
    await open()
    await expect.poll(contents).toEqual([page])
    expect((await remembered()).map(({ quarantine }) => quarantine)).toEqual([undefined])
  })

  test('what the client wrote in place of an answer is nobody\u2019s word', async () => {
    const failed = { ...reply(asks('Planted by a server.')), isApiErrorMessage: true }
    await write([lines.prompt('Go on.'), failed, reply(asks('The last one counts.'))])
    await open()
    await expect.poll(contents).toEqual(['The last one counts.'])
    await throughline?.settled()
    expect(await contents()).toEqual(['The last one counts.'])
  })
})
