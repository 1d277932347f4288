import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { openLivePlace, say, until, waitFor, type LivePlace } from './live-place.ts'

let place: LivePlace
let device: RemoteThroughline

beforeAll(async () => {
  place = await openLivePlace()
  device = await place.connect()
})
afterAll(async () => await place?.close())

test('[LVR7] a session of Claude Code that is only in the archive is resumed with its history', async () => {
  const { sessionId } = await device.live.start({
    agent: 'claude',
    workdir: place.workdir,
    prompt: say('[[say the moon is full]]'),
  })
  await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
  await device.live.end(sessionId)
  const { path } = await waitFor('it is archived', async () => {
    const session = await device.get(sessionId)
    const kept = readdirSync(join(place.home, 'archive'), { recursive: true, encoding: 'utf8' })
    const isKept = kept.some((name) => name.endsWith(`${sessionId}.jsonl`))
    return isKept && session.live === undefined ? session : undefined
  })
  const before = readFileSync(path, 'utf8')
  rmSync(path)
  await waitFor('the original is missed', async () => (await device.get(sessionId)).sourceGone)
  expect(existsSync(path)).toBe(false)

  const prompt = say('[[recall]]')
  await device.live.resume(sessionId, { prompt })
  const { turn } = await until(
    device,
    sessionId,
    (view) => view.turn?.promptId === prompt.id && view.turn.outcome !== undefined,
  )
  expect(turn?.outcome?.kind).toBe('answered')
  expect(JSON.stringify(turn?.messages)).toContain('the moon is full')
  expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true)
  await device.live.end(sessionId)
  await waitFor('the original is there again', async () =>
    (await device.get(sessionId)).sourceGone === true ? undefined : true,
  )
})
