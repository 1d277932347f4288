import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  AGENT_GONE,
  createAcpDriver,
  findAgentProcesses,
  KNOWN_AGENTS,
  type AcpDriverOptions,
  type AgentFact,
} from '#drivers'
import type { Block } from '#model'
import { eventually, openTempDir, play, saidIn, type DriverPlace } from '#testing'

const TRAP = join(import.meta.dirname, 'fixtures', 'acp-trap.mjs')

interface TrapPlace extends DriverPlace {
  readonly root: string
}

async function withTrap(
  trap: string,
  use: (place: TrapPlace) => Promise<void>,
  options: Partial<AcpDriverOptions> = {},
): Promise<void> {
  const dir = await openTempDir()
  const workdir = join(dir.path, 'work')
  mkdirSync(workdir)
  try {
    await use({
      root: dir.path,
      driver: createAcpDriver({
        agent: 'trap',
        title: 'Trap',
        command: process.execPath,
        args: [TRAP, trap, workdir],
        install: 'npm install -g trap',
        login: 'trap login',
        ...options,
      }),
      workdir,
      trusted: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: dir.path },
      transcripts: () => ({}),
      crash: () => Promise.resolve(),
      close: () => Promise.resolve(),
    })
  } finally {
    await dir.remove()
  }
}

test.each([
  ['dies-at-once', { code: 'driver-unavailable', message: /the licence has expired/u }],
  ['newer', { code: 'driver-unavailable', message: /version 9/u }],
  ['silent', { code: 'driver-unavailable', message: /did not answer within 2 seconds/u }],
  ['no-login', { code: 'not-logged-in', hint: /trap login/u }],
  ['only-yolo', { code: 'mode-not-allowed', message: /no mode in which it asks/u }],
])('[DRV42] [DRV51] an agent that cannot be started says why and what to do: %s', (trap, expected) =>
  withTrap(
    trap,
    async (place) => {
      const sessionId = `start-${trap}`
      const { code, message, hint } = { message: /./u, hint: /./u, ...expected }
      await expect(play(place, { sessionId })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      })
      expect(findAgentProcesses(sessionId)).toEqual([])
    },
    { startMs: 2_000 },
  ),
)

test('[DRV42] [DRV51] an agent that is not installed says how to install it, and one in the project is not taken', () =>
  withTrap('', async (place) => {
    const bin = join(place.workdir, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'codex-acp'), '#!/bin/sh\n', { mode: 0o755 })
    const driver = createAcpDriver({ agent: 'codex', ...KNOWN_AGENTS.codex })
    const env = { ...place.env, PATH: `${bin}:/nowhere` }
    await expect(play({ ...place, driver, env })).rejects.toMatchObject({
      code: 'driver-unavailable',
      hint: expect.stringContaining('npm install -g @agentclientprotocol/codex-acp'),
    })
    await expect(play({ ...place, workdir: join(place.root, 'nowhere') })).rejects.toMatchObject({
      code: 'request-invalid',
    })
  }))

test('[DRV40] [DRV56] no agent of the protocol runs in a folder that nobody trusted', () =>
  withTrap('', async (place) => {
    await expect(play({ ...place, trusted: false })).rejects.toMatchObject({
      code: 'folder-untrusted',
      hint: expect.stringContaining('trust'),
    })
  }))

test('[DRV36] [DRV55] what an agent prints that is no message changes nothing, and is told', () =>
  withTrap('noisy', async (place) => {
    const played = await play(place)
    expect(await played.say('hello')).toEqual({ kind: 'answered' })
    expect(saidIn(played.facts)).toContain('hello')
    const printed = played.facts.filter((fact) => fact.kind === 'unknown').map((fact) => fact.value)
    expect(printed).toContainEqual({ printed: 'Welcome!' })
    await played.agent.close()
  }))

test('[DRV19] an agent that dies in a turn is told as crashed, and no end of the turn is made up', () =>
  withTrap('dies', async (place) => {
    const played = await play(place)
    await played.send('hello')
    expect(await played.heard('ended')).toEqual({ kind: 'ended', reason: 'crashed', message: 'exit code 7' })
    expect(played.facts.at(-1)?.kind).toBe('ended')
    expect(played.facts.some((fact) => fact.kind === 'turn.ended')).toBe(false)
    await expect(played.send('anybody?')).rejects.toMatchObject({ code: 'agent-gone' })
    await played.agent.close()
  }))

test('[DRV19] an agent that dies while it asks takes the question back', () =>
  withTrap('dies-asking', async (place) => {
    const played = await play(place)
    await played.send('hello')
    const { signal } = await played.nextAsk()
    await played.heard('ended')
    expect([signal.aborted, signal.reason]).toEqual([true, AGENT_GONE])
    await played.agent.close()
  }))

test.each(['asks-then-is-stopped', 'asks-then-ends', 'asks-at-once-then-ends', 'ends-then-asks'])(
  "[DRV16] [DRV55] a question that outlives its turn is nobody's, and its call is told once and in that turn: %s",
  (trap) =>
    withTrap(trap, async (place) => {
      const played = await play(place)
      await played.send('first')
      // What an agent asks when the next turn runs already is taken for that turn's.
      if (trap === 'ends-then-asks') {
        await played.heard('unknown')
        await setImmediate()
      }
      const second = played.say('second')
      if (trap === 'asks-then-is-stopped') {
        await played.heard('delta')
        await played.agent.interrupt()
      }
      const first = await played.heard('turn.ended')
      await second
      await played.agent.close()
      const { facts } = played
      const before = facts.slice(0, facts.indexOf(first))
      const after = facts.slice(facts.indexOf(first) + 1).filter(({ kind }) => kind !== 'unknown')
      expect(callsIn(before)).toEqual(['one'])
      expect(callsIn(after)).toEqual([])
      expect(after.map(({ kind }) => kind)).toEqual([
        'turn.started',
        'message',
        'delta',
        'message',
        'turn.ended',
        'ended',
      ])
      expect(saidIn(after)).toContain('cancelled')
      expect(played.openAsks().filter(({ signal }) => !signal.aborted)).toEqual([])
    }),
)

test('[DRV16] what an agent asks when it was told to stop is not allowed, also in a mode that allows it', () =>
  withTrap(
    'is-stopped-then-asks',
    async (place) => {
      const played = await play(place, { mode: 'accept-edits' })
      const first = played.say('first')
      await played.heard('delta')
      await played.agent.interrupt()
      expect(await first).toEqual({ kind: 'interrupted' })
      expect(saidIn(played.facts)).toContain('cancelled')
      expect(callsIn(played.facts)).toEqual(['one'])
      expect(played.openAsks()).toEqual([])
      await played.agent.close()
    },
    {
      asking: {
        prepare: ({ env }) => Promise.resolve(env),
        isKnown: () => true,
        known: 'any',
        approves: { 'accept-edits': () => true },
      },
    },
  ))

function callsIn(facts: readonly AgentFact[]): readonly string[] {
  return facts
    .flatMap((fact) => (fact.kind === 'message' ? fact.blocks : []))
    .flatMap((block) => (block.kind === 'tool-use' ? block.id : []))
}

test('[DRV15] [DRV54] an agent that does not stop when it is told to is ended, and nothing of it is left', () =>
  withTrap(
    'deaf',
    async (place) => {
      const played = await play(place)
      await played.send('hello')
      await played.agent.interrupt()
      expect(await played.heard('ended')).toMatchObject({ reason: 'failed', message: /did not stop/u })
      expect(findAgentProcesses(played.sessionId)).toEqual([])
      await played.agent.close()
    },
    { stopMs: 300 },
  ))

test('[DRV20] an agent that does not listen is closed all the same', () =>
  withTrap('deaf', async (place) => {
    const played = await play(place)
    await played.send('hello')
    await played.agent.close()
    expect(played.facts.at(-1)).toMatchObject({ kind: 'ended', reason: 'closed' })
    expect(findAgentProcesses(played.sessionId)).toEqual([])
  }))

test('[DRV55] a flood of pieces is one message, and the end of the turn comes after it', () =>
  withTrap('flood', async (place) => {
    const facts: AgentFact[] = []
    const agent = await place.driver.start({
      sessionId: 'flood',
      workdir: place.workdir,
      mode: 'default',
      trusted: true,
      env: place.env,
      onFact: (fact) => facts.push(fact),
      ask: () => Promise.reject(new Error('nobody is asked')),
    })
    await agent.prompt({ id: 'one', blocks: [{ kind: 'text', text: 'hello' }] })
    await eventually(() => {
      expect(facts.at(-1)).toEqual({ kind: 'turn.ended', outcome: { kind: 'answered' } })
      return Promise.resolve()
    })
    await agent.close()
    const words = saidIn(facts).trim().split(' ')
    expect(words).toHaveLength(100_000)
    expect(words.at(-1)).toBe('99999')
    expect(facts.filter((fact) => fact.kind === 'message' && fact.role === 'agent')).toHaveLength(1)
  }))

test('[DRV53] nothing of ours is done for an agent: no file, no terminal, nothing that is not known', () =>
  withTrap('reaches-out', async (place) => {
    const played = await play(place)
    await played.say('hello')
    expect(saidIn(played.facts)).toBe('-32601 -32601 -32601 -32601 -32601')
    expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    expect(played.openAsks()).toEqual([])
    await played.agent.close()
  }))

test('[DRV36] [DRV55] what is not known is handed on whole, and commands are told', () =>
  withTrap('odd', async (place) => {
    const played = await play(place)
    expect(await played.say('hello')).toEqual({ kind: 'answered' })
    const unknown = played.facts.filter((fact) => fact.kind === 'unknown').map((fact) => fact.value)
    expect(unknown).toContainEqual({ sessionUpdate: 'something_new', value: 1 })
    expect(unknown).toContainEqual(expect.objectContaining({ sessionUpdate: 'plan' }))
    expect(unknown).toContainEqual({ method: '_vendor/news', params: [1] })
    expect(unknown).toContainEqual(expect.objectContaining({ sessionId: 'another' }))
    expect(played.facts.findLast((fact) => fact.kind === 'started')).toMatchObject({ commands: ['init'] })
    expect(saidIn(played.facts)).toBe('fine')
    await played.agent.close()
  }))

test('[DRV7] [DRV52] an agent that stops asking by itself is told as such, and can be switched back', () =>
  withTrap('goes-yolo', async (place) => {
    const played = await play(place)
    await played.say('hello')
    expect(await played.heard('mode.changed')).toEqual({ kind: 'mode.changed', mode: 'bypass' })
    await played.agent.setMode('default')
    expect(played.facts.at(-1)).toEqual({ kind: 'mode.changed', mode: 'default' })
    await played.agent.close()
  }))

test('[DRV52] an agent that cannot be switched back says so', () =>
  withTrap('stays-yolo', async (place) => {
    const played = await play(place)
    await played.say('hello')
    await played.heard('mode.changed')
    await expect(played.agent.setMode('default')).rejects.toMatchObject({ code: 'request-invalid' })
    await played.agent.close()
  }))

test('[DRV52] a mode that the agent does not have is refused, with those that it has', () =>
  withTrap('', async (place) => {
    await expect(play(place, { mode: 'plan' })).rejects.toMatchObject({
      code: 'request-invalid',
      hint: 'Choose one of these: default.',
    })
    const bypass = await play(place, { mode: 'bypass' })
    expect(bypass.facts.at(-1)).toMatchObject({ kind: 'started', mode: 'bypass' })
    await bypass.agent.close()
    await withTrap('modeless', async (other) => {
      await expect(play(other, { mode: 'bypass' })).rejects.toMatchObject({ code: 'request-invalid' })
      const played = await play(other)
      await expect(played.agent.setModel('another')).rejects.toMatchObject({ code: 'request-invalid' })
      await played.agent.close()
    })
  }))

test('[DRV57] what the agent cannot is told when it starts, and refused when it is asked for', () =>
  withTrap('', async (place) => {
    const played = await play(place)
    expect(played.facts.at(-1)).toMatchObject({
      kind: 'started',
      sessionId: 'trap',
      can: { resume: false, fork: false, images: false, editInput: false, midTurn: false },
    })
    const image: Block = { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' } }
    await expect(played.agent.prompt({ id: 'image', blocks: [image] })).rejects.toMatchObject({
      code: 'request-invalid',
    })
    await played.agent.prompt({
      id: 'text',
      blocks: [
        { kind: 'document', title: 'a.md', source: { kind: 'text', mediaType: 'text/plain', text: 'hi' } },
      ],
    })
    await played.heard('turn.ended')
    expect(saidIn(played.facts)).toContain(String.raw`a.md:\n\nhi`)
    await played.agent.close()
    await expect(play(place, { resume: { sessionId: 'trap' } })).rejects.toMatchObject({
      code: 'request-invalid',
    })
  }))

test.each([
  ['refusal', 'failed'],
  ['max_tokens', 'failed'],
  ['max_turn_requests', 'failed'],
  ['cancelled', 'interrupted'],
  ['something_else', 'failed'],
])('[DRV58] a turn that stops with %s is told as %s', (reason, kind) =>
  withTrap('', async (place) => {
    const played = await play(place)
    expect(await played.say(`stop=${reason}`)).toMatchObject({ kind })
    expect(await played.say('stop=end_turn')).toEqual({ kind: 'answered' })
    await played.agent.close()
  }),
)
