import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, parseJson, string } from '#base'
import {
  createLines,
  openModelApi,
  openTempDir,
  toJsonl,
  writeTranscript,
  type ModelApi,
  type ModelStep,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CODEX, toCodexConfig } from './drivers-acp-place.ts'
import { MAIN, runCommand, runProgram, type Result } from './mcp-process.ts'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let settings: string
let before: string
let script: () => readonly ModelStep[] = () => [{ kind: 'text', text: 'Done.' }]

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi(() => script())
  for (const folder of ['user', 'codex', 'work']) mkdirSync(join(temp.path, folder))
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(temp.path, 'user'),
    TMPDIR: temp.path,
    CODEX_HOME: join(temp.path, 'codex'),
    SCRIPTED_MODEL: 'dummy-for-loopback',
    NO_BROWSER: '1',
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'config'),
  }
  settings = join(temp.path, 'codex', 'config.toml')
  before = toCodexConfig(api.url)
  writeFileSync(settings, before)
  const lines = createLines({ cwd: join(temp.path, 'work') })
  const said = [
    lines.prompt('Which port does the preview use?'),
    lines.reply([{ type: 'text', text: 'The preview uses port 4711.' }]),
  ]
  await writeTranscript(join(temp.path, 'config'), toJsonl(said))
  await runCommand(['connect', 'codex', '--yes'], env)
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})

const codex = (...args: readonly string[]): Promise<Result> =>
  runProgram(process.execPath, [CODEX, ...args], { env, cwd: join(temp.path, 'work') })

test('[CON7] Codex lists the server, with its command and its home', async () => {
  const { out } = await codex('mcp', 'get', 'throughline', '--json')
  expect(parseJson(out)).toMatchObject({
    name: 'throughline',
    enabled: true,
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [MAIN, 'mcp'],
      env: { THROUGHLINE_HOME: env['THROUGHLINE_HOME'], CLAUDE_CONFIG_DIR: env['CLAUDE_CONFIG_DIR'] },
    },
  })
})

test('[MCP17] the model is told of the tools, a recall that it wants is done, and it hears the answer', async () => {
  let asked = 0
  const recall: ModelStep = {
    kind: 'tool',
    name: 'mcp__throughline__recall',
    input: { question: 'Which port does the preview use?' },
  }
  script = () => (asked++ === 0 ? [recall] : [{ kind: 'text', text: 'Done.' }])
  // Models that Codex knows look for tools first; of others it tells all at once.
  const { code } = await codex('exec', '--skip-git-repo-check', '-m', 'scripted-model', 'What was the port?')
  expect(code).toBe(0)
  const asks = api.requests.filter(({ purpose }) => purpose === 'conversation')
  const space = list(asks[0]?.body, 'tools').find((tool) => string(tool, 'name') === 'mcp__throughline')
  expect(string(space, 'description')).toContain('[REMEMBER]')
  const names = list(space, 'tools').map((tool) => string(tool, 'name') ?? '')
  expect(names.toSorted()).toEqual([
    'previous_session',
    'read_entries',
    'read_session',
    'recall',
    'remember',
    'search',
  ])
  const heard = JSON.stringify(list(asks.at(-1)?.body, 'input').at(-1))
  expect(heard).toContain('The preview uses port 4711.')
})

test('[CON3] after Codex has run, disconnecting gives back the file as it was', async () => {
  expect((await runCommand(['disconnect', 'codex', '--yes'], env)).code).toBe(0)
  expect(readFileSync(settings, 'utf8')).toBe(before)
  expect((await codex('mcp', 'list')).out).not.toContain('throughline')
})
