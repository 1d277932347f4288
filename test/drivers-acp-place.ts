import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createAcpDriver, type AcpDriverOptions } from '#drivers'
import {
  openModelApi,
  openTempDir,
  type DriverPlace,
  type ModelApi,
  type ModelScript,
  type Played,
} from '#testing'
import { readTranscripts } from './drivers-claude-place.ts'

const DIST = join(import.meta.dirname, '..', 'dist')

/** The program of Codex. */
export const CODEX: string = join(
  dirname(createRequire(import.meta.url).resolve('@openai/codex/package.json')),
  'bin/codex.js',
)

/** The adapter through which Codex speaks the protocol. */
export const CODEX_ACP: string = createRequire(import.meta.url).resolve('@agentclientprotocol/codex-acp')

/** A place for the scripted agent behind the protocol, as it was built. */
export async function openScriptedAcpPlace(): Promise<DriverPlace> {
  const dir = await openTempDir()
  const folder = join(dir.path, 'projects')
  const workdir = join(dir.path, 'work')
  mkdirSync(workdir)
  return {
    driver: createAcpDriver({
      agent: 'scripted-acp',
      command: process.execPath,
      args: [join(DIST, 'testing', 'acp-agent.js'), folder],
    }),
    workdir,
    trusted: true,
    lacks: ['given-ids', 'clear', 'fork', 'questions', 'words-of-a-no', 'told-retries'],
    env: { PATH: process.env['PATH'] ?? '', HOME: dir.path },
    transcripts: (sessionId) => readTranscripts(folder, sessionId.replace('acp-', '')),
    crash: killFirst,
    close: () => dir.remove(),
  }
}

/** A place for the real Codex: scratch folders, and a scripted model in place of the real one. */
export interface CodexPlace extends DriverPlace {
  readonly api: ModelApi
  readonly root: string
  readonly home: string
}

export async function openCodexPlace(
  script?: ModelScript,
  options: Partial<AcpDriverOptions> = {},
): Promise<CodexPlace> {
  const dir = await openTempDir()
  const api = await openModelApi(script)
  const home = join(dir.path, 'home')
  const codexHome = join(dir.path, 'codex')
  const workdir = join(dir.path, 'work')
  for (const folder of [home, codexHome, workdir]) mkdirSync(folder)
  writeFileSync(join(codexHome, 'config.toml'), toCodexConfig(api.url))
  return {
    api,
    root: dir.path,
    home: codexHome,
    driver: createAcpDriver({
      agent: 'codex',
      title: 'Codex',
      command: process.execPath,
      args: [CODEX_ACP],
      login: 'codex login',
      ...options,
    }),
    workdir,
    trusted: true,
    lacks: [
      'given-ids',
      'clear',
      'questions',
      'words-of-a-no',
      'goes-on-after-a-no',
      'told-status',
      'kept-pieces',
    ],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TMPDIR: dir.path,
      CODEX_HOME: codexHome,
      SCRIPTED_MODEL: 'dummy-for-loopback',
      NO_BROWSER: '1',
    },
    transcripts: (sessionId) => readRollouts(join(codexHome, 'sessions'), sessionId),
    crash: killFirst,
    async close() {
      await api.close()
      await dir.remove()
    },
  }
}

/** What Codex would ask of anybody else (updates, plugins, apps) is turned off, and the model is on loopback. */
export function toCodexConfig(url: string): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_MODEL"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[otel]
exporter = "none"
[features]
apps = false
plugins = false
plugin_discovery_prefetch = false
plugin_sharing = false
remote_plugin = false
skill_search = false
tool_suggest = false
`
}

function killFirst({ agent }: Played): Promise<void> {
  const [pid] = agent.pids()
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  return Promise.resolve()
}

function readRollouts(folder: string, sessionId: string): Record<string, string> {
  const found: Record<string, string> = {}
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  for (const name of names) {
    if (name.endsWith(`${sessionId}.jsonl`)) found[name] = readFileSync(join(folder, name), 'utf8')
  }
  return found
}
