import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { list, string } from '#base'
import {
  createLines,
  openModelApi,
  openTempDir,
  toJsonl,
  writeTranscript,
  type ModelApi,
  type ModelRequest,
  type ModelStep,
  type TempDir,
} from '#testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CLAUDE, QUIET_CLAUDE } from './drivers-claude-place.ts'
import { MAIN, runCommand, runProgram, type Result } from './mcp-process.ts'

const PREFIX = 'mcp__plugin_throughline_throughline__'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let workdir: string
let script: (request: ModelRequest) => readonly ModelStep[] = () => [{ kind: 'text', text: 'Done.' }]

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi((request) => script(request))
  for (const folder of ['user', 'config', 'work']) mkdirSync(join(temp.path, folder))
  workdir = join(temp.path, 'work')
  const config = join(temp.path, 'config')
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(temp.path, 'user'),
    TMPDIR: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'dummy-for-loopback',
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...QUIET_CLAUDE,
  }
  const lines = createLines({ cwd: workdir })
  const said = [
    lines.prompt('Which port does the preview use?'),
    lines.reply([{ type: 'text', text: 'The preview uses port 4711.' }]),
  ]
  await writeTranscript(config, toJsonl(said))
  await runCommand(['connect', 'claude-code'], env)
})
afterEach(() => {
  script = () => [{ kind: 'text', text: 'Done.' }]
})
afterAll(async () => {
  await runCommand(['stop'], env)
  await api.close()
  await temp.remove()
})

const claude = (...args: readonly string[]): Promise<Result> =>
  runProgram(CLAUDE, args, { env, cwd: workdir })

/** Calls a tool once, and then says that it is done. */
function calling(name: string, input: object): void {
  let asked = 0
  script = () =>
    asked++ === 0
      ? [{ kind: 'tool', name: `${PREFIX}${name}`, input: { ...input } }]
      : [{ kind: 'text', text: 'Done.' }]
}

/** What the tool gave, as the model was told in the last request. */
function lastResult(): string {
  const request = api.requests.findLast(({ purpose }) => purpose === 'conversation')
  return JSON.stringify(list(request?.body, 'messages').at(-1))
}

test('[CON1] Claude Code starts the server that its plugin names, and finds it well', async () => {
  const { out } = await claude('mcp', 'list')
  expect(out).toMatch(/^plugin:throughline:throughline: .*throughline\.js mcp - ✔ Connected$/m)
})

test('[MCP16] the model is told of the tools, and how to use them', async () => {
  const before = api.requests.length
  await claude('-p', 'Hello.')
  const request = api.requests.slice(before).find(({ purpose }) => purpose === 'conversation')
  const names = list(request?.body, 'tools').map((tool) => string(tool, 'name'))
  expect(names).toContain(`${PREFIX}recall`)
  expect(names).toContain(`${PREFIX}remember`)
  const told = JSON.stringify(request?.body)
  expect(told).toContain(`${PREFIX}read_entries`)
  expect(told).toContain('Earlier sessions of all agents on this machine')
  expect(told).toContain(String.raw`[REMEMBER] {\"content\"`)
})

test('[MCP16] a recall that the model wants is done, and its answer is in the next request', async () => {
  calling('recall', { question: 'Which port does the preview use?' })
  const { code } = await claude('-p', 'What was the port?', '--allowedTools', `${PREFIX}recall`)
  expect(code).toBe(0)
  expect(lastResult()).toContain('The preview uses port 4711.')
  expect(lastResult()).toContain('entry 00000000-0000-4000-8000-000000000002')
})

test('[MCP16] the folder that is meant is the one that Claude Code works in', async () => {
  calling('previous_session', {})
  await claude('-p', 'Where were we?', '--allowedTools', `${PREFIX}previous_session`)
  expect(lastResult()).toContain(` · in ${workdir} · `)
})

test('[MCP16] what the model remembers in one session, it recalls in the next, also through a daemon', async () => {
  calling('remember', { content: 'The owner of the preview wants releases on Tuesdays only.' })
  await claude('-p', 'Remember it.', '--allowedTools', `${PREFIX}remember`)
  expect(lastResult()).toContain('Remembered as ')
  const asked = api.requests.findLast(({ purpose }) => purpose === 'conversation')
  const { out } = await runCommand(['documents', 'list', '--json'], env)
  expect(out).toContain(`"sessionId":"${asked?.sessionId}"`)
  expect((await runCommand(['start', '--no-open'], env)).code).toBe(0)
  calling('recall', { question: 'On which day may we release?' })
  await claude('-p', 'When?', '--allowedTools', `${PREFIX}recall`)
  expect(lastResult()).toContain('releases on Tuesdays only')
})
