import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openModelApi, type ModelApi } from '#testing'
import { CLAUDE, QUIET_CLAUDE } from '../drivers-claude-place.ts'
import { openAppDaemon, type AppDaemon } from './app-browser.ts'

/** A daemon that runs the real Claude Code. Only the model is ours. */
export interface ClaudeDaemon {
  readonly api: ModelApi
  readonly daemon: AppDaemon
  readonly workdir: string
  close(): Promise<void>
}

export async function openClaudeDaemon(settings: object): Promise<ClaudeDaemon> {
  const api = await openModelApi()
  let workdir = ''
  const daemon = await openAppDaemon(
    (claudeDir) => {
      const home = join(claudeDir, '..', 'home')
      workdir = join(claudeDir, '..', 'work')
      mkdirSync(claudeDir, { recursive: true })
      mkdirSync(home, { mode: 0o700 })
      mkdirSync(workdir)
      const agents = { claude: { executable: CLAUDE } }
      writeFileSync(join(home, 'config.json'), JSON.stringify({ agents, ...settings }))
    },
    {
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'dummy-for-loopback',
      CLAUDE_CODE_MAX_RETRIES: '1',
      ...QUIET_CLAUDE,
    },
  )
  return {
    api,
    daemon,
    workdir,
    async close() {
      await daemon.close()
      await api.close()
    },
  }
}
