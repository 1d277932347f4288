import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createScriptedDriver, findAgentProcesses, type AgentFact } from '#drivers'
import type { Ask, Resolution } from '#model'
import { openTempDir, play, runs, type DriverPlace } from '#testing'
import { openScriptedAcpPlace } from './drivers-acp-place.ts'

/** A guard against hanging; with `RUNS=full` it takes minutes. */

type Answer = 'allow' | 'deny' | 'never'

const said = fc.constantFrom(
  '[[say one two three]]',
  '[[think hm hm]]',
  '[[recall]]',
  '[[slow 1]]',
  '[[pause 2]]',
)
const ending = fc.constantFrom('', '', '', '[[fail 529]]', '[[cut]]', '[[hang]]', '[[die]]')
const prompt = fc.record({
  cues: fc.array(fc.oneof(said, fc.constant('TOOL'), fc.constant('[[ask Which? | A | B]]')), {
    maxLength: 5,
  }),
  ending,
})
const step = fc.oneof(
  { weight: 4, arbitrary: prompt.map((value) => ({ kind: 'prompt' as const, ...value })) },
  { weight: 2, arbitrary: fc.constant({ kind: 'interrupt' as const }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 8 }).map((ms) => ({ kind: 'wait' as const, ms })) },
)

async function openScriptedPlace(): Promise<DriverPlace> {
  const dir = await openTempDir()
  const workdir = join(dir.path, 'work')
  mkdirSync(workdir)
  return {
    driver: createScriptedDriver({ transcripts: join(dir.path, 'projects'), now: () => 0 }),
    workdir,
    env: { PATH: process.env['PATH'] ?? '' },
    transcripts: () => ({}),
    crash: () => Promise.resolve(),
    close: () => dir.remove(),
  }
}

test.each([
  { agent: 'the scripted agent', open: openScriptedPlace, tries: runs(60) },
  { agent: 'an agent of the Agent Client Protocol', open: openScriptedAcpPlace, tries: runs(15) },
])(
  '[DRV22] whatever is said to $agent, answered and interrupted: turns begin and end in order, pieces make up their messages, only what was allowed ran, nothing is left',
  async ({ open, tries }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.array(fc.constantFrom<Answer>('allow', 'deny', 'never'), { minLength: 1, maxLength: 4 }),
        async (steps, answers) => {
          const place = await open()
          const allowed = new Set<string>()
          let asked = 0
          const ask = (what: Ask, _signal: AbortSignal): Promise<Resolution> => {
            const answer = answers[asked++ % answers.length] ?? 'never'
            if (answer === 'never') return new Promise(() => {})
            if (answer === 'deny') return Promise.resolve({ kind: 'deny' })
            if (what.kind === 'question') return Promise.resolve({ kind: 'answer', answers: [['A']] })
            allowed.add(JSON.stringify(what.input))
            return Promise.resolve({ kind: 'allow', rules: [] })
          }
          const played = await play(place, { ask })
          const sent: Promise<string>[] = []
          const tools: { readonly name: string; readonly input: string }[] = []
          for (const each of steps) {
            if (each.kind === 'interrupt') await played.agent.interrupt()
            if (each.kind === 'wait') await new Promise((resolve) => setTimeout(resolve, each.ms))
            if (each.kind !== 'prompt') continue
            const cues = each.cues.map((cue) => {
              if (cue !== 'TOOL') return cue
              const name = `ran-${String(tools.length)}`
              const input = JSON.stringify({ command: `touch ${name}` })
              tools.push({ name, input })
              return `[[tool Bash ${input}]]`
            })
            // An agent that takes one prompt at a time may never come to this one.
            sent.push(played.send([...cues, each.ending].join(' ')).catch(() => 'gone'))
          }
          await played.agent.close()
          await Promise.all(sent)

          expectGrammar(played.facts)
          for (const { name, input } of tools)
            if (existsSync(join(place.workdir, name))) expect(allowed.has(input)).toBe(true)
          expect(findAgentProcesses(played.sessionId)).toEqual([])
          await place.close()
        },
      ),
      tries,
    )
  },
)

function expectGrammar(facts: readonly AgentFact[]): void {
  let running = false
  const pieces = new Map<string, string>()
  for (const [index, fact] of facts.entries()) {
    if (fact.kind === 'turn.started') {
      expect(running).toBe(false)
      running = true
    }
    if (fact.kind === 'turn.ended') {
      expect(running).toBe(true)
      running = false
    }
    if (fact.kind === 'delta' || fact.kind === 'message') expect(running).toBe(true)
    if (fact.kind === 'delta') {
      const key = `${fact.messageId} ${String(fact.block)}`
      pieces.set(key, (pieces.get(key) ?? '') + fact.text)
    }
    if (fact.kind === 'message' && fact.role === 'agent') {
      const [block] = fact.blocks
      const whole =
        block?.kind === 'text' ? block.text : block?.kind === 'thinking' ? block.thinking : undefined
      if (whole !== undefined) expect(pieces.get(`${fact.messageId ?? ''} ${String(fact.block)}`)).toBe(whole)
    }
    if (fact.kind === 'ended') expect(index).toBe(facts.length - 1)
  }
  expect(facts.at(-1)?.kind).toBe('ended')
}
