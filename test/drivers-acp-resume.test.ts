import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAcpDriver, type AgentFact } from '#drivers'
import { openTempDir } from '#testing'

const TRAP = join(import.meta.dirname, 'fixtures', 'acp-trap.mjs')

/** Goes on with a session of three prompts, in an agent that finds some of them. Gives what it told, or why it failed. */
async function resume(trap: string): Promise<unknown> {
  const dir = await openTempDir()
  const workdir = join(dir.path, 'work')
  mkdirSync(workdir)
  const facts: AgentFact[] = []
  try {
    const agent = await createAcpDriver({
      agent: 'trap',
      title: 'Trap',
      command: process.execPath,
      args: [TRAP, trap],
    }).start({
      sessionId: 'trap',
      workdir,
      resume: { sessionId: 'trap', prompts: 3 },
      mode: 'default',
      trusted: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: dir.path },
      onFact: (fact) => void facts.push(fact),
      ask: () => Promise.reject(new Error('nobody is here')),
    })
    await agent.close()
    return facts
  } catch (error) {
    return error
  } finally {
    await dir.remove()
  }
}

test.each(['forgets', 'another-session'])(
  '[P14] an agent that goes on with a session as if nothing had been said in it is not gone on with: %s',
  async (trap) => {
    expect(await resume(trap)).toMatchObject({
      code: 'history-not-loaded',
      message: expect.stringContaining('Trap'),
      hint: expect.stringContaining('throughline repair trap'),
    })
  },
)

test('[P14] an agent that finds less than there was is told so', async () => {
  expect(await resume('forgets-some')).toContainEqual({
    kind: 'trouble',
    message: 'Trap has found 1 of the 3 prompts of this session.',
  })
})

test('[P14] [LVR1] what an agent tells again is not told a second time, also when it says first that it is ready', async () => {
  const facts = await resume('remembers')
  expect(facts).toContainEqual(expect.objectContaining({ kind: 'started' }))
  expect(JSON.stringify(facts)).not.toMatch(/said long ago|trouble/u)
})
