import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { textOf, type Reading, type SessionSummary } from '#model'
import { runCommand, runProgram } from '../mcp-process.ts'
import { historyOf } from '../native-history.ts'
import { PROGRAMS } from '../native-place.ts'
import { ageGemini } from './gemini-age.ts'
import { hasOpencode } from '../opencode-program.ts'
import { openLivePlace, say, until, waitFor, type LivePlace } from './live-place.ts'

type Agent = 'codex' | 'gemini' | 'opencode'

/** Every day the one that starts quickest. */
const AGENTS: readonly Agent[] =
  process.env['RUNS'] === 'full'
    ? ['codex', 'gemini', ...(hasOpencode ? (['opencode'] as const) : [])]
    : ['codex']

const AGAIN = '[[think about plums]] [[recall]]'

/** Says one thing to an agent as a person does in a terminal, in a new session or in one that is there. */
async function talk(place: LivePlace, agent: Agent, prompt: string, sessionId?: string): Promise<void> {
  const [program = '', ...first] = PROGRAMS[agent]
  const args = {
    codex: ['exec', ...(sessionId === undefined ? [] : ['resume']), '--skip-git-repo-check'],
    gemini: [
      '-m',
      'gemini-2.5-flash',
      '--skip-trust',
      ...(sessionId === undefined ? [] : ['--resume', sessionId]),
      '-p',
    ],
    opencode: ['run', ...(sessionId === undefined ? [] : ['-s', sessionId])],
  }[agent]
  const named = agent === 'codex' && sessionId !== undefined ? [sessionId] : []
  const { code, out, err } = await runProgram(program, [...first, ...args, ...named, prompt], {
    env: place.env,
    cwd: place.workdir,
  })
  if (code !== 0) throw new Error(`${agent} ended with ${String(code)}: ${out} ${err}`)
  if (agent === 'gemini') ageGemini(place.root)
}

async function only(device: RemoteThroughline, agent: Agent, holds: string): Promise<SessionSummary> {
  return await waitFor(`a session of ${agent} holds ${holds}`, async () => {
    const { sessions } = await device.list({ agent })
    const [session] = sessions
    if (session === undefined) return undefined
    expect(sessions.map(({ id }) => id)).toEqual([session.id])
    return wordsOf(await readingsOf(device, session)).some((words) => words.includes(holds))
      ? session
      : undefined
  })
}

async function readingsOf(device: RemoteThroughline, session: SessionSummary): Promise<readonly Reading[]> {
  return (await device.page(session, { limit: 200 })).readings
}

function wordsOf(readings: readonly Reading[]): readonly string[] {
  return readings.flatMap((reading) => {
    if (reading.kind === 'damage') return []
    const { entry } = reading
    return entry.kind === 'prompt' || entry.kind === 'reply' ? [`${entry.kind} ${textOf(entry.blocks)}`] : []
  })
}

function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

describe.each(AGENTS)('%s', (agent) => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test('[LVR1] a session that the agent wrote itself goes on whole, is listed once and told once', async () => {
    await talk(place, agent, '[[say the tangerine is ripe]]')
    const before = await only(device, agent, 'tangerine')
    await device.live.resume(before.id, { prompt: say(AGAIN) })
    const view = await until(device, before.id, ({ turn }) => turn?.outcome !== undefined)
    expect(view.turn?.outcome?.kind).toBe('answered')
    const heard = place.api.requests.map(historyOf).findLast((each) => each.at(-1) === `user ${AGAIN}`)
    expect(heard?.map((line) => line.replaceAll('"', ''))).toEqual([
      'user [[say the tangerine is ripe]]',
      'agent the tangerine is ripe',
      `user ${AGAIN}`,
    ])
    const session = await only(device, agent, 'Earlier: ')
    expect(session.id).toBe(before.id)
    const readings = await readingsOf(device, session)
    // What is told live has the words of what is written: whoever shows both shows it once.
    const written = wordsOf(readings).map(plain)
    for (const { role, blocks } of view.turn?.messages ?? []) {
      const words = plain(textOf(blocks))
      const kind = role === 'person' ? 'prompt' : 'reply'
      if (words !== '') expect(written.filter((line) => line === `${kind} ${words}`)).toHaveLength(1)
    }
    await device.live.end(before.id)
    const { hits } = await device.search({ q: 'Earlier' })
    expect(hits.map(({ session: { id } }) => id)).toContain(before.id)

    // As a person does it, by the beginning of its id.
    if (agent === 'gemini') ageGemini(place.root)
    const env = { ...place.env, THROUGHLINE_HOME: place.home }
    const { code, out, err } = await runCommand(['resume', before.id.slice(0, 20), '[[recall]]'], env)
    expect([code, err]).toEqual([0, expect.anything()])
    expect(out).toContain('Earlier: ')
    await device.live.end(before.id)
    expect(await only(device, agent, 'Earlier: ')).toMatchObject({ id: before.id })
  })
})

describe('Codex', () => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test('[LVR2] a session that was begun here and goes on in a terminal is the same one, with all of it', async () => {
    const { sessionId } = await device.live.start({
      agent: 'codex',
      workdir: place.workdir,
      prompt: say('[[say the tangerine is ripe]]'),
    })
    const { agentSessionId = '' } = await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    await device.live.end(sessionId)
    expect(await only(device, 'codex', 'tangerine')).toMatchObject({ id: sessionId })
    await device.star(await device.get(sessionId), true)

    await sleep(1_100)
    await talk(place, 'codex', '[[say the plum is blue]]', agentSessionId)
    const session = await only(device, 'codex', 'the plum is blue')
    expect(session).toMatchObject({ id: sessionId, starred: true })
    const words = wordsOf(await readingsOf(device, session)).join('\n')
    expect(words).toContain('the tangerine is ripe')
    expect((await device.get(agentSessionId)).id).toBe(sessionId)

    await device.live.resume(agentSessionId, { prompt: say('[[recall]]') })
    const again = await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect(JSON.stringify(again.turn?.messages)).toContain('the plum is blue')
    await only(device, 'codex', 'Earlier: ')
    await device.live.end(sessionId)
    expect(await only(device, 'codex', 'Earlier: ')).toMatchObject({ id: sessionId })
  })

  test('[LVR3] a fork is listed whole under its id, and nowhere else', async () => {
    const [origin] = (await device.list({ agent: 'codex' })).sessions
    const { sessionId } = await device.live.fork(origin?.id ?? '', {
      prompt: say('[[say the fig is green]]'),
    })
    await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    const session = await waitFor('the fork is written', async () => {
      const found = await device.get(sessionId)
      return wordsOf(await readingsOf(device, found)).some((words) => words.includes('the fig is green'))
        ? found
        : undefined
    })
    expect(wordsOf(await readingsOf(device, session)).join('\n')).toContain('the tangerine is ripe')
    expect((await device.list({ agent: 'codex' })).sessions).toHaveLength(2)
    await device.live.end(sessionId)
    expect((await device.list({ agent: 'codex' })).sessions).toHaveLength(2)
  })

  test('[LVR6] a session that Codex has open in a terminal is refused with its process, and can be taken over', async () => {
    const [program = '', ...first] = PROGRAMS.codex
    const args = [...first, 'exec', '--skip-git-repo-check', '[[say the quince is hard]] [[hang]]']
    const child = spawn(program, args, { env: place.env, cwd: place.workdir, stdio: 'ignore' })
    const gone = new Promise((done) => child.once('exit', done))
    try {
      const { id } = await waitFor(
        'it is listed',
        async () => (await device.list({ agent: 'codex', text: 'quince' })).sessions[0],
      )
      const refused = await device.live.resume(id).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'session-held', message: expect.stringMatching(/process \d+/u) })
      await device.live.resume(id, { takeOver: true, prompt: say('[[recall]]') })
      await gone
      const { turn } = await until(device, id, (view) => view.turn?.outcome !== undefined)
      expect(JSON.stringify(turn?.messages)).toContain('quince')
      await device.live.end(id)
    } finally {
      child.kill('SIGKILL')
    }
  })
})
