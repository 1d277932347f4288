import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NativeAgent } from '#model'
import { toNativeSession, toSaid } from '#restore'
import { readAgentSessions } from '#testing'
import { faultsOf } from './native-faults.ts'
import { historyOf } from './native-history.ts'
import { openNativePlace, type NativePlace } from './native-place.ts'
import { AGENTS_HERE } from './opencode-program.ts'
import { writeOpencode } from './transcribed-place.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')

/** Sessions whose agent was killed while a tool ran, and while an answer came. */
const KILLED: readonly (readonly [NativeAgent, string])[] = [
  ['claude', 'kill9_intool'],
  ['claude', 'kill9_midstream'],
  ['claude', 'kill9_midblock2'],
  ['codex', 'killed-midtool'],
  ['codex', 'killed-midstream'],
  ['gemini', 'killed-HANGTOOL'],
  ['gemini', 'killed-HANG'],
  ['opencode', 'killed-HANGTOOL'],
  ['opencode', 'killed-HANG'],
]

/** Every day in the one that starts quickest, and what a tool was killed in also in another. */
const CASES = KILLED.flatMap(([from, scenario]) =>
  AGENTS_HERE.filter(
    (to) => process.env['RUNS'] === 'full' || to === 'codex' || (to === 'claude' && /tool/iu.test(scenario)),
  ).map((to) => [from, scenario, to] as const),
)

let place: NativePlace
beforeAll(async () => {
  place = await openNativePlace(() => [{ kind: 'text', text: 'Going on.' }])
})
afterAll(() => place.close())

function rootOf(agent: NativeAgent, scenario: string): string {
  const fixture = join(FIXTURES, agent, scenario)
  if (agent === 'claude') return join(fixture, 'config')
  if (agent !== 'opencode') return fixture
  const root = join(place.scratch, `${scenario}-data`)
  if (!existsSync(root)) writeOpencode(root, fixture)
  return root
}

describe('[NAT11] a session whose agent was killed goes on in any agent with a history that is taken', () => {
  test.each(CASES)('[NAT11] %s, %s, in %s', async (from, scenario, to) => {
    const scratch = join(place.scratch, `${from}-${scenario}`)
    const [found] = await readAgentSessions(from, rootOf(from, scenario), scratch)
    if (found === undefined) throw new Error('the fixture has no session')
    const [id, entries] = found
    const session = toNativeSession(to, toSaid(entries), {
      source: { agent: from, sessionId: `${scenario} ${id}` },
      workdir: place.workdir,
      goOnWith: 'scripted/scripted-model',
      created: entries.find(({ at }) => at !== undefined)?.at ?? '',
    })
    const asked = await place.goOn(session, 'What-happened')
    const heard = historyOf(asked)
    expect(heard.at(-1)).toBe('user What-happened')
    expect(heard.length).toBeGreaterThan(1)
    const calls = heard.filter((line) => line.startsWith('call '))
    expect(heard.filter((line) => /^(?:result|failed) /u.test(line))).toHaveLength(calls.length)
    expect(faultsOf(asked)).toEqual([])
  })
})
