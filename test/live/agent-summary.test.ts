import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { AGENTS_HERE } from '../opencode-program.ts'
import { openLivePlace, say, until, waitFor, type LivePlace } from './live-place.ts'

/** Every day one of them. */
const AGENTS = AGENTS_HERE.filter((agent) => process.env['RUNS'] === 'full' || agent === 'claude')

/** Real agents, asked for a summary of a session of theirs. Only the model is ours. */
describe('a summary by the agent itself', () => {
  let place: LivePlace
  let device: RemoteThroughline
  const ran = (): string => join(place.root, 'hook-ran')

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test.each(AGENTS)(
    '[RST8] [R07] %s: it is asked beside the session, and leaves no session of its own',
    async (agent) => {
      const { sessionId } = await device.live.start({
        agent,
        workdir: place.workdir,
        prompt: say('[[say one]]'),
      })
      for (const words of ['[[say two]]', '[[say three]]']) {
        const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
        const before = turn?.startedAt
        await device.live.prompt(sessionId, say(words))
        await until(
          device,
          sessionId,
          (view) => view.turn?.startedAt !== before && view.turn?.outcome !== undefined,
        )
      }
      await device.live.end(sessionId)
      await waitFor('it is written', async () => {
        const { readings } = await device.page(await device.get(sessionId), { limit: 100 })
        return JSON.stringify(readings).includes('three') ? true : undefined
      })
      // From here on whatever begins a session of Claude Code runs this.
      const hook = { hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${ran()}` }] }] } }
      writeFileSync(join(place.claudeDir, 'settings.json'), JSON.stringify(hook))
      const before = (await device.list()).sessions.map(({ id }) => id)
      const asked = place.api.requests.length

      const record = await device.restoring.compact(sessionId, { keepTurns: 1, by: 'agent' })
      expect(record).toMatchObject({ by: 'agent', turns: { summarised: 2, kept: 1 } })
      expect(record.text).toMatch(agent === 'claude' ? /A scripted aside/u : /two/u)
      expect(record.text).toContain('Every turn named here is kept in full')
      const requests = place.api.requests.slice(asked).map(({ body }) => JSON.stringify(body))
      expect(requests.some((body) => body.includes('earlier-turns') && body.includes('[[say one]]'))).toBe(
        true,
      )

      expect((await device.list()).sessions.map(({ id }) => id)).toEqual(before)
      expect(readdirSync(join(place.home, 'scratch'))).toEqual([])
      expect(existsSync(ran())).toBe(false)
    },
  )
})
