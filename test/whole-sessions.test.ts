import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findTroubles } from '#restore'
import { openTempDir, readAgentSessions, type KnownAgent } from '#testing'
import { expect, test } from 'vitest'
import { writeOpencode } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const scenarios = (['claude', 'codex', 'gemini', 'opencode'] as const).flatMap((agent) =>
  readdirSync(join(fixtures, agent))
    .filter((name) => !name.includes('.'))
    .map((name) => ({ agent, name })),
)

/** Calls that nobody answered are in what was killed, and in what a person stopped. Everything else was well. */
const UNANSWERED = /kill|crash|denied|sigint|sigterm|interrupt|fork|torn|bg|subagent/iu

function rootOf(agent: KnownAgent, name: string, scratch: string): string {
  const fixture = join(fixtures, agent, name)
  if (agent === 'claude') return join(fixture, 'config')
  if (agent !== 'opencode' || existsSync(join(fixture, 'storage'))) return fixture
  writeOpencode(join(scratch, 'data'), fixture)
  return join(scratch, 'data')
}

test.each(scenarios)('[E2.3] nothing is found in $agent $name that its provider takes', async (scenario) => {
  const { agent, name } = scenario
  const temp = await openTempDir()
  try {
    const root = rootOf(agent, name, temp.path)
    const sessions = await readAgentSessions(agent, root, join(temp.path, 'scratch'))
    for (const entries of sessions.values()) {
      const kinds = new Set(findTroubles(entries).map(({ kind }) => kind))
      if (UNANSWERED.test(name)) kinds.delete('call-unanswered')
      expect([...kinds]).toEqual([])
    }
  } finally {
    await temp.remove()
  }
})
