import { appendFileSync, existsSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openThroughline, type LocalThroughline } from '#app'
import { openCatalogue } from '#ingest'
import { createClaudeSource } from '#sources'
import {
  eventually,
  mountSmallDisk,
  createLines,
  idsOf,
  listen,
  openTempDir,
  readAll,
  seededRandom,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { indexPath, readRows } from './index-rows.ts'

const MB = 1024 * 1024
let dir: TempDir
let opened: LocalThroughline[] = []
let lines = createLines()
beforeEach(async () => {
  dir = await openTempDir()
  opened = []
  lines = createLines()
})
afterEach(async () => {
  for (const each of opened) await each.close()
  await dir.remove()
})

const configDir = (): string => join(dir.path, 'claude')

async function open(home = 'home', archive = 'off'): Promise<LocalThroughline> {
  const throughline = await openThroughline({
    index: true,
    sweepMs: 100,
    env: {
      CLAUDE_CONFIG_DIR: configDir(),
      THROUGHLINE_HOME: join(dir.path, home),
      THROUGHLINE_ARCHIVE: archive,
    },
  })
  opened.push(throughline)
  return throughline
}

function prompts(count: number, word = 'common'): string {
  return toJsonl(Array.from({ length: count }, (_, n) => lines.prompt(`${word} ${n}`)))
}

async function countOf(throughline: LocalThroughline, q: string): Promise<number> {
  await throughline.settled()
  return (await throughline.search({ q })).total.count
}

async function idsIn(path: string): Promise<readonly string[]> {
  return (await readAll(path)).flatMap((each) => (each.kind === 'entry' ? [each.entry.id] : []))
}

/** The index in use has what one has that was built from nothing. */
async function expectFresh(): Promise<void> {
  rmSync(join(dir.path, 'fresh'), { recursive: true, force: true })
  const fresh = await open('fresh')
  await eventually(async () => {
    await fresh.settled()
    expect((await fresh.health()).index.state).toBe('complete')
  })
  const rows = readRows(indexPath(join(dir.path, 'fresh')))
  await eventually(async () => expect(readRows(indexPath(join(dir.path, 'home')))).toEqual(rows))
}

test('[FLT16] rotated and made anew within milliseconds, again and again, the end is that of a full look', async () => {
  const path = await writeTranscript(configDir(), prompts(3))
  const throughline = await open()
  const listening = listen(throughline, { kind: 'session', id: SESSION })
  await listening.until((events) => events.some(({ kind }) => kind === 'caught-up'))
  const rounds = process.env['RUNS'] === 'full' ? 1000 : 150
  const random = seededRandom()
  for (let round = 0; round < rounds; round++) {
    if (round % 3 === 0) renameSync(path, join(dir.path, 'rotated'))
    else if (round % 3 === 1) unlinkSync(path)
    if (round % 4 === 0) await sleep(random.next() * 10)
    writeFileSync(path, prompts(1 + (round % 5), round % 2 === 0 ? 'common' : 'shared'))
    await sleep(random.next() * 8)
    if (round % 7 === 0) appendFileSync(path, prompts(2))
  }
  const ids = await idsIn(path)
  await listening.until((events) => JSON.stringify(idsOf(events)) === JSON.stringify(ids))
  expect((await throughline.list()).sessions.map(({ size }) => size)).toEqual([statSync(path).size])
  await expectFresh()
  expect(listening.errors).toEqual([])
  listening.close()
})

test('[FLT17] where nothing can be watched, a sweep finds what came, grew, was rewritten and went', async () => {
  const [one, two] = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002']
  const path = await writeTranscript(configDir(), prompts(2), { id: one })
  const catalogue = await openCatalogue({
    sources: [{ source: createClaudeSource(configDir()), isArchive: false }],
    liveOf: () => undefined,
    preferenceOf: () => ({ starred: false }),
    countsOf: () => undefined,
    now: Date.now,
    onChange: () => undefined,
  })
  const look = async (): Promise<readonly (readonly [string, number, string | undefined])[]> => {
    await catalogue.sweep()
    return catalogue
      .sessions()
      .map(({ id, size, firstPrompt }) => [id, size, firstPrompt] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  }
  appendFileSync(path, prompts(1))
  expect(await look()).toEqual([[one, statSync(path).size, 'common 0']])
  const other = await writeTranscript(configDir(), prompts(1, 'other'), { id: two })
  writeFileSync(path, prompts(9, 'anew'))
  expect(await look()).toEqual([
    [one, statSync(path).size, 'anew 0'],
    [two, statSync(other).size, 'other 0'],
  ])
  rmSync(path)
  expect((await look()).map(([id]) => id)).toEqual([two])
})

test('[FLT18] lines of two writers that are mixed up are set apart, and hide nothing around them', async () => {
  const [a, b] = [prompts(1, 'first'), prompts(1, 'second')]
  const mixed = `${a.slice(0, 60)}${b}${a.slice(60)}`
  const path = await writeTranscript(configDir(), `${prompts(3)}${mixed}${prompts(3, 'behind')}`)
  const throughline = await open()
  await eventually(async () => expect(await countOf(throughline, 'behind')).toBe(3))
  expect(await countOf(throughline, 'common')).toBe(3)
  appendFileSync(path, `${mixed}${prompts(1, 'kumquat')}`)
  await eventually(async () => expect(await countOf(throughline, 'kumquat')).toBe(1))
  const { findings } = await throughline.check(await throughline.get(SESSION))
  expect(findings.length).toBeGreaterThan(0)
  await expectFresh()
})

test('[FLT27] bytes that are no text are kept, and no line is lost for them', async () => {
  const odd = Buffer.concat([
    Buffer.from(prompts(2)),
    Buffer.from('{"type":"user","uuid":"odd","message":{"role":"user","content":"kumquat '),
    Buffer.from([0xff, 0xc0, 0xaf, 0xe2, 0x82, 0xf0, 0x9f, 0x98]),
    Buffer.from(' end"}}\n'),
    Buffer.from(prompts(2, 'behind')),
  ])
  await writeTranscript(configDir(), odd)
  const throughline = await open()
  await eventually(async () => expect(await countOf(throughline, 'behind')).toBe(2))
  const { hits } = await throughline.search({ q: 'kumquat' })
  expect(hits.map(({ entry }) => entry.id)).toEqual(['odd'])
  const session = await throughline.get(SESSION)
  const bytes: Uint8Array[] = []
  for await (const piece of throughline.bytes(session)) bytes.push(piece)
  expect(Buffer.concat(bytes)).toEqual(odd)
  expect((await throughline.page(session, { limit: 10 })).readings).toHaveLength(5)
})

test('[FLT22] [FLT23] [FLT24] cycles, missing parents and unpaired calls are listed, paged and found whole', async () => {
  const odd = [
    lines.prompt('common a', { parentUuid: '00000000-0000-4000-8000-000000000001' }),
    lines.prompt('common b', { parentUuid: 'never-written' }),
    lines.prompt('common c', { parentUuid: null }),
    lines.reply([{ type: 'tool_use', id: 'toolu_never', name: 'Bash', input: { command: 'common' } }]),
    lines.result('toolu_nobody', 'common'),
  ]
  await writeTranscript(configDir(), toJsonl(odd))
  const throughline = await open()
  await eventually(async () => expect(await countOf(throughline, 'common')).toBe(5))
  const session = await throughline.get(SESSION)
  expect((await throughline.page(session, { limit: 10 })).readings).toHaveLength(5)
  expect((await throughline.list()).sessions).toHaveLength(1)
})

test('[FLT26] the last page of a session with a line of 50 MB is read, and its words are found', async () => {
  const long = toJsonl([lines.result('toolu_long', 'x'.repeat(50 * MB))])
  await writeTranscript(configDir(), `${prompts(2)}${long}${prompts(3, 'behind')}`)
  const throughline = await open()
  const session = await throughline.get(SESSION)
  const page = await throughline.page(session, { limit: 4, raw: false })
  expect(page.readings.map((each) => (each.kind === 'entry' ? each.entry.kind : 'damage'))).toEqual([
    'oversize',
    'prompt',
    'prompt',
    'prompt',
  ])
  await eventually(async () => expect(await countOf(throughline, 'behind')).toBe(3))
})

test('[ING7] [C1.2] a home that is deleted while it is used is made again, and nothing of the sessions is lost', async () => {
  const path = await writeTranscript(configDir(), prompts(5))
  const throughline = await open('home', 'on')
  await eventually(async () => expect(await countOf(throughline, 'common')).toBe(5))
  rmSync(join(dir.path, 'home'), { recursive: true, force: true })
  expect((await throughline.list()).sessions).toHaveLength(1)
  await eventually(async () => {
    expect(existsSync(indexPath(join(dir.path, 'home')))).toBe(true)
    expect(await countOf(throughline, 'common')).toBe(5)
  })
  appendFileSync(path, prompts(1, 'kumquat'))
  await eventually(async () => expect(await countOf(throughline, 'kumquat')).toBe(1))
  await throughline.close()
})

test('[D09] [D10] files that come back later are found, whatever the index thought of them', async () => {
  const ids = [1, 2, 3].map((n) => `aaaaaaaa-0000-4000-8000-00000000000${n}`)
  for (const id of ids) await writeTranscript(configDir(), prompts(4), { id })
  const first = await open()
  await eventually(async () => expect(await countOf(first, 'common')).toBe(12))
  await first.close()
  const [away, back] = [join(dir.path, 'away'), join(configDir(), 'projects')]
  renameSync(back, away)
  const second = await open()
  await eventually(async () => expect(await countOf(second, 'common')).toBe(0))
  expect((await second.list()).sessions).toEqual([])
  renameSync(away, back)
  await eventually(async () => {
    expect((await second.list()).sessions).toHaveLength(3)
    expect(await countOf(second, 'common')).toBe(12)
  })
  await expectFresh()
})

test('[FLT11] with a home that takes no change sessions are listed and read, and a notice says what is wrong', async ({
  skip,
}) => {
  const disk = mountSmallDisk(join(dir.path, 'home'), 'ro,size=1m')
  if (disk === undefined) return skip()
  try {
    const path = await writeTranscript(configDir(), prompts(5))
    const throughline = await open('home', 'on')
    const session = await throughline.get(SESSION)
    expect((await throughline.page(session, { limit: 10 })).readings).toHaveLength(5)
    const listening = listen(throughline, { kind: 'session', id: SESSION })
    appendFileSync(path, prompts(1))
    await listening.until((events) => idsOf(events).length === 6)
    await eventually(async () => {
      const { notices, index } = await throughline.health()
      expect(notices.map(({ message }) => message).join('\n')).toMatch(/index/i)
      expect(notices.every(({ hint }) => hint !== '')).toBe(true)
      expect(index.state).toBe('failed')
    })
    await expect(throughline.rename(session, 'a name')).rejects.toMatchObject({
      hint: expect.stringMatching(/./),
    })
    listening.close()
    await throughline.close()
  } finally {
    disk.remove()
  }
})
