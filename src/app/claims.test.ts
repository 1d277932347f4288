import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeClaim } from '#live'
import {
  createLines,
  createRollout,
  openTempDir,
  ROLLOUT,
  toJsonl,
  writeRollout,
  type TempDir,
} from '#testing'
import type { LocalThroughline } from './throughline.ts'
import { openThroughline } from './open-throughline.ts'
import { recordedFolder } from './recorded-sources.ts'

const OURS = '0c0ffee0-0000-4000-8000-00000000000a'

let temp: TempDir
let home: string
let native: string
const open: LocalThroughline[] = []

beforeEach(async () => {
  temp = await openTempDir()
  home = join(temp.path, 'home')
  const rollout = createRollout()
  native = writeRollout(join(temp.path, 'codex'), rollout.meta() + rollout.prompt('one') + rollout.reply('1'))
  const folder = join(recordedFolder(home, 'codex'), '-home-user-work')
  mkdirSync(folder, { recursive: true })
  const lines = createLines({ sessionId: OURS })
  writeFileSync(
    join(folder, `${OURS}.jsonl`),
    toJsonl([lines.prompt('one'), lines.reply([{ type: 'text', text: '1' }])]),
  )
})
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
  await temp.remove()
})

/** The session was run here until then. */
async function claim(until: string, how: { readonly transcript?: 'own' } = {}): Promise<void> {
  const path = await writeClaim(recordedFolder(home, 'codex'), ROLLOUT, { sessionId: OURS, ...how })
  const at = new Date(until)
  if (path !== undefined) utimesSync(path, at, at)
}

async function openHere(index: boolean): Promise<LocalThroughline> {
  const env = { THROUGHLINE_HOME: home, CODEX_HOME: join(temp.path, 'codex') }
  const config = { claudeDir: join(temp.path, 'claude'), geminiDir: temp.path, opencodeDir: temp.path }
  const throughline = await openThroughline({ env, config, index })
  open.push(throughline)
  return throughline
}

async function listed(throughline: LocalThroughline): Promise<readonly (readonly [string, string])[]> {
  return (await throughline.list()).sessions.map(({ id, path }) => [id, path === native ? 'own' : 'recorded'])
}

test.each([false, true])(
  '[LVR2] a session is listed once, from what has all of it (index: %s)',
  async (index) => {
    await claim('2026-11-15T01:00:00.000Z')
    const throughline = await openHere(index)
    expect(await listed(throughline)).toEqual([[OURS, 'recorded']])
    expect((await throughline.get(ROLLOUT)).id).toBe(OURS)

    // Somebody goes on with it in a terminal, two hours later.
    const later = createRollout({ ordinal: 3 * 60 * 60 })
    appendFileSync(native, later.prompt('two') + later.reply('2'))
    await expect.poll(() => listed(throughline), { timeout: 20_000 }).toEqual([[OURS, 'own']])
    expect((await throughline.get(ROLLOUT)).id).toBe(OURS)
  },
)

test('[LVR3] what its agent alone has is listed under our id', async () => {
  await claim('2027-01-01T00:00:00.000Z', { transcript: 'own' })
  expect(await listed(await openHere(false))).toEqual([[OURS, 'own']])
})

test('[RST8] what served a moment is not listed', async () => {
  await writeClaim(recordedFolder(home, 'codex'), ROLLOUT, { sessionId: undefined })
  expect(await listed(await openHere(false))).toEqual([[OURS, 'recorded']])
})

test('[LVR3] a file that is named as a session of ours a moment after it was listed is that session, and no other', async () => {
  const throughline = await openHere(true)
  const names = (): Promise<readonly string[]> =>
    listed(throughline).then((all) => all.map(([id]) => id).toSorted())
  expect(await names()).toEqual([ROLLOUT, OURS].toSorted())
  await claim('2027-01-01T00:00:00.000Z', { transcript: 'own' })
  await expect.poll(names, { timeout: 20_000 }).toEqual([OURS])
  await throughline.settled()
  const { hits } = await throughline.search({ q: 'one' })
  expect(hits.map(({ session }) => session.id)).toEqual([OURS])
})
