import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import type { RestoreCalls } from '#wire'
import { toAgentEnvironment } from './agent-environment.ts'
import { isWithin } from './config.ts'
import { createRestoring, type RestoringOptions } from './restoring.ts'
import type { Config } from './throughline.ts'

export interface OpenRestoringOptions extends Pick<RestoringOptions, 'summarise' | 'onWritten' | 'now'> {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly get: (query: string) => Promise<SessionSummary>
}

/** Going on with the sessions of this machine: what is written goes where the agents look for it. */
export function openRestoring(options: OpenRestoringOptions): RestoreCalls {
  const { config, env, get, now, onWritten, summarise } = options
  const calls = createRestoring({
    home: config.home,
    get,
    roots: { claude: config.claudeDir, codex: config.codexDir, gemini: config.geminiDir },
    run: (command, workdir) => runOnce(command, { workdir, env: toAgentEnvironment(env) }),
    summarise,
    onWritten,
    mintId: randomUUID,
    now,
  })
  return {
    ...calls,
    async convert(id, request) {
      if (request.workdir !== undefined && !mayWorkIn(request.workdir, config)) {
        throw new ThroughlineError('folder-not-found', `${request.workdir} may not be worked in`, {
          hint: 'Choose a folder inside ALLOWED_ROOTS.',
        })
      }
      return await calls.convert(id, request)
    },
  }
}

function mayWorkIn(workdir: string, { allowedRoots }: Config): boolean {
  return allowedRoots.length === 0 || isWithin(workdir, allowedRoots)
}

const PATIENCE_MS = 60_000

/** Runs a command to its end. What it prints is only told when it fails. */
async function runOnce(
  [program = '', ...args]: readonly string[],
  { workdir, env }: { readonly workdir: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const child = spawn(program, args, { cwd: workdir, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (piece: Buffer) => {
    said = `${said}${piece.toString('utf8')}`.slice(-2_000)
  })
  const patience = setTimeout(() => child.kill(), PATIENCE_MS)
  const code = await new Promise<number | string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (exit, signal) => resolve(exit ?? signal ?? 'nobody knows why'))
  }).finally(() => clearTimeout(patience))
  if (code === 0) return
  throw new ThroughlineError('driver-unavailable', `${program} did not take the session in (${code})`, {
    hint: said.trim() === '' ? `Is ${program} installed?` : said.trim(),
  })
}
