import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Entry, NativeAgent } from '#model'
import { toNativeSession, toSaid } from '#restore'
import { readAgentSessions, type ModelScript } from '#testing'
import { historyOf } from './native-history.ts'
import { makeIn, toScript } from './native-origin.ts'
import { openNativePlace, type NativePlace } from './native-place.ts'
import { AGENTS_HERE, hasOpencode } from './opencode-program.ts'

/** Every pair takes minutes on a busy machine: every day each agent is read from and written for once or more. */
const PAIRS: readonly (readonly [NativeAgent, NativeAgent])[] =
  process.env['RUNS'] === 'full'
    ? AGENTS_HERE.flatMap((from) => AGENTS_HERE.map((to) => [from, to] as const))
    : [
        ['claude', 'codex'],
        ['claude', 'gemini'],
        ...(hasOpencode ? [['claude', 'opencode'] as const] : []),
        ['codex', 'claude'],
        ['gemini', 'codex'],
      ]

let place: NativePlace
let script: ModelScript = () => []
beforeAll(async () => {
  place = await openNativePlace((request) => script(request))
})
afterAll(() => place.close())

interface Made {
  readonly id: string
  readonly entries: readonly Entry[]
  /** What the agent's own model was told, and what it said to that. */
  readonly history: readonly string[]
}

const made = new Map<NativeAgent, Promise<Made>>()

async function make(agent: NativeAgent): Promise<Made> {
  script = toScript(agent)
  const before = new Set((await sessionsOf(agent)).keys())
  const asked = await makeIn(agent, place)
  const found = [...(await sessionsOf(agent))].find(([id]) => !before.has(id))
  if (found === undefined) throw new Error(`${agent} left no session`)
  return { id: found[0], entries: found[1], history: [...historyOf(asked), 'agent One of them failed.'] }
}

async function sessionsOf(agent: NativeAgent): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const root = agent === 'opencode' ? place.opencodeData : place.roots[agent]
  return await readAgentSessions(agent, root, join(place.scratch, agent))
}

/** Calls by their number, failures as results, without thoughts: these are told in the loss report. */
function toShape(history: readonly string[]): readonly string[] {
  const numbers = new Map<string, string>()
  const shape: string[] = []
  for (const line of history.filter((each) => !each.startsWith('thought '))) {
    const [what = '', id = '', ...rest] = line.split(' ')
    if (what === 'call') numbers.set(id, `#${String(numbers.size)}`)
    const last = shape.at(-1)
    if (what === 'call' || what === 'result' || what === 'failed')
      shape.push([what === 'call' ? 'call' : 'result', numbers.get(id) ?? '?', ...rest].join(' '))
    else if (what === 'agent' && last?.startsWith('agent ') === true)
      shape[shape.length - 1] = `${last}${line.slice('agent '.length)}`
    else shape.push(line)
  }
  return shape
}

describe('[NAT10] a session made in one agent goes on in another, shown by the real ones', () => {
  test.each(PAIRS)('[NAT10] from %s to %s', async (from, to) => {
    const origin = made.get(from) ?? make(from)
    made.set(from, origin)
    const { id, entries, history } = await origin
    const said = toSaid(entries)
    expect(said.pending).toEqual([])
    const times = new Map(entries.map((entry) => [entry.id, entry.at]))
    const session = toNativeSession(to, said, {
      source: { agent: from, sessionId: id },
      workdir: place.workdir,
      goOnWith: 'scripted/scripted-model',
      created: entries.find(({ at }) => at !== undefined)?.at ?? '',
      title: 'Both files',
      timeOf: (entryId) => times.get(entryId),
    })
    expect(session.id).not.toBe(id)
    script = () => [{ kind: 'text', text: 'Going on.' }]
    const asked = await place.goOn(session, `Goon${from}`)
    const heard = historyOf(asked)
    // opencode tells a model what another one thought as if it had said it.
    const words = heard.map((line) =>
      line.replace(/^agent (?:\*\*Thinking\*\* )?I should look at both\./u, 'agent '),
    )
    expect(toShape(words)).toEqual(toShape([...history, `user Goon${from}`]))
    if (!heard.includes('thought I should look at both.'))
      expect(session.losses.map(({ kind }) => kind)).toContain('thinking')
  })
})
