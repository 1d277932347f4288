import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findAgentProcesses } from '#drivers'
import { createClock, openRoster, type Roster } from '#live'
import { eventually, openTempDir, type TempDir } from '#testing'

const DIST = join(import.meta.dirname, '..', 'dist')
const TRAP = join(import.meta.dirname, 'fixtures', 'acp-trap.mjs')

let dir: TempDir
let workdir: string
let roster: Roster

beforeEach(async () => {
  dir = await openTempDir()
  workdir = join(dir.path, 'work')
  mkdirSync(workdir)
  roster = await openRoster({
    home: join(dir.path, 'home'),
    clock: createClock(() => Date.now()),
    program: { command: process.execPath, args: [join(DIST, 'live', 'host-main.js')], env: {} },
    findOwner: () => Promise.resolve(undefined),
    lookMs: 100,
  })
})
afterEach(async () => {
  for (const { sessionId } of roster.list()) await roster.command(sessionId, { do: 'end' }).catch(() => {})
  await soon(() => {
    if (roster.list().length > 0) throw new Error('a session does not end')
  })
  await roster.close()
  await dir.remove()
})

function soon(check: () => void): Promise<void> {
  return eventually(() => Promise.resolve().then(check))
}

async function start(agent: string, args: readonly string[]): Promise<string> {
  const sessionId = randomUUID()
  await roster.start({
    sessionId,
    agent,
    workdir,
    trusted: true,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir.path },
    settings: { executable: process.execPath, args },
  })
  return sessionId
}

async function prompt(sessionId: string, text: string): Promise<void> {
  await roster.prompt(sessionId, { id: randomUUID(), blocks: [{ kind: 'text', text }], by: 'test' })
}

test.each(['codex', 'gemini', 'opencode'])(
  '[DRV60] a host runs %s by the program that is configured: asked, allowed, run, under the id of the agent',
  async (agent) => {
    const sessionId = await start(agent, [join(DIST, 'testing', 'acp-agent.js'), join(dir.path, 'projects')])
    await prompt(sessionId, '[[tool Bash {"command":"touch ran"}]]')
    await soon(() => expect(roster.attentions()).toHaveLength(1))
    const [attention] = roster.attentions()
    expect(attention?.ask).toMatchObject({ kind: 'permission', canEdit: false })
    expect(existsSync(join(workdir, 'ran'))).toBe(false)
    await roster.resolve(sessionId, {
      id: attention?.id ?? '',
      hash: attention?.hash ?? '',
      resolution: { kind: 'allow', rules: [] },
      by: 'test',
    })
    await soon(() => expect(roster.find(sessionId)?.state.state).toBe('idle'))
    expect(existsSync(join(workdir, 'ran'))).toBe(true)
    expect(roster.find(sessionId)).toMatchObject({
      agent,
      mode: 'default',
      agentSessionId: `acp-${sessionId}`,
    })
  },
)

test('[DRV52] an agent that stops asking by itself is switched back', async () => {
  const sessionId = await start('codex', [TRAP, 'goes-yolo'])
  await prompt(sessionId, 'hello')
  await soon(() => expect(roster.find(sessionId)?.prompts.map(({ state }) => state)).toEqual(['delivered']))
  await soon(() =>
    expect(roster.find(sessionId)).toMatchObject({ mode: 'default', state: { state: 'idle' } }),
  )
})

test('[DRV52] an agent that cannot be switched back is ended', async () => {
  const sessionId = await start('codex', [TRAP, 'stays-yolo'])
  await prompt(sessionId, 'hello')
  await soon(() => expect(roster.find(sessionId)).toBeUndefined())
  expect(findAgentProcesses(sessionId)).toEqual([])
})
