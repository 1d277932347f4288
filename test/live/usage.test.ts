import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { eventually } from '#testing'
import { AGENTS_HERE } from '../opencode-program.ts'
import { openLivePlace, say, until, type LivePlace } from './live-place.ts'

let place: LivePlace
let device: RemoteThroughline

beforeAll(async () => {
  place = await openLivePlace()
  device = await place.connect()
})
afterAll(async () => await place?.close())

const AGENTS = AGENTS_HERE.filter((agent) => agent !== 'claude')
/** What one request of the scripted model takes. */
const INPUT = { codex: [212, 1000], opencode: [212, 1000], gemini: [1212, 0] } as const
const MODEL = { codex: 'gpt-5.5', opencode: 'scripted-model', gemini: 'gemini-2.5-flash' } as const
const TOOL = '[[tool exec_command {"cmd":"echo one"}]] [[say more]]'

test.each(AGENTS)(
  '[LVS36] %s: tokens, model and the filling of the window of a live session are counted, each turn once',
  async (agent) => {
    const [input, cacheRead] = INPUT[agent]
    const prompt = say('[[say hello]]')
    const { sessionId } = await device.live.start({ agent, workdir: place.workdir, prompt })
    const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
    expect(turn?.outcome).toMatchObject({ kind: 'answered', usage: { input, cacheRead, output: 2 } })
    await eventually(async () => {
      const { counts } = await device.get(sessionId)
      expect(counts?.usage).toMatchObject({ input, cacheRead, output: 2 })
      expect([counts?.replies, counts?.contextTokens]).toEqual([1, input + cacheRead + 2])
    })
    if (agent === 'codex') {
      const next = say(TOOL)
      await device.live.prompt(sessionId, next)
      const isOver = (id: string | undefined): boolean => id === next.id
      await until(device, sessionId, (one) => isOver(one.turn?.promptId) && one.turn?.outcome !== undefined)
      await eventually(async () => {
        const { counts } = await device.get(sessionId)
        // Three requests in all; the last one has filled the window.
        expect(counts?.usage).toMatchObject({ input: 3 * input, cacheRead: 3 * cacheRead, output: 7 })
        expect([counts?.replies, counts?.toolCalls, counts?.contextTokens]).toEqual([3, 1, 1214])
      })
    }
    const { rows } = await device.usage({ by: 'model' })
    expect(rows.map(({ key }) => key)).toContain(MODEL[agent])
    await device.live.end(sessionId)
  },
)
