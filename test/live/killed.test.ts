import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import type { NativeAgent } from '#model'
import { faultsOf } from '../native-faults.ts'
import { historyOf } from '../native-history.ts'
import { PROGRAMS } from '../native-place.ts'
import { ageGemini } from './gemini-age.ts'
import { AGENTS_HERE } from '../opencode-program.ts'
import { openLivePlace, say, until, waitFor, type LivePlace } from './live-place.ts'

const MOMENTS = ['while a tool ran', 'while an answer came'] as const
type Moment = (typeof MOMENTS)[number]
type Case = readonly [NativeAgent, Moment]

/** Every day those that start quickest. */
const CASES: readonly Case[] = AGENTS_HERE.flatMap((agent) =>
  MOMENTS.map((moment): Case => [agent, moment]),
).filter(
  ([agent, moment]) =>
    process.env['RUNS'] === 'full' || (moment === MOMENTS[0] && (agent === 'codex' || agent === 'claude')),
)

/** Longer than the agent takes to be listed. */
function commandOf(agent: NativeAgent): string {
  return `touch started; sleep ${agent === 'opencode' ? 40 : 6}`
}

function promptOf(agent: NativeAgent, moment: Moment): string {
  if (moment === 'while an answer came') return '[[say half of it]] [[hang]]'
  const [name, input] =
    agent === 'codex'
      ? ['exec_command', { cmd: commandOf(agent) }]
      : ['Bash', { command: commandOf(agent), description: 'waits' }]
  return `[[say I wait.]] [[tool ${name} ${JSON.stringify(input)}]]`
}

const ARGS: Readonly<Record<NativeAgent, readonly string[]>> = {
  claude: ['-p', '--allowedTools', 'Bash', '--'],
  codex: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
  gemini: ['-m', 'gemini-2.5-flash', '--skip-trust', '--approval-mode', 'yolo', '-p'],
  opencode: ['run'],
}

/** Runs the agent as a person does in a terminal, and kills it in the middle. */
async function kill(place: LivePlace, device: RemoteThroughline, [agent, moment]: Case): Promise<void> {
  const [program = '', ...first] = PROGRAMS[agent]
  const child = spawn(program, [...first, ...ARGS[agent], promptOf(agent, moment)], {
    env: place.env,
    cwd: place.workdir,
    stdio: 'ignore',
    detached: true,
  })
  const gone = new Promise((done) => child.once('exit', done))
  await waitFor(`${agent} is in the middle of it`, async () => {
    const isThere =
      moment === 'while a tool ran'
        ? existsSync(join(place.workdir, 'started'))
        : place.api.requests.some(({ purpose }) => purpose === 'conversation')
    return isThere && (await device.list({ agent })).sessions.length > 0 ? true : undefined
  })
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await gone
  if (agent === 'gemini') ageGemini(place.root)
}

describe.each(CASES)('[NAT11] %s, killed %s', (agent, moment) => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test('[NAT11] [LVR4] it goes on in the same agent with a history that is taken', async () => {
    await kill(place, device, [agent, moment])
    const { id } = await waitFor('it is listed', async () => (await device.list({ agent })).sessions[0])
    await device.live.resume(id, { prompt: say('What happened?') })
    const { turn } = await until(device, id, (view) => view.turn?.outcome !== undefined)
    expect(turn?.outcome?.kind).toBe('answered')
    const asked = place.api.requests.findLast((each) =>
      historyOf(each).some((line) => line === 'user What happened?'),
    )
    if (asked === undefined) throw new Error(`${agent} asked nothing`)
    const heard = historyOf(asked)
    expect(heard.length).toBeGreaterThan(1)
    expect(heard.at(0)).toContain(moment === 'while a tool ran' ? 'I wait.' : 'half of it')
    const calls = heard.filter((line) => line.startsWith('call '))
    expect(heard.filter((line) => /^(?:result|failed) /u.test(line))).toHaveLength(calls.length)
    expect(faultsOf(asked)).toEqual([])
    expect((await device.list({ agent })).sessions.map((session) => session.id)).toEqual([id])
    await device.live.end(id)
  })
})
