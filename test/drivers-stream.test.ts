import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { list, object, parseJson, string } from '#base'
import { createStreamReader, type AgentFact } from '#drivers'
import { runs } from '#testing'

const FIXTURES = join(import.meta.dirname, 'fixtures/claude-streams')

function linesOf(name: string): readonly unknown[] {
  return readFileSync(join(FIXTURES, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(parseJson)
}

function read(lines: readonly unknown[], prompts: readonly string[] = []): readonly AgentFact[] {
  const left = new Set(prompts)
  const sessionId = lines.map((line) => string(line, 'session_id')).find((id) => id !== undefined) ?? 's'
  const reader = createStreamReader({
    sessionId,
    takePrompt: (id) => (left.delete(id) ? { id, blocks: [{ kind: 'text', text: id }] } : undefined),
  })
  return lines.flatMap((line) => reader.read(line))
}

function kindsOf(facts: readonly AgentFact[]): readonly string[] {
  return facts
    .filter((fact) => fact.kind !== 'unknown')
    .map((fact) => (fact.kind === 'message' ? fact.role : fact.kind))
}

test('[DRV35] every block of a recorded message is told once, under the id of its line', () => {
  const lines = linesOf('multi')
  const facts = read(lines)
  const told = facts.flatMap((fact) => (fact.kind === 'message' && fact.role === 'agent' ? [fact] : []))
  const written = lines.filter((line) => string(line, 'type') === 'assistant')
  expect(told.map((fact) => fact.id)).toEqual(written.map((line) => string(line, 'uuid')))
  expect(told.every((fact) => fact.blocks.length === 1)).toBe(true)
  // Counts of a message that is not over are not final, and are not told.
  expect(told.every((fact) => fact.usage === undefined)).toBe(true)
  expect(facts.at(-1)).toMatchObject({ kind: 'turn.ended', outcome: { kind: 'answered' } })
})

test('[DRV35] a prompt that waited behind an interrupted turn begins the next one', () => {
  const queued = '0b5b8c6e-0000-4000-8000-00000000000a'
  const facts = read(linesOf('interrupt'), [queued])
  const turns = facts.filter((fact) => fact.kind === 'turn.started' || fact.kind === 'turn.ended')
  expect(turns).toMatchObject([
    { kind: 'turn.started' },
    { kind: 'turn.ended', outcome: { kind: 'interrupted' } },
    { kind: 'turn.started', promptId: queued },
    { kind: 'turn.ended', outcome: { kind: 'answered' } },
    { kind: 'turn.started' },
    { kind: 'turn.ended', outcome: { kind: 'interrupted' } },
  ])
})

test('[DRV35] what a subagent says is told as its own, and a turn nobody prompted is one', () => {
  const inner = read(linesOf('subagent')).filter(
    (fact) => fact.kind === 'message' && fact.parentToolUseId !== undefined,
  )
  expect(inner.length).toBeGreaterThan(0)
  const turns = read(linesOf('background')).filter((fact) => fact.kind === 'turn.started')
  expect(turns).toEqual([
    { kind: 'turn.started', promptId: undefined },
    { kind: 'turn.started', promptId: undefined },
  ])
})

test('[DRV35] a cleared conversation is told as renamed, before anything of the new one', () => {
  const lines = linesOf('cleared')
  const facts = read(lines)
  const at = facts.findIndex((fact) => fact.kind === 'renamed')
  expect(facts[at]).toEqual({ kind: 'renamed', sessionId: string(lines.at(-1), 'session_id') })
  expect(kindsOf(facts.slice(at + 1))).toEqual(['turn.started', 'started', 'turn.ended'])
})

test('[DRV36] what is not known is handed on whole', () => {
  for (const name of ['multi', 'question', 'interrupt', 'subagent', 'background', 'compact', 'cleared']) {
    const lines = linesOf(name)
    const facts = read(lines)
    for (const fact of facts) if (fact.kind === 'unknown') expect(lines).toContain(fact.value)
    const compactions = lines.filter((line) => string(line, 'subtype') === 'compact_boundary')
    for (const line of compactions) expect(facts).toContainEqual({ kind: 'unknown', value: line })
  }
  expect(read([17, null, 'x', { type: 'something_new' }]).map((fact) => fact.kind)).toEqual(
    Array(4).fill('unknown'),
  )
})

test('[DRV36] nothing that could come makes the reader fail, and turns end only after they began', () => {
  const pool = ['multi', 'question', 'interrupt', 'subagent', 'background'].flatMap(linesOf)
  const broken = fc.tuple(
    fc.constantFrom(...pool),
    fc.jsonValue(),
    fc.constantFrom('message', 'type', 'event', 'session_id', 'subtype', 'state'),
  )
  fc.assert(
    fc.property(fc.array(broken, { maxLength: 30 }), (given) => {
      const lines = given.map(([line, value, key], index) =>
        index % 3 === 0 ? { ...object({ line }, 'line'), [key]: value } : line,
      )
      const facts = read(lines)
      expect(list({ facts }, 'facts').length).toBe(facts.length)
      let running = false
      for (const fact of facts) {
        if (fact.kind === 'turn.started') {
          expect(running).toBe(false)
          running = true
        }
        if (fact.kind === 'turn.ended') {
          expect(running).toBe(true)
          running = false
        }
      }
    }),
    runs(300),
  )
})
