import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { field, list, object, parseJson, string } from '#base'
import {
  checkWithEntire,
  openModelApi,
  openTempDir,
  type ModelApi,
  type ModelRequest,
  type ModelStep,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CODEX, toCodexConfig } from '../drivers-acp-place.ts'
import { MAIN, runCommand, type Result } from '../mcp-process.ts'
import { saidInCodex, saidInRecording } from './agent-transcripts.ts'
import { readRecordings } from './proxy-place.ts'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let answers: (readonly ModelStep[])[] = []
let script: (request: ModelRequest) => readonly ModelStep[] | undefined

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi((request) => script(request) ?? [{ kind: 'text', text: 'Done.' }])
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})
let count = 0
beforeEach(() => {
  script = () => answers.shift()
  const root = join(temp.path, String(++count))
  for (const folder of ['user', 'codex', 'work']) mkdirSync(join(root, folder), { recursive: true })
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(root, 'user'),
    TMPDIR: root,
    CODEX_HOME: join(root, 'codex'),
    SCRIPTED_MODEL: 'sk-planted-for-the-loopback',
    OPENAI_API_KEY: 'sk-planted-for-the-loopback',
    NO_BROWSER: '1',
    THROUGHLINE_HOME: join(root, 'home'),
  }
})
const at = (...names: readonly string[]): string => join(temp.path, String(count), ...names)

function record(options: readonly string[], ...args: readonly string[]): Promise<Result> {
  return runCommand(['record', '--json', ...options, '--', process.execPath, CODEX, ...args], env, at('work'))
}

/** What Codex wrote itself. */
function rollout(): string {
  const folder = at('codex', 'sessions')
  const [name = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.jsonl'),
  )
  return readFileSync(join(folder, name), 'utf8')
}

const EXEC = ['exec', '--skip-git-repo-check', '-m', 'gpt-5.5'] as const

test('[D9.1] [REC38] [PRX19] the recording of Codex says what its own rollout says, with tools at once and failing; and goes on when it is resumed', async () => {
  const settings = toCodexConfig(api.url)
  writeFileSync(at('codex', 'config.toml'), settings)
  answers = [
    [
      { kind: 'thinking', text: 'Both at once.' },
      { kind: 'tool', name: 'exec_command', input: { cmd: 'echo one' } },
      { kind: 'tool', name: 'exec_command', input: { cmd: 'exit 3' } },
    ],
    [{ kind: 'text', text: 'Ran both.' }],
  ]
  expect((await record([], ...EXEC, 'run both')).code).toBe(0)
  const { code, err } = await record(
    [],
    'exec',
    'resume',
    '--last',
    '--skip-git-repo-check',
    '-m',
    'gpt-5.5',
    'and once more',
  )
  expect(code).toBe(0)
  const [lines = [], ...others] = readRecordings(at('work'))
  expect(others).toEqual([])
  expect(saidInRecording(lines)).toEqual(saidInCodex(rollout()))
  const [folder = ''] = readdirSync(at('work', '.entire', 'metadata'))
  const report = await checkWithEntire(at('work', '.entire', 'metadata', folder, 'full.jsonl'))
  expect(report.errors).toEqual({})
  expect(report.tokens.calls).toBe(3)
  const prompt = readFileSync(at('work', '.entire', 'metadata', folder, 'prompt.txt'), 'utf8')
  expect(prompt.trim()).toBe('run both')
  const asked = lines
    .filter((line) => string(line, 'type') === 'user' && field(line, 'isMeta') !== true)
    .flatMap((line) => list(object(line, 'message'), 'content'))
    .flatMap((block) => (string(block, 'type') === 'text' ? string(block, 'text') : []))
  expect(asked).toEqual(['run both', 'and once more'])
  const summary = parseJson(err.trim().split('\n').at(-1) ?? '')
  expect(list(summary, 'recorded')[0]).toMatchObject({
    agent: 'codex',
    turns: 2,
    lost: 0,
    tokens: { cacheRead: 1000 },
  })
  expect(string(lines[0], 'version')).toBe('0.166.0')
  expect(JSON.stringify(lines)).not.toContain('sk-planted')
  expect(readFileSync(at('codex', 'config.toml'), 'utf8')).toBe(settings)
})

test('[PRX19] Codex as it comes is recorded without a change to its files, and does not wait for a WebSocket', async () => {
  writeFileSync(
    at('codex', 'config.toml'),
    'check_for_update_on_startup = false\n[analytics]\nenabled = false\n',
  )
  const { code, err } = await record(['--upstream-openai', `${api.url}/v1`], ...EXEC, 'hello')
  expect(code).toBe(0)
  expect(err).not.toContain('Reconnecting')
  const [lines = []] = readRecordings(at('work'))
  expect(saidInRecording(lines)).toEqual(saidInCodex(rollout()))
})

test('[PRX2] [PRX19] an answer that breaks off is tried again, and what comes then goes on behind the prompt', async () => {
  writeFileSync(at('codex', 'config.toml'), toCodexConfig(api.url))
  answers = [[{ kind: 'text', text: 'I begin' }, { kind: 'cut' }], [{ kind: 'text', text: 'Whole now.' }]]
  expect((await record([], ...EXEC, 'hello')).code).toBe(0)
  const [lines = []] = readRecordings(at('work'))
  expect(saidInRecording(lines)).toEqual(saidInCodex(rollout()))
  expect(lines.filter((line) => line['outcome'] === 'cut')).toHaveLength(1)
})

/** Whether somebody asks who was sent by another agent. */
function isSent(body: unknown): boolean {
  return JSON.stringify(body).includes('You are an agent in a team of agents collaborating')
}

test('[PRX4] [PRX19] somebody whom Codex sends has a file of their own', async () => {
  writeFileSync(
    at('codex', 'config.toml'),
    `${toCodexConfig(api.url)}multi_agent = true\nmulti_agent_v2 = true\n`,
  )
  const input = { message: 'INNER TASK', task_name: 'looker' }
  // Who sent somebody waits for them: whoever is done ends all that he sent.
  const mains: (readonly ModelStep[])[] = [
    [{ kind: 'tool', name: 'collaboration__spawn_agent', input }],
    [{ kind: 'tool', name: 'collaboration__wait_agent', input: { timeout_ms: 60_000 } }],
  ]
  script = ({ body }) => (isSent(body) ? undefined : mains.shift())
  expect((await record([], ...EXEC, 'send somebody')).code).toBe(0)
  const [main = [], inner = []] = readRecordings(at('work'))
  expect(JSON.stringify(saidInRecording(main))).not.toContain('"assistant","text","INNER')
  expect(main.every((line) => line['isSidechain'] === false)).toBe(true)
  expect(inner.length).toBeGreaterThan(0)
  expect(inner.every((line) => line['isSidechain'] === true)).toBe(true)
  expect(JSON.stringify(inner)).toContain('INNER TASK')
})
