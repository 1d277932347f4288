import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  type LivePlace,
} from './live-place.ts'

/** The real Codex behind the Agent Client Protocol, in a real host of a real daemon. Only the model is ours. */
describe('Codex, live', () => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test('[RUN31] it is run, asked about and answered like any other, and what it said is kept where it can be read', async () => {
    expect((await device.live.agents()).find(({ agent }) => agent === 'codex')?.problem).toBeUndefined()
    const { sessionId } = await device.live.start({
      agent: 'codex',
      workdir: place.workdir,
      prompt: say('[[say the tangerine is ripe]]'),
    })
    const view = await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect([view.turn?.outcome?.kind, view.mode]).toEqual(['answered', 'default'])
    const file = join(place.workdir, 'made-by-codex')
    const before = view.turn?.startedAt
    await device.live.prompt(sessionId, say(shell('touch made-by-codex')))
    const attention = await attentionOf(device, sessionId)
    expect(attention.ask).toMatchObject({ kind: 'permission', canEdit: false, workdir: place.workdir })
    expect(existsSync(file)).toBe(false)
    await answer(device, attention)
    await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined && turn.startedAt !== before)
    expect(existsSync(file)).toBe(true)

    await device.live.end(sessionId)
    const session = await waitFor('it is in the list', async () => {
      const found = await device.get(sessionId).catch(() => undefined)
      return found !== undefined && found.size > 0 ? found : undefined
    })
    expect(session).toMatchObject({ agent: 'codex', workdirs: [place.workdir], state: 'ok' })
    const page = await device.page(session, { limit: 100 })
    const said = JSON.stringify(page.readings)
    for (const words of ['tangerine is ripe', 'made-by-codex']) expect(said).toContain(words)

    // It goes on under our id, and the agent finds its own.
    await device.live.resume(sessionId, { prompt: say('[[recall]]') })
    const again = await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect(JSON.stringify(again.turn?.messages)).toContain('Earlier')
    expect(JSON.stringify(again.turn?.messages)).toContain('tangerine')
    const { entries, verdict } = await device.live.audit(sessionId)
    expect(verdict.kind).toBe('whole')
    expect(JSON.stringify(entries)).toContain(attention.id)
    await device.live.end(sessionId)
  })
})
