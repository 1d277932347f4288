import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { list, number, object, parseJson, string } from '#base'
import { textOf, type Entry } from '#model'
import { toOpenAIResponses, toSaid } from '#restore'
import { createCodexSource, createFollower, type Source } from '#sources'
import {
  findResponsesFaults,
  openModelApi,
  openTempDir,
  type ModelApi,
  type ModelStep,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toCodexConfig } from './drivers-acp-place.ts'
import { createSourceReader, type SourceReader } from './source-reader.ts'

const CODEX = join(
  dirname(createRequire(import.meta.url).resolve('@openai/codex/package.json')),
  'bin/codex.js',
)

let temp: TempDir
let api: ModelApi
let home: string
let source: Source
let reader: SourceReader
let codex: AppServer
let script: () => readonly ModelStep[] = () => [{ kind: 'text', text: 'Done.' }]

beforeAll(async () => {
  temp = await openTempDir()
  api = await openModelApi(() => script())
  for (const folder of ['user', 'codex', 'work']) mkdirSync(join(temp.path, folder))
  home = join(temp.path, 'codex')
  writeFileSync(join(home, 'config.toml'), toCodexConfig(api.url))
  source = createCodexSource(home)
  reader = createSourceReader(source)
  codex = await openAppServer()
})
afterAll(async () => {
  await codex.kill()
  await api.close()
  await temp.remove()
})

/** Codex as editors run it. */
interface AppServer {
  readonly request: (method: string, params: object) => Promise<unknown>
  readonly completed: () => number
  readonly kill: () => Promise<void>
}

async function openAppServer(): Promise<AppServer> {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [CODEX, 'app-server'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: join(temp.path, 'user'),
      TMPDIR: temp.path,
      CODEX_HOME: home,
      SCRIPTED_MODEL: 'dummy-for-loopback',
      NO_BROWSER: '1',
    },
    cwd: join(temp.path, 'work'),
    stdio: 'pipe',
    detached: true,
  })
  child.stderr.resume()
  child.stdin.on('error', () => {})
  const ended = new Promise<void>((done) => child.on('close', () => done()))
  const waiting = new Map<number, (message: unknown) => void>()
  let turns = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseJson(line)
    if (string(message, 'method') === 'turn/completed') turns++
    const id = number(message, 'id')
    if (id !== undefined) waiting.get(id)?.(message)
  })
  let last = 0
  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((done) => {
      const id = ++last
      waiting.set(id, (message) => done(object(message, 'result') ?? message))
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  const clientInfo = { name: 'test', title: 'test', version: '1' }
  await request('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'initialized' })}\n`)
  return {
    request,
    completed: () => turns,
    async kill() {
      // The program that was started runs the real one: both are in a group of their own.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await ended
    },
  }
}

async function say(threadId: string, text: string): Promise<void> {
  const before = codex.completed()
  await codex.request('turn/start', { threadId, input: [{ type: 'text', text }] })
  await expect.poll(codex.completed, { timeout: 60_000 }).toBe(before + 1)
}

async function begin(): Promise<string> {
  const cwd = join(temp.path, 'work')
  const answer = await codex.request('thread/start', {
    cwd,
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  })
  return string(object(answer, 'thread'), 'id') ?? ''
}

async function find(id: string): Promise<{ readonly path: string; readonly said: readonly string[] }> {
  const session = (await source.list()).sessions.find((each) => each.id === id)
  if (session === undefined) throw new Error('the session is not listed')
  return { path: session.path, said: saidIn(await reader.conversation(session)) }
}

function saidIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'prompt' || entry.kind === 'reply' ? textOf(entry.blocks) || [] : [],
  )
}

test('[CDX29] [E8.1] a session of the real Codex is listed, read, followed while it runs, and restored as it sends it itself', async () => {
  const id = await begin()
  await say(id, 'One')
  const { path, said } = await find(id)
  expect(said).toEqual(['One', 'Done.'])
  expect((await source.list()).sessions).toMatchObject([
    { id, name: 'One', workdirs: [join(temp.path, 'work')], state: 'ok', live: { status: 'unknown' } },
  ])
  const follower = createFollower(path, source.format)
  await follower.poll()
  let asked = 0
  script = () =>
    asked++ === 0
      ? [
          {
            kind: 'tool',
            name: 'exec_command',
            input: { cmd: `while [ ! -e go ]; do sleep 0.05; done; exit 3` },
          },
          { kind: 'tool', name: 'exec_command', input: { cmd: 'echo b' } },
        ]
      : [{ kind: 'text', text: 'After the tools.' }]
  const told: string[] = []
  const poll = async (): Promise<readonly string[]> => {
    for (const event of await follower.poll()) {
      if (event.kind !== 'readings') told.push(event.kind)
      else
        for (const { entry } of event.readings.flatMap((each) => (each.kind === 'entry' ? [each] : [])))
          told.push(entry.kind)
    }
    return told.filter((kind) => ['prompt', 'result', 'reset', 'gone'].includes(kind))
  }
  const turn = say(id, 'Two')
  await expect.poll(poll, { timeout: 60_000 }).toContain('prompt')
  writeFileSync(join(temp.path, 'work/go'), '')
  await turn
  await expect.poll(poll, { timeout: 60_000 }).toEqual(['prompt', 'result', 'result'])
  script = () => [{ kind: 'text', text: 'Three is done.' }]
  await say(id, 'Three')
  const { input } = toOpenAIResponses(toSaid((await reader.conversation({ path })).slice(0, -2)))
  expect(findResponsesFaults(input)).toEqual([])
  const sent = list(api.requests.findLast(({ purpose }) => purpose === 'conversation')?.body, 'input')
  const isPaired = (item: unknown): boolean => string(item, 'call_id') !== undefined
  expect(input.filter(isPaired)).toEqual(sent.filter(isPaired))
})

test('[CDX29] [CDX17] [CDX18] forks and reverts of the real Codex are the whole of what its model sees', async () => {
  script = () => [{ kind: 'text', text: 'Yes.' }]
  const id = await begin()
  for (const text of ['One', 'Two', 'Wrong']) await say(id, text)
  const thread = object(await codex.request('thread/read', { threadId: id, includeTurns: true }), 'thread')
  await codex.request('thread/revert', {
    threadId: id,
    beforeTurnId: string(list(thread, 'turns').at(-1), 'id'),
  })
  await say(id, 'Three')
  expect((await find(id)).said.filter((text) => text !== 'Yes.')).toEqual(['One', 'Two', 'Three'])
  const fork = await codex.request('thread/fork', { threadId: id, cwd: join(temp.path, 'work') })
  const forkId = string(object(fork, 'thread'), 'id') ?? ''
  await say(forkId, 'Four')
  expect((await find(forkId)).said.filter((text) => text !== 'Yes.')).toEqual(['One', 'Two', 'Three', 'Four'])
  const heard = JSON.stringify(api.requests.at(-1)?.body)
  expect(['One', 'Two', 'Three', 'Four'].every((text) => heard.includes(`"${text}"`))).toBe(true)
  expect(heard).not.toContain('"Wrong"')
  await codex.request('thread/archive', { threadId: id })
  expect((await find(forkId)).said).toContain('Two')
  expect((await source.list()).sessions.find((each) => each.id === id)?.archived).toBe(true)
})

test('[CDX29] [CDX11] a session that was killed in a tool is read to its last line, with the call pending, and its bill counts once it goes on', async () => {
  script = () => [
    { kind: 'tool', name: 'exec_command', input: { cmd: 'while [ ! -e stop ]; do sleep 0.05; done' } },
  ]
  const id = await begin()
  await codex.request('turn/start', { threadId: id, input: [{ type: 'text', text: 'Hang' }] })
  const isPending = async (): Promise<boolean> => {
    const found = (await source.list()).sessions.find((each) => each.id === id)
    return found !== undefined && toSaid(await reader.conversation(found)).pending.length === 1
  }
  await expect.poll(isPending, { timeout: 60_000 }).toBe(true)
  await codex.kill()
  // What the tool started outlives Codex, and ends by itself.
  writeFileSync(join(temp.path, 'work/stop'), '')
  const killed = await find(id)
  expect(await isPending()).toBe(true)
  expect(source.live().get(id)).toBeUndefined()
  script = () => [{ kind: 'text', text: 'Back again.' }]
  codex = await openAppServer()
  await codex.request('thread/resume', { threadId: id })
  await say(id, 'Go on')
  expect((await find(id)).said).toEqual(['Hang', 'Go on', 'Back again.'])
  const session = (await reader.list()).find((each) => each.id === id)
  const bills = (await reader.readings(killed.path)).flatMap((each) =>
    each.kind === 'entry' && each.entry.kind === 'reply' && each.entry.usage ? [each.entry.usage] : [],
  )
  expect(bills).toHaveLength(2)
  expect(session?.facts?.usage.output).toBe(bills.reduce((sum, { output }) => sum + output, 0))
})
