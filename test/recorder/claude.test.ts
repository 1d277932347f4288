import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { list, parseJson, string } from '#base'
import {
  checkWithEntire,
  listenOnLoopback,
  type ModelApi,
  type ModelRequest,
  type ModelStep,
  openModelApi,
  openTempDir,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLAUDE, QUIET_CLAUDE } from '../drivers-claude-place.ts'
import { MAIN, runCommand, runProgram, type Result } from '../mcp-process.ts'
import { saidInClaude, saidInRecording, usageOf } from './agent-transcripts.ts'
import { openProxyPlace, readRecordings } from './proxy-place.ts'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let attempts = 0

/** What the model says depends on the last prompt, and on how often it was asked since. */
function script(request: ModelRequest): readonly ModelStep[] {
  const messages = list(request.body, 'messages')
  const texts = messages.map((message) => JSON.stringify(message))
  const words = ['RUN TOOLS', 'SEND SOMEBODY', 'INNER TASK', 'BREAK OFF', 'TOO MUCH']
  const last = texts.findLastIndex(
    (text) => text.startsWith('{"role":"user"') && words.some((word) => text.includes(word)),
  )
  const cue = words.find((word) => texts[last]?.includes(word)) ?? ''
  const said = messages.slice(last).filter((message) => string(message, 'role') === 'assistant').length
  if (cue === 'RUN TOOLS' && said === 0)
    return [
      { kind: 'thinking', text: 'Both at once.' },
      { kind: 'text', text: 'I run two things.' },
      { kind: 'tool', name: 'Bash', input: { command: 'echo one', description: 'one' } },
      { kind: 'tool', name: 'Bash', input: { command: 'echo two >&2; exit 3', description: 'two' } },
    ]
  if (cue === 'SEND SOMEBODY' && said === 0)
    return [
      {
        kind: 'tool',
        name: 'Agent',
        input: { description: 'look', prompt: 'INNER TASK: look', subagent_type: 'general-purpose' },
      },
    ]
  if (cue === 'INNER TASK' && said === 0)
    return [{ kind: 'tool', name: 'Bash', input: { command: 'echo inner', description: 'inner' } }]
  if (cue === 'BREAK OFF' && said === 0 && attempts++ === 0)
    return [{ kind: 'text', text: 'I begin' }, { kind: 'cut' }]
  if (cue === 'TOO MUCH' && said === 0 && attempts++ === 0) return [{ kind: 'error', status: 529 }]
  return [
    { kind: 'thinking', text: 'Nearly.' },
    { kind: 'text', text: `Done with ${cue}.` },
  ]
}

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi(script)
  for (const folder of ['user', 'config', 'work']) mkdirSync(join(temp.path, folder))
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(temp.path, 'user'),
    TMPDIR: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'config'),
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'sk-planted-for-the-loopback',
    CLAUDE_CODE_MAX_RETRIES: '3',
    ...QUIET_CLAUDE,
  }
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})

const ARGS = ['--output-format', 'json', '--allowedTools', 'Bash,Agent,Task'] as const

async function record(workdir: string, ...args: readonly string[]): Promise<Result> {
  mkdirSync(workdir, { recursive: true })
  return await runCommand(['record', '--json', '--', CLAUDE, '-p', ...args, ...ARGS], env, workdir)
}

/** What Claude Code wrote itself of a session. */
function transcript(sessionId: string): string {
  const projects = join(temp.path, 'config', 'projects')
  const path = readdirSync(projects)
    .map((project) => join(projects, project, `${sessionId}.jsonl`))
    .find((one) => existsSync(one))
  return path === undefined ? '' : readFileSync(path, 'utf8')
}

function expectSame(workdir: string, sessionId: string): void {
  const [lines = []] = readRecordings(workdir)
  const own = transcript(sessionId)
  expect(saidInRecording(lines)).toEqual(saidInClaude(own))
  expect(usageOf(lines)).toMatchObject(
    usageOf(
      own
        .split('\n')
        .filter((line) => line !== '')
        .map(parseJson),
    ),
  )
}

async function expectCounted(workdir: string, calls: number): Promise<void> {
  const [folder = ''] = readdirSync(join(workdir, '.entire', 'metadata'))
  const report = await checkWithEntire(join(workdir, '.entire', 'metadata', folder, 'full.jsonl'))
  expect(report.errors).toEqual({})
  expect(report.tokens).toMatchObject({
    input: 12 * calls,
    cacheCreation: 200 * calls,
    cacheRead: 1000 * calls,
    calls,
  })
}

test('[D9.1] [PRX18] the recording of Claude Code says what its own transcript says: words, thinking, tools at once and failing, tokens; and goes on when it is resumed', async () => {
  const workdir = join(temp.path, 'work', 'tools')
  const first = await record(workdir, 'RUN TOOLS')
  expect([first.code, parseJson(first.out)]).toEqual([
    0,
    expect.objectContaining({ result: 'Done with RUN TOOLS.' }),
  ])
  const sessionId = string(parseJson(first.out), 'session_id') ?? ''
  const second = await record(workdir, 'And now RUN TOOLS again', '--continue')
  expect(second.code).toBe(0)
  expect(readRecordings(workdir)).toHaveLength(1)
  expectSame(workdir, sessionId)
  await expectCounted(workdir, 4)
  const summary = parseJson(second.err.trim().split('\n').at(-1) ?? '')
  expect(list(summary, 'recorded')[0]).toMatchObject({
    agent: 'claude-code',
    clientSessionId: sessionId,
    turns: 4,
    lost: 0,
  })
  const [lines = []] = readRecordings(workdir)
  expect(
    lines.every(
      (line) => string(line, 'version') === string(lines[0], 'version') && string(line, 'cwd') === workdir,
    ),
  ).toBe(true)
  expect(JSON.stringify(lines)).not.toContain('sk-planted')
})

test('[PRX4] [PRX18] a subagent of Claude Code has a file of its own, with what its own has', async () => {
  const workdir = join(temp.path, 'work', 'subagent')
  const { out, code } = await record(workdir, 'SEND SOMEBODY')
  expect(code).toBe(0)
  const sessionId = string(parseJson(out), 'session_id') ?? ''
  const [, inner = []] = readRecordings(workdir)
  expectSame(workdir, sessionId)
  const projects = join(temp.path, 'config', 'projects')
  const own = readdirSync(projects, { recursive: true, encoding: 'utf8' }).find(
    (name) => name.includes(sessionId) && name.includes('agent-') && name.endsWith('.jsonl'),
  )
  expect(saidInRecording(inner)).toEqual(saidInClaude(readFileSync(join(projects, own ?? ''), 'utf8')))
  expect(inner.every((line) => line['isSidechain'] === true)).toBe(true)
})

test('[PRX2] [PRX18] an answer that breaks off is kept as far as Claude Code keeps it, and one that is refused is no turn', async () => {
  for (const [prompt, name] of [
    ['BREAK OFF', 'cut'],
    ['TOO MUCH', 'refused'],
  ] as const) {
    attempts = 0
    const workdir = join(temp.path, 'work', name)
    const { out, code } = await record(workdir, prompt)
    expect(code).toBe(0)
    expectSame(workdir, string(parseJson(out), 'session_id') ?? '')
  }
})

/** Passes everything on, and keeps a hash of what went by. */
async function openRelay(
  target: () => string,
): Promise<{ url: string; seen: string[]; close: () => Promise<void> }> {
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    const [asked, answered] = [createHash('sha256'), createHash('sha256')]
    const base = new URL(target())
    const { host: _, ...headers } = incoming.headers
    const sent = httpRequest(
      {
        host: base.hostname,
        port: base.port,
        path: `${base.pathname.replace(/\/$/u, '')}${incoming.url ?? ''}`,
        method: incoming.method,
        headers: { ...headers, host: base.host },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.rawHeaders)
        answer.on('data', (bytes: Buffer) => answered.update(bytes))
        answer.on('end', () =>
          seen.push(
            `${asked.digest('hex')} ${String(answer.statusCode)} ${answer.headers['content-type'] ?? ''} ${answered.digest('hex')}`,
          ),
        )
        answer.pipe(outgoing)
      },
    )
    incoming.on('data', (bytes: Buffer) => asked.update(bytes))
    incoming.pipe(sent)
  })
  const { port, close } = await listenOnLoopback(server)
  return { url: `http://127.0.0.1:${String(port)}`, seen, close }
}

test('[PRX10] [PRX18] Claude Code gets the bytes that the model sent, and the model those of Claude Code', async () => {
  const behind = await openRelay(() => api.url)
  const place = await openProxyPlace(behind.url)
  const before = await openRelay(() => place.proxy.baseUrl('anthropic'))
  const workdir = join(temp.path, 'work', 'bytes')
  mkdirSync(workdir)
  const { code } = await runProgram(CLAUDE, ['-p', 'RUN TOOLS', ...ARGS], {
    env: { ...env, ANTHROPIC_BASE_URL: before.url },
    cwd: workdir,
  })
  expect(code).toBe(0)
  expect(before.seen.length).toBeGreaterThan(1)
  expect(before.seen).toEqual(behind.seen)
  for (const close of [before.close, place.close, behind.close]) await close()
})
