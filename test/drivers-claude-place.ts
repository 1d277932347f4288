import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createClaudeDriver } from '#drivers'
import { openModelApi, openTempDir, type DriverPlace, type ModelApi, type ModelScript } from '#testing'

/** A place for the real Claude Code: scratch folders, and a scripted model that it believes to be the real one. */
export interface ClaudePlace extends DriverPlace {
  readonly api: ModelApi
  readonly root: string
  readonly configDir: string
}

/** The program that comes with the Agent SDK. */
export const CLAUDE: string = join(
  dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk')),
  `../claude-agent-sdk-${process.platform}-${process.arch}/claude`,
)

/** Claude Code says nothing to anybody but its model. */
export const QUIET_CLAUDE = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_AUTOUPDATER: '1',
} as const

export async function openClaudePlace(script?: ModelScript): Promise<ClaudePlace> {
  const dir = await openTempDir()
  const api = await openModelApi(script)
  const home = join(dir.path, 'home')
  const configDir = join(dir.path, 'config')
  const workdir = join(dir.path, 'work')
  for (const folder of [home, configDir, workdir]) mkdirSync(folder)
  return {
    api,
    root: dir.path,
    configDir,
    driver: createClaudeDriver({ executable: CLAUDE }),
    workdir,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TMPDIR: dir.path,
      CLAUDE_CONFIG_DIR: configDir,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'dummy-for-loopback',
      CLAUDE_CODE_MAX_RETRIES: '1',
      ...QUIET_CLAUDE,
    },
    transcripts: (sessionId) => readTranscripts(join(configDir, 'projects'), sessionId),
    crash: ({ agent }) => {
      const [pid] = agent.pids()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      return Promise.resolve()
    },
    async close() {
      await api.close()
      await dir.remove()
    },
  }
}

/** The transcripts of a session, by path. */
export function readTranscripts(folder: string, sessionId: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const project of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, project, `${sessionId}.jsonl`)
    if (existsSync(path)) found[path] = readFileSync(path, 'utf8')
  }
  return found
}
