import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list } from '#base'
import type { RemoteThroughline } from '#client'
import { textOf, type SessionView } from '#model'
import { openTempDir, type ModelRequest, type TempDir } from '#testing'
import { CLAUDE } from '../drivers-claude-place.ts'
import { openLivePlace, say, until, type LivePlace } from './live-place.ts'

const LARGE = 40 * 1024 * 1024
/** An agent of the protocol that answers a prompt with as many bytes as the prompt says, in one message. */
const AGENT = `
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === 'session/new') send({ id, result: { sessionId: 'large' } })
  else if (method === 'session/prompt') {
    const [, bytes = '0'] = /(\\d+)/.exec(params.prompt[0].text) ?? []
    const content = { type: 'text', text: 'w'.repeat(Number(bytes)) }
    send({ method: 'session/update', params: { sessionId: 'large', update: { sessionUpdate: 'agent_message_chunk', content } } })
    send({ id, result: { stopReason: 'end_turn' } })
  } else if (id !== undefined) send({ id, result: {} })
}
`

let dir: TempDir
let place: LivePlace
let device: RemoteThroughline

beforeAll(async () => {
  dir = await openTempDir()
  const script = join(dir.path, 'agent.mjs')
  writeFileSync(script, AGENT)
  const codex = { executable: process.execPath, args: [script] }
  const text = (request: ModelRequest): string => (isAsked(request) ? 'w'.repeat(LARGE) : 'short')
  place = await openLivePlace({ agents: { codex, claude: { executable: CLAUDE } } }, (request) => [
    { kind: 'text', text: text(request) },
  ])
  device = await place.connect()
})
afterAll(async () => {
  await place?.close()
  await dir?.remove()
})

/** Whether it is the first prompt of the session that is answered. */
function isAsked({ body }: ModelRequest): boolean {
  const said = JSON.stringify(list(body, 'messages'))
  return said.includes('at length') && !said.includes('and again')
}

/** The most memory that a process had, in bytes. */
function peakOf(pid: number): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

const wordsIn = ({ turn }: SessionView): string =>
  (turn?.messages ?? [])
    .filter(({ role }) => role === 'agent')
    .map(({ blocks }) => textOf(blocks))
    .join('')

const over = (view: SessionView): boolean => view.turn?.outcome !== undefined && view.state.state === 'idle'

test.each([
  ['codex', `say ${LARGE}`, 'say 5'],
  ['claude', 'say it at length', 'and again'],
] as const)(
  '[LVS34] a message of 40 MB of %s is shown shortened, and the session goes on, is interrupted and ends',
  async (agent, long, short) => {
    const { workdir } = place
    const other = await device.live.start({ agent: 'scripted', workdir })
    const { sessionId } = await device.live.start({ agent, workdir, prompt: say(long) })
    const view = await until(device, sessionId, over)
    expect(view.turn?.outcome?.kind).toBe('answered')
    expect(wordsIn(view)).toMatch(/^w{524288}…\n\[\d+ bytes are not shown here/u)
    const card = (await device.live.board()).find((one) => one.sessionId === sessionId)
    expect(card?.trouble).toMatch(/^a message was too long to be (?:shown|recorded) whole: \d+ bytes/u)
    // Who comes in now is told how things stand.
    const later = await place.connect()
    expect(wordsIn(await until(later, sessionId, over))).toBe(wordsIn(view))
    await device.live.interrupt(sessionId)

    const next = say(short)
    await device.live.prompt(sessionId, next)
    const after = await until(device, sessionId, (one) => over(one) && one.turn?.promptId === next.id)
    expect(wordsIn(after)).toMatch(/^(?:w{5}|short)$/u)
    expect(peakOf(view.pid)).toBeLessThan(1024 ** 3)
    expect((await device.live.view(other.sessionId)).state.state).toBe('idle')
    for (const id of [sessionId, other.sessionId]) await device.live.end(id)
  },
)

test('[LVS34] a line of a protocol that is too long to be read is left out, and said so', async () => {
  const prompt = say(`say ${70 * 1024 * 1024}`)
  const { sessionId } = await device.live.start({ agent: 'codex', workdir: place.workdir, prompt })
  const view = await until(device, sessionId, over)
  expect([view.turn?.outcome?.kind, wordsIn(view)]).toEqual(['answered', ''])
  const card = (await device.live.board()).find((one) => one.sessionId === sessionId)
  expect(card?.trouble).toMatch(/^Codex sent a message of \d+ bytes, which was left out/u)
  await device.live.end(sessionId)
})
