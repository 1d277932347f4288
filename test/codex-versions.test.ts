import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline } from '#app'
import { openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** What one run of each version told its user, by the figures of the scripted model that it ran against. */
const VERSIONS: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  // The first Codex, and the lines of the second, say nothing of tokens.
  'version-0.1-json': { 'a6ca52e4-9113-434e-9edb-884b8e4ed517': { replies: 2 } },
  'version-0.29-bare': { '943cc367-878f-48b5-97bb-f2c696ada120': { replies: 2 } },
  // Its sums start again when it is resumed.
  'version-0.55-resumed': {
    '01a1f09f-8380-7333-bbc7-986b3368e351': {
      replies: 3,
      usage: { input: 1640, cacheRead: 1600, output: 36 },
      contextTokens: 1133,
    },
  },
  'version-0.104-rollback-fork': {
    '01a1f09e-4fe4-7fa0-893c-f0ffd3666d93': {
      replies: 4,
      usage: { input: 2000, cacheRead: 2400, output: 50 },
      contextTokens: 1174,
    },
    '01a1f09e-519c-7bb0-94ca-9dbc720d807d': {
      replies: 5,
      usage: { input: 2400, cacheRead: 3200, output: 65 },
      own: { input: 400, cacheRead: 800, output: 15 },
      contextTokens: 1215,
    },
  },
  // The request for the summary is billed; the review has a thread of its own.
  'version-0.104-compacted-review': {
    '01a1f09e-bd59-7e30-8272-6f804d124b34': {
      replies: 5,
      usage: { input: 2440, cacheRead: 3200, output: 66 },
      contextTokens: 1256,
    },
    '01a1f09e-befe-7272-b233-a74a088f7803': {
      replies: 1,
      usage: { input: 400, cacheRead: 800, output: 15 },
      contextTokens: 1215,
    },
  },
  'version-0.142-resumed': {
    '01a1f09f-fe85-7fb0-9cfd-2b210863ea9f': {
      replies: 4,
      usage: { input: 2000, cacheRead: 2400, output: 50 },
      contextTokens: 1174,
    },
  },
}

interface Expected {
  readonly replies: number
  readonly usage?: Figures
  /** Where some of it was copied: what the report gives the session. */
  readonly own?: Figures
  readonly contextTokens?: number
}

interface Figures {
  readonly input: number
  readonly cacheRead: number
  readonly output: number
}

const NOTHING: Figures = { input: 0, cacheRead: 0, output: 0 }
const all = Object.values(VERSIONS).flatMap((sessions) => Object.entries(sessions))

let dir: TempDir
type Opened = Awaited<ReturnType<typeof openThroughline>>
let scanning: Opened
let indexed: Opened
beforeAll(async () => {
  dir = await openTempDir()
  const codexHome = join(dir.path, 'codex')
  for (const version of Object.keys(VERSIONS))
    cpSync(join(import.meta.dirname, 'fixtures/codex', version), codexHome, { recursive: true })
  const env = {
    CODEX_HOME: codexHome,
    CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
    THROUGHLINE_HOME: join(dir.path, 'home'),
    HOME: dir.path,
  }
  scanning = await openThroughline({ env })
  indexed = await openThroughline({ env, index: true })
  while ((await indexed.health()).index.state !== 'complete') await indexed.settled()
})
afterAll(async () => {
  await scanning.close()
  await indexed.close()
  await dir.remove()
})

test('[CDX32] sessions of every version are listed, with names, folders and times', async () => {
  const { sessions, problems } = await scanning.list()
  expect(problems).toEqual([])
  expect(new Set(sessions.map(({ id }) => id))).toEqual(new Set(all.map(([id]) => id)))
  for (const session of sessions) {
    expect(session).toMatchObject({ state: 'ok', nameFrom: 'prompt' })
    expect(session.createdAt?.slice(0, 10)).toBe('2026-11-18')
    // The first Codex wrote no folder down.
    expect(session.workdirs).toEqual(session.path.endsWith('.json') ? [] : ['/home/user/work'])
  }
})

test.each(all)(
  '[CDX30] [CDX32] %s counts and costs what its version told, with an index and without',
  async (id, expected) => {
    const { replies, usage = NOTHING, contextTokens } = expected
    const session = (await scanning.list()).sessions.find((each) => each.id === id)
    if (session === undefined) throw new Error(`${id} is not listed`)
    const { facts } = await scanning.digest(session)
    expect(facts).toMatchObject({ replies, usage, ...(contextTokens && { contextTokens }) })
    const counted = (await indexed.list()).sessions.find((each) => each.id === id)?.counts
    expect(counted).toMatchObject({ replies, usage, ...(contextTokens && { contextTokens }) })
  },
)

test('[CDX30] [CDX31] [USE1] the report bills sums once, those of a fork for the thread that wrote them', async () => {
  const report = await scanning.usage({ by: 'session' })
  expect(await indexed.usage({ by: 'session' })).toEqual(report)
  const rows = new Map(report.rows.map((row) => [row.key, row]))
  for (const [id, { usage, own = usage }] of all) {
    if (own === undefined) expect(rows.has(id)).toBe(false)
    else expect(rows.get(id)?.usage).toMatchObject(own)
  }
  expect(report.unpriced).toEqual([])
  expect(report.total.cost).toBeGreaterThan(0)
})

test('[CDX32] words of every version are found', async () => {
  for (const throughline of [scanning, indexed]) {
    const { hits } = await throughline.search({ q: 'file says', limit: 50 })
    expect(new Set(hits.map(({ session }) => session.id)).size).toBeGreaterThan(4)
  }
})
