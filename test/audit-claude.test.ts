import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { field, list, parseJson, string } from '#base'
import { createClock, openRoster, readAudit } from '#live'
import { CLAUDE, openClaudePlace } from './drivers-claude-place.ts'

const HOST = join(import.meta.dirname, '..', 'dist', 'live', 'host-main.js')

/** The calls in everything that Claude Code has written down, subagents too. */
function callsIn(configDir: string): readonly string[] {
  const projects = join(configDir, 'projects')
  const calls = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(projects, name), 'utf8').split('\n'))
    .flatMap((line) => list(field(parseJson(line), 'message'), 'content'))
    .filter((block) => string(block, 'type') === 'tool_use')
    .flatMap((block) => string(block, 'id') ?? [])
  return [...new Set(calls)]
}

test('[AUD5] [ATT41] every call of the real Claude Code is in the log: asked about, allowed by a rule, a subagent’s', async () => {
  const place = await openClaudePlace()
  const home = join(place.root, 'throughline')
  const sessionId = randomUUID()
  mkdirSync(join(place.workdir, '.claude'))
  writeFileSync(
    join(place.workdir, '.claude/settings.local.json'),
    JSON.stringify({ permissions: { allow: ['Bash(touch:*)'] } }),
  )
  const roster = await openRoster({
    home,
    clock: createClock(() => Date.now()),
    program: { command: process.execPath, args: [HOST], env: {} },
    findOwner: () => Promise.resolve(undefined),
  })
  try {
    await roster.start({
      sessionId,
      agent: 'claude',
      workdir: place.workdir,
      trusted: true,
      env: place.env,
      settings: { executable: CLAUDE },
    })
    const inside = '[[tool Bash {"command":"touch sub"}]] [[tool Bash {"command":"sh -c true"}]]'
    const task = { description: 'a task', prompt: inside, subagent_type: 'general-purpose' }
    const words = `[[tool Bash {"command":"touch one"}]] [[tool Read {"file_path":"${join(place.workdir, 'one')}"}]] [[tool Bash {"command":"sh -c 'touch two'"}]] [[tool Agent ${JSON.stringify(task)}]]`
    await roster.prompt(sessionId, { id: randomUUID(), blocks: [{ kind: 'text', text: words }], by: 'me' })
    for (let tries = 0; tries < 3_000; tries++) {
      const [open] = roster.attentions()
      if (open) {
        const { id, hash } = open
        await roster.resolve(sessionId, { id, hash, resolution: { kind: 'allow', rules: [] }, by: 'phone' })
      }
      // The subagent may go on when the turn is over.
      const { entries } = await readAudit(home, sessionId)
      if (entries.filter(({ kind }) => kind === 'tool.returned').length === 6) break
      await sleep(20)
    }
    await roster.command(sessionId, { do: 'end' })
    const { entries, verdict } = await readAudit(home, sessionId)
    expect(verdict).toMatchObject({ kind: 'whole' })
    const called = entries.flatMap((one) => (one.kind === 'tool.called' ? [one] : []))
    const made = callsIn(place.configDir)
    expect(called.map(({ toolUseId }) => toolUseId).toSorted()).toEqual(made.toSorted())
    expect(readdirSync(place.workdir)).toEqual(expect.arrayContaining(['one', 'sub', 'two']))
    expect(called.filter(({ parentToolUseId }) => parentToolUseId !== undefined)).toHaveLength(2)
    const decided = entries.flatMap((one) => (one.kind === 'attention.settled' ? [one.asked?.toolUseId] : []))
    expect(decided.length).toBeGreaterThan(0)
    expect(decided.length).toBeLessThan(made.length)
    expect(decided.filter((id) => id === undefined || !made.includes(id))).toEqual([])
  } finally {
    for (const { sessionId: id } of roster.list()) await roster.command(id, { do: 'end' }).catch(() => {})
    await roster.close()
    await place.close()
  }
})
