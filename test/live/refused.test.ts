import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { AGENTS_HERE, hasOpencode } from '../opencode-program.ts'
import { openLivePlace, say, until, type LivePlace } from './live-place.ts'

/** Every day those that start quickest. */
const AGENTS = AGENTS_HERE.filter(
  (agent) => process.env['RUNS'] === 'full' || agent === 'claude' || agent === 'codex',
)

/** What its provider refuses is told by each real agent in words of its own; only the model is ours. */
describe('a session that its provider refuses', () => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test.each(AGENTS)(
    '[P15] %s: it is told as a fault of this session, and with what mends it',
    async (agent) => {
      const prompt = '[[fail 400]]'
      const { sessionId } = await device.live.start({ agent, workdir: place.workdir, prompt: say(prompt) })
      const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
      expect(turn?.outcome).toMatchObject({ kind: 'failed', retry: false, fault: 'session' })
      const hint = expect.stringContaining(`throughline repair ${sessionId}`)
      expect(turn?.outcome).toMatchObject({ hint })
      const card = (await device.live.board()).find((each) => each.sessionId === sessionId)
      expect(card?.trouble).toEqual(hint)
      await device.live.end(sessionId)
      if (agent !== 'claude') return

      // Nobody else pays for it: the next session is asked at once.
      const other = await device.live.start({ agent, workdir: place.workdir, prompt: say('[[say fine]]') })
      const next = await until(device, other.sessionId, (view) => view.turn?.outcome !== undefined)
      expect(next.turn?.outcome?.kind).toBe('answered')
      await device.live.end(other.sessionId)
    },
  )

  test.skipIf(!hasOpencode)(
    '[DRV64] opencode: a limit and an overload of its provider are not told as a broken session',
    async () => {
      for (const [status, fault] of [
        [429, 'limit'],
        [529, 'provider'],
      ] as const) {
        const prompt = say(`[[fail ${status}]]`)
        const { sessionId } = await device.live.start({ agent: 'opencode', workdir: place.workdir, prompt })
        const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
        expect(turn?.outcome).toMatchObject({ kind: 'failed', fault, retry: true })
        expect(turn?.outcome).not.toHaveProperty('hint')
        await device.live.end(sessionId)
      }
    },
  )

  test.each([
    [429, 'limit'],
    [529, 'provider'],
    [401, 'account'],
  ])('[P15] a %i is no fault of the session', async (status, fault) => {
    const { sessionId } = await device.live.start({
      agent: 'scripted',
      workdir: place.workdir,
      prompt: say(`[[fail ${status}]]`),
    })
    const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
    expect(turn?.outcome).toMatchObject({ kind: 'failed', status, fault })
    expect(turn?.outcome).not.toHaveProperty('hint')
    await device.live.end(sessionId)
  })
})
