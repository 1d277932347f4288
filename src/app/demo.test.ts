import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionSummary } from '#model'
import { createLines, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline, type OpenOptions } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let home: string
let claudeDir: string
let throughline: LocalThroughline
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  claudeDir = join(dir.path, 'claude')
  await writeTranscript(claudeDir, toJsonl([createLines().prompt('mine')]))
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

const NOW = Date.UTC(2026, 10, 16, 9)

async function open(options: OpenOptions = {}, env: Record<string, string> = {}): Promise<void> {
  const folders = { HOME: dir.path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir }
  throughline = await openThroughline({ env: { ...folders, ...env }, now: () => NOW, ...options })
}

async function samples(): Promise<readonly SessionSummary[]> {
  return (await throughline.list()).sessions.filter(({ demo }) => demo === true)
}

describe.each([
  ['with an index', true],
  ['without an index', false],
])('%s', (_name, index) => {
  test('[DEMO1] samples come and go, and both can be said twice', async () => {
    await open({ index })
    expect(await samples()).toEqual([])
    await throughline.demo('off')
    await throughline.demo('on')
    const first = await samples()
    expect(first).toHaveLength(7)
    expect(new Set(first.map(({ workdirs }) => workdirs[0])).size).toBe(3)
    await throughline.demo('on')
    expect((await samples()).map(({ id }) => id)).toEqual(first.map(({ id }) => id))
    for (const { lastActivityAt = '', createdAt = '', name } of first) {
      expect(Date.parse(lastActivityAt)).toBeLessThan(NOW)
      expect(Date.parse(createdAt)).toBeGreaterThan(NOW - 10 * 86_400_000)
      expect(name?.length).toBeGreaterThan(10)
    }
    await throughline.demo('off')
    expect(await samples()).toEqual([])
    expect((await throughline.list()).sessions.map(({ firstPrompt }) => firstPrompt)).toEqual(['mine'])
    await throughline.demo('off')
  })

  test('[DEMO4] samples are shown whatever the allowed roots are', async () => {
    await open({ index }, { ALLOWED_ROOTS: join(dir.path, 'nowhere') })
    await throughline.demo('on')
    expect((await throughline.list()).sessions.map(({ demo }) => demo)).toEqual(Array(7).fill(true))
    const [sample] = await samples()
    const told: string[] = []
    await new Promise<void>((resolve) => {
      const subscription = throughline.subscribe(
        { kind: 'session', id: sample?.id ?? '' },
        {
          onEvent({ kind }) {
            told.push(kind)
            if (kind !== 'caught-up') return
            subscription.close()
            resolve()
          },
        },
      )
    })
    expect(told).toContain('entry.added')
  })

  test('[DEMO3] all that can be asked of a session can be asked of them', async () => {
    await open({ index })
    await throughline.demo('on')
    await throughline.settled()
    const { hits } = await throughline.search({ q: 'kumquat OR "clocks go back"' })
    expect(hits.map(({ session }) => session.name)).toContain('Forecast test fails when the clocks change')
    expect(hits.map(({ session }) => session.demo)).toContain(true)
    const seen = { branches: 0, damage: 0, failed: 0, compactions: 0, subagents: 0, images: 0 }
    const codes = new Set<string>()
    for (const session of await samples()) {
      const { facts, files, branches, tools, outline } = await throughline.digest(session)
      expect(facts).toEqual((await throughline.survey(session)).facts)
      expect(facts.unknownTypes).toEqual({})
      expect(outline.length).toBeGreaterThan(0)
      expect(files.every(({ path }) => !path.startsWith('/'))).toBe(true)
      seen.branches += branches.length
      seen.damage += facts.damage.length
      seen.failed += tools.reduce((sum, { failed }) => sum + failed, 0)
      seen.compactions += facts.compactions
      seen.subagents += session.subagents.length
      for (const { code } of (await throughline.check(session)).findings) codes.add(code)
      for await (const reading of throughline.entries(session)) {
        const { entry } = reading.kind === 'entry' ? reading : {}
        if (entry?.kind === 'prompt')
          seen.images += entry.blocks.filter(({ kind }) => kind === 'image').length
      }
    }
    expect(seen).toMatchObject({ branches: 1, damage: 1, compactions: 1, subagents: 1, images: 1 })
    expect(seen.failed).toBeGreaterThan(2)
    expect([...codes].toSorted()).toEqual(['branch', 'torn', 'workdir-gone'])
    const [delegating] = (await samples()).filter(({ subagents }) => subagents.length > 0)
    if (delegating === undefined) throw new Error('nobody delegates')
    const passages = []
    for await (const piece of throughline.passages(delegating)) passages.push(...piece)
    const calls = passages.flatMap((one) => (one.kind === 'reply' ? one.calls : []))
    expect(calls.every(({ state }) => state !== 'pending')).toBe(true)
    expect(delegating.subagents[0]).toMatchObject({
      agentType: 'Explore',
      description: 'Find uses of the parser',
    })
  })
})

describe.each([
  ['with an index', true],
  ['without an index', false],
])('%s', (_name, index) => {
  test('[DEMO6] samples are not added to what one used oneself', async () => {
    const lines = createLines({ sessionId: '0c0ffee0-0000-4000-8000-000000000002' })
    const reply = lines.reply([{ type: 'text', text: 'done' }])
    await writeTranscript(claudeDir, toJsonl([lines.prompt('mine, with a bill'), reply]))
    await open({ index })
    const used = async (): Promise<unknown> => {
      await throughline.settled()
      const [day, session] = [
        await throughline.usage({ by: 'day' }),
        await throughline.usage({ by: 'session' }),
      ]
      const { usage } = await throughline.list({ full: true })
      return { total: day.total, sessions: session.rows, compactions: day.compactions, listed: usage }
    }
    const before = await used()
    expect(before).toMatchObject({
      total: { usage: { input: 10, output: 5 } },
      listed: { input: 10, output: 5 },
    })
    await throughline.demo('on')
    expect(await samples()).toHaveLength(7)
    expect(await used()).toEqual(before)
  })

  test('[DEMO6] where there is nothing else, samples show what a bill looks like, and the report says so', async () => {
    await open({ index }, { CLAUDE_CONFIG_DIR: join(dir.path, 'nothing') })
    await throughline.demo('on')
    await throughline.settled()
    const usage = await throughline.usage({ by: 'workdir' })
    expect(usage.ofSamples).toBe(true)
    expect(usage.total.cost).toBeGreaterThan(1)
    expect(usage.total.uncachedCost).toBeGreaterThan(usage.total.cost)
    expect(usage.compactions).toMatchObject({ count: 1 })
    expect(usage.compactions.tokens).toBeGreaterThan(100_000)
    expect(usage.unpriced).toEqual([])
    expect((await throughline.list({ full: true })).usage?.output).toBe(usage.total.usage.output)
  })
})

test('[DEMO2] only a folder of their own is written, for its owner, and goes; the archive keeps nothing of it', async () => {
  await mkdir(join(home, 'demonstration'), { recursive: true })
  await writeFile(join(home, 'demonstration', 'keep'), 'me')
  await open({ index: true })
  const before = await readFile(
    join(claudeDir, 'projects/-home-user-work-made/0c0ffee0-0000-4000-8000-000000000001.jsonl'),
  )
  await throughline.demo('on')
  await throughline.settled()
  await throughline.close()
  for (const path of readdirSync(join(home, 'demo'), { recursive: true, encoding: 'utf8' })) {
    const stats = statSync(join(home, 'demo', path))
    expect([path, stats.mode & 0o777]).toEqual([path, stats.isDirectory() ? 0o700 : 0o600])
    expect(path).not.toContain('.tmp')
  }
  expect(statSync(join(home, 'demo')).mode & 0o777).toBe(0o700)
  await open({ index: true })
  expect(await samples()).toHaveLength(7)
  await throughline.demo('off')
  await throughline.settled()
  const archived = readdirSync(join(home, 'archive'), { recursive: true, encoding: 'utf8' })
  expect(archived.filter((path) => path.includes('de30000'))).toEqual([])
  expect(existsSync(join(home, 'demo'))).toBe(false)
  expect(readdirSync(join(home, 'demonstration'))).toEqual(['keep'])
  expect(readdirSync(join(claudeDir, 'projects'))).toEqual(['-home-user-work-made'])
  expect(
    await readFile(
      join(claudeDir, 'projects/-home-user-work-made/0c0ffee0-0000-4000-8000-000000000001.jsonl'),
    ),
  ).toEqual(before)
})

test('[DEMO1] what a crash left half written is made whole, and what is there stays', async () => {
  await open()
  await throughline.demo('on')
  const [newest] = await samples()
  const path = newest?.path ?? ''
  const text = await readFile(path, 'utf8')
  await writeFile(`${path}.tmp`, text.slice(0, 100))
  await throughline.demo('on')
  expect(await readFile(path, 'utf8')).toBe(text)
  expect(await samples()).toHaveLength(7)
})

test('[DEMO1] where nothing can be written, it says so and what to do', async () => {
  await writeFile(home, 'a file where the folder should be')
  await open()
  await expect(throughline.demo('on')).rejects.toMatchObject({ code: 'output-unwritable' })
})
