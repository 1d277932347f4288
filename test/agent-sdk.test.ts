import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { getSessionMessages, listSessions } from '@anthropic-ai/claude-agent-sdk'
import { openThroughline, type Throughline } from '#app'
import type { SessionSummary } from '#model'
import { generateCorpus, openTempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** What the SDK calls messages: everything in a user's or an agent's place, prompts of mid-turn under their own id. */
async function whatTheModelSees(throughline: Throughline, session: SessionSummary): Promise<string[]> {
  const entries = await throughline.conversation(session)
  return entries.flatMap((entry) => {
    if (entry.kind === 'prompt') return [entry.sentAs ?? entry.id]
    return (entry.type === 'user' || entry.type === 'assistant') && entry.kind !== 'injection'
      ? [entry.id]
      : []
  })
}

const before = process.env['CLAUDE_CONFIG_DIR']
afterAll(() => {
  if (before === undefined) delete process.env['CLAUDE_CONFIG_DIR']
  else process.env['CLAUDE_CONFIG_DIR'] = before
})

async function openBoth(configDir: string): Promise<Throughline> {
  process.env['CLAUDE_CONFIG_DIR'] = configDir
  return openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir } })
}

const fixtures = join(import.meta.dirname, 'fixtures/claude')
const scenarios = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, 'config/projects')))

describe('against the Agent SDK, on its own transcripts', () => {
  test.each(scenarios)(
    '[READ14] %s: what the model sees is the same messages in the same order',
    async (scenario) => {
      const throughline = await openBoth(join(fixtures, scenario, 'config'))
      const { sessions } = await throughline.list()
      expect(sessions.length).toBeGreaterThan(0)
      for (const session of sessions) {
        const theirs = (await getSessionMessages(session.id, {})).map(({ uuid }) => uuid)
        expect(await whatTheModelSees(throughline, session)).toEqual(theirs)
      }
    },
  )

  test.each(scenarios)('[READ20] %s: a list knows no less than the SDK', async (scenario) => {
    const throughline = await openBoth(join(fixtures, scenario, 'config'))
    const { sessions } = await throughline.list()
    for (const theirs of await listSessions({})) {
      const ours = sessions.find(({ id }) => id === theirs.sessionId)
      expect(ours?.size).toBe(theirs.fileSize)
      expect(ours?.gitBranch).toBe(theirs.gitBranch)
      if (theirs.cwd !== undefined) expect(ours?.workdirs).toContain(theirs.cwd)
      if (theirs.firstPrompt !== undefined)
        expect(ours?.firstPrompt).toContain(theirs.firstPrompt.slice(0, 50))
      if (theirs.customTitle !== undefined) expect(ours?.name).toBe(theirs.customTitle)
    }
  })
})

describe('against the Agent SDK, on a generated archive', () => {
  let dir: Awaited<ReturnType<typeof openTempDir>>
  beforeAll(async () => {
    dir = await openTempDir()
  })
  afterAll(() => dir.remove())

  test('[READ14] [READ16] sessions with compactions, forks, rewinds and damage: same messages, exact tokens', async () => {
    const facts = await generateCorpus({ dir: dir.path, seed: 7, size: 'xs' })
    const throughline = await openBoth(dir.path)
    const { sessions, usage } = await throughline.list({ full: true })
    expect(sessions).toHaveLength(facts.sessions.length)
    let compared = 0
    for (const session of sessions) {
      const theirs = (await getSessionMessages(session.id, {})).map(({ uuid }) => uuid)
      // In a damaged file we bridge what the SDK loses: all it sees, and more.
      if (session.state === 'damaged')
        expect(await whatTheModelSees(throughline, session)).toEqual(expect.arrayContaining(theirs))
      else expect(await whatTheModelSees(throughline, session)).toEqual(theirs)
      compared++
    }
    expect(compared).toBeGreaterThan(50)
    expect(usage).toMatchObject({
      input: facts.usage.inputTokens,
      output: facts.usage.outputTokens,
      cacheRead: facts.usage.cacheReadTokens,
      cacheCreation: facts.usage.cacheCreationTokens,
    })
    const damaged = sessions.flatMap(({ facts: known }) => known?.damage ?? [])
    expect(damaged.length).toBeGreaterThanOrEqual(facts.damage.length)
  })
})
