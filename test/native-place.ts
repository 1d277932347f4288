import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { NativeAgent } from '#model'
import { writeNative, type NativeSession } from '#restore'
import { openModelApi, openTempDir, type ModelApi, type ModelRequest, type ModelScript } from '#testing'
import { toCodexConfig } from './drivers-acp-place.ts'
import { CLAUDE } from './drivers-claude-place.ts'
import { runProgram, type Result } from './mcp-process.ts'
import { OPENCODE } from './opencode-program.ts'

const resolve = createRequire(import.meta.url).resolve
const BIN = join(import.meta.dirname, '../node_modules/.bin')

/** What runs each agent in a terminal. */
export const PROGRAMS: Readonly<Record<NativeAgent, readonly string[]>> = {
  claude: [CLAUDE],
  codex: [process.execPath, join(dirname(resolve('@openai/codex/package.json')), 'bin/codex.js')],
  gemini: [process.execPath, join(BIN, 'gemini')],
  opencode: [OPENCODE],
}

/** What has to be said beside the command so that an agent runs without a person and without a network. */
const BESIDE: Readonly<Record<NativeAgent, readonly string[]>> = {
  claude: [],
  codex: ['--skip-git-repo-check'],
  gemini: ['-m', 'gemini-2.5-flash', '--skip-trust'],
  opencode: [],
}

/** A place for all four agents: scratch folders, and one scripted model that each believes to be its own. */
export interface NativePlace {
  readonly api: ModelApi
  readonly workdir: string
  readonly roots: Readonly<Record<NativeAgent, string>>
  /** Where opencode keeps its database. */
  readonly opencodeData: string
  readonly scratch: string
  readonly run: (
    agent: NativeAgent,
    args: readonly string[],
    options?: { readonly input?: string },
  ) => Promise<Result>
  /** Writes the session, goes on with one prompt in the real agent, and gives what it asked its model. */
  readonly goOn: (session: NativeSession, prompt: string) => Promise<ModelRequest>
  close(): Promise<void>
}

export async function openNativePlace(script?: ModelScript): Promise<NativePlace> {
  const dir = await openTempDir()
  const api = await openModelApi(script)
  const root = realpathSync(dir.path)
  const home = join(root, 'home')
  const workdir = join(root, 'work')
  const roots = {
    claude: join(root, 'claude'),
    codex: join(root, 'codex'),
    gemini: join(home, '.gemini'),
    opencode: join(root, 'imports'),
  }
  for (const folder of [home, workdir, ...Object.values(roots), join(home, '.config/opencode')])
    mkdirSync(folder, { recursive: true })
  writeFileSync(join(roots.codex, 'config.toml'), toCodexConfig(api.url))
  writeFileSync(join(roots.gemini, 'settings.json'), JSON.stringify(GEMINI_SETTINGS))
  writeFileSync(join(home, '.config/opencode/opencode.json'), JSON.stringify(toOpencodeConfig(api.url)))
  const env = toEnv(root, home, api.url)

  async function run(
    agent: NativeAgent,
    args: readonly string[],
    { input }: { readonly input?: string } = {},
  ): Promise<Result> {
    const [program = '', ...first] = PROGRAMS[agent]
    const options = { env, cwd: workdir, ...(input === undefined ? {} : { input }) }
    return await runProgram(program, [...first, ...args], options)
  }

  async function goOn(session: NativeSession, prompt: string): Promise<ModelRequest> {
    const { takeIn } = await writeNative(session, roots)
    if (takeIn !== undefined) succeed(await run(session.agent, takeIn.slice(1)))
    const before = api.requests.length
    const [, ...args] = session.prompt
    const result = await run(session.agent, [...args, prompt, ...BESIDE[session.agent]])
    const asked = api.requests.slice(before).find(({ purpose }) => purpose === 'conversation')
    if (asked === undefined)
      throw new Error(`${session.agent} asked nothing: ${result.out.slice(-2000)} ${result.err.slice(-2000)}`)
    return asked
  }

  return {
    api,
    workdir,
    roots,
    opencodeData: join(home, '.local/share/opencode'),
    scratch: join(root, 'scratch'),
    run,
    goOn,
    async close() {
      await api.close()
      await dir.remove()
    },
  }
}

function succeed({ code, out, err }: Result): void {
  if (code !== 0) throw new Error(`exit ${String(code)}: ${out} ${err}`)
}

/** Gemini CLI as it is run in tests: with a key, without a network of its own. */
export const GEMINI_SETTINGS: object = {
  general: { sessionRetention: { enabled: false }, disableAutoUpdate: true },
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

const OPENCODE_MODEL = {
  name: 'scripted',
  attachment: true,
  reasoning: true,
  tool_call: true,
  modalities: { input: ['text', 'image'], output: ['text'] },
  limit: { context: 200_000, output: 8000 },
}

/** The scripted model as a provider of opencode. */
export function toOpencodeConfig(url: string): object {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted-model',
    small_model: 'scripted/scripted-model',
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'scripted',
        options: { baseURL: `${url}/v1`, apiKey: 'dummy-for-loopback' },
        models: { 'scripted-model': OPENCODE_MODEL, 'another-model': { ...OPENCODE_MODEL, name: 'another' } },
      },
    },
  }
}

function toEnv(root: string, home: string, url: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: root,
    CLAUDE_CONFIG_DIR: join(root, 'claude'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy-for-loopback',
    CLAUDE_CODE_MAX_RETRIES: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CODEX_HOME: join(root, 'codex'),
    SCRIPTED_MODEL: 'dummy-for-loopback',
    NO_BROWSER: '1',
    GEMINI_API_KEY: 'dummy-for-loopback',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_NO_RELAUNCH: 'true',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }
}
