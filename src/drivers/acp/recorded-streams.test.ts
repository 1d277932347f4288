import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { field, isObject, object, parseJson, string } from '#base'
import type { Block } from '#model'
import { runs } from '#testing'
import type { AgentFact } from '../driver.ts'
import { KNOWN_AGENTS } from './known-agents.ts'
import { readPermission } from './permission.ts'
import { createUpdateReader } from './read-update.ts'

/** Each of them ran once allowed and once denied, in `/home/user/shop`. */
const AGENTS = ['codex', 'gemini', 'opencode'] as const
type Agent = (typeof AGENTS)[number]

/** What a real agent said while it did what a scripted model told it to. */
function readStream(agent: Agent): readonly unknown[] {
  const path = join(import.meta.dirname, 'fixtures', `${agent}.jsonl`)
  return readFileSync(path, 'utf8').trim().split('\n').map(parseJson)
}

type Call = Extract<Block, { readonly kind: 'tool-use' }>

interface Heard {
  readonly calls: readonly Call[]
  readonly results: readonly Extract<Block, { readonly kind: 'tool-result' }>[]
  /** Calls by the input that a person was shown. */
  readonly asked: readonly { readonly id: string; readonly input: unknown }[]
}

function hear(agent: Agent, stream: readonly unknown[]): Heard {
  const reader = createUpdateReader(KNOWN_AGENTS[agent])
  const facts: AgentFact[] = []
  const asked: { readonly id: string; readonly input: unknown }[] = []
  const left = [...stream]
  for (let item = left.shift(); item !== undefined; item = left.shift()) {
    const permission = object(item, 'permission')
    if (permission !== undefined) {
      // As the driver waits for the input of a call that only begins.
      const id = callOf(item) ?? ''
      const next = left.findIndex((each) => callOf(each) === id && object(each, 'update') !== undefined)
      if (reader.isBeginning(id) && next !== -1)
        for (const update of left.splice(next, 1)) facts.push(...reader.read(field(update, 'update')))
      const { call, facts: told } = reader.readAsked(permission['toolCall'])
      facts.push(...told)
      const { ask } = readPermission(permission, call, '/home/user/shop')
      if (ask.kind === 'permission') asked.push({ id: ask.toolUseId ?? '', input: ask.input })
      if (string(item, 'answer') === 'reject') reader.deny(call.id, undefined)
    } else if (field(item, 'update') !== undefined) facts.push(...reader.read(field(item, 'update')))
    else facts.push(...reader.finish().facts)
  }
  facts.push(...reader.finish().facts)
  const blocks = facts.flatMap((fact) => (fact.kind === 'message' ? fact.blocks : []))
  return {
    calls: blocks.filter((block) => block.kind === 'tool-use'),
    results: blocks.filter((block) => block.kind === 'tool-result'),
    asked,
  }
}

/** Cuts a stream into its turns: ids of calls come again in the next run of an agent. */
function toTurns(stream: readonly unknown[]): readonly (readonly unknown[])[] {
  const turns: unknown[][] = [[]]
  for (const item of stream) {
    turns.at(-1)?.push(item)
    if (field(item, 'end') !== undefined) turns.push([])
  }
  return turns.filter((turn) => turn.length > 0)
}

function callOf(item: unknown): string | undefined {
  return string(field(item, 'update') ?? field(field(item, 'permission'), 'toolCall'), 'toolCallId')
}

describe.each(AGENTS)('what %s really says', (agent) => {
  const turns = toTurns(readStream(agent))

  test('[DRV62] the whole input of every call is told, and its tool by the name that the agent gives it', () => {
    const calls = turns.flatMap((turn) => hear(agent, turn).calls)
    const inputs = JSON.stringify(calls.map(({ input }) => input))
    expect(inputs).toContain('echo one > one.txt')
    expect(inputs).toContain('two.txt')
    const names = {
      codex: ['edit', 'exec_command', 'execute', 'read'],
      gemini: ['read_file', 'replace', 'run_shell_command', 'write_file'],
      opencode: ['bash', 'edit', 'grep', 'read', 'write'],
    }
    expect(names[agent]).toEqual(expect.arrayContaining([...new Set(calls.map(({ name }) => name))]))
    for (const { input } of calls) expect(Object.keys(isObject(input) ? input : {})).not.toEqual(['cwd'])
  })

  test('[DRV62] a person is asked about the very input that is on record', () => {
    for (const turn of turns) {
      const { calls, asked } = hear(agent, turn)
      for (const { id, input } of asked)
        expect({ id, input: calls.find((call) => call.id === id)?.input }).toEqual({ id, input })
    }
  })

  test('[DRV62] a call that was denied has a result, and each call one', () => {
    for (const turn of turns) {
      const { calls, results } = hear(agent, turn)
      expect(results.map(({ toolUseId }) => toolUseId).toSorted()).toEqual(
        calls.map(({ id }) => id).toSorted(),
      )
    }
  })

  test('[DRV62] calls at the same time, in whatever order they are told of, come out as one after the other', () => {
    const wanted = turns.map((turn) => hear(agent, turn))
    fc.assert(
      fc.property(fc.nat(turns.length - 1), fc.array(fc.nat(7), { maxLength: 60 }), (which, picks) => {
        const turn = turns[which] ?? []
        const mixed = interleave(turn, picks)
        const { calls, asked } = hear(agent, mixed)
        const byId = (list: readonly { readonly id: string }[]): readonly object[] =>
          list.toSorted((a, b) => (a.id < b.id ? -1 : 1))
        expect(byId(calls)).toEqual(byId(wanted[which]?.calls ?? []))
        expect(byId(asked)).toEqual(byId(wanted[which]?.asked ?? []))
      }),
      runs(100),
    )
  })
})

/** The same, with what is said of each call in its own order. */
function interleave(turn: readonly unknown[], picks: readonly number[]): readonly unknown[] {
  const lanes = new Map<string, unknown[]>()
  for (const item of turn) {
    if (field(item, 'end') !== undefined) continue
    const key = callOf(item) ?? 'words'
    const lane = lanes.get(key) ?? []
    lane.push(item)
    lanes.set(key, lane)
  }
  const mixed: unknown[] = []
  for (let at = 0; lanes.size > 0; at += 1) {
    const keys = [...lanes.keys()]
    const key = keys[(picks[at] ?? 0) % keys.length] ?? ''
    const lane = lanes.get(key) ?? []
    mixed.push(lane.shift())
    if (lane.length === 0) lanes.delete(key)
  }
  return mixed
}
