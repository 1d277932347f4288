import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list, object, string } from '#base'
import { NATIVE_AGENTS, toNativeSession, toSaid, type NativeAgent } from '#restore'
import {
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  readAgentSessions,
  type ModelRequest,
} from '#testing'
import { historyOf } from './native-history.ts'
import { openNativePlace, type NativePlace } from './native-place.ts'
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
  NATIVE_AGENTS.filter(
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

/** What the provider would refuse in what the agent asked. What the agent says of itself is its own affair. */
function faultsOf({ body }: ModelRequest): readonly string[] {
  const others = (key: string): readonly unknown[] =>
    list(body, key).filter((item) => !['system', 'developer'].includes(string(item, 'role') ?? ''))
  // Google asks for signatures in the turn that is going on only, and there Gemini CLI puts them itself.
  if ('contents' in body)
    return findGeminiFaults(list(body, 'contents')).filter((fault) => !fault.includes('thought_signature'))
  if ('input' in body) return findResponsesFaults(others('input'))
  if (!('system' in body)) return findChatFaults(others('messages'))
  return findAnthropicFaults(
    others('messages').map((message) => ({ ...object({ message }, 'message'), content: blocksOf(message) })),
  )
}

function blocksOf(message: unknown): readonly unknown[] {
  const text = string(message, 'content')
  return text === undefined ? list(message, 'content') : [{ type: 'text', text }]
}

describe('[NAT11] a session whose agent was killed goes on in any agent with a history that is taken', () => {
  test.each(CASES)(
    '[NAT11] %s, %s, in %s',
    async (from, scenario, to) => {
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
    },
    180_000,
  )
})
