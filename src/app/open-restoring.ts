import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { ThroughlineError } from '#base'
import type { Digest, SessionSummary, TeamSelf } from '#model'
import type { MemoryCalls, RestoreCalls } from '#wire'
import { toAgentEnvironment } from './agent-environment.ts'
import { createAuthorLog } from './author-log.ts'
import { createSummariser } from './agent-summary.ts'
import { isWithin } from './config.ts'
import { createHandoffs, type Handoffs } from './handoffs.ts'
import type { LineageLog } from './lineage-log.ts'
import { findOpencodeModel } from './opencode-model.ts'
import { readEntries } from './session-entries.ts'
import { createRestoring, type RestoringOptions } from './restoring.ts'
import type { Config } from './throughline.ts'

export interface OpenRestoringOptions extends Pick<RestoringOptions, 'onWritten' | 'now'> {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly get: (query: string) => Promise<SessionSummary>
  readonly memory: MemoryCalls
  readonly lineage: LineageLog
  readonly digest: (session: SessionSummary) => Promise<Digest>
  /** Who is here, as a team knows him. */
  readonly self: () => TeamSelf | undefined
}

export interface Restoring {
  readonly calls: RestoreCalls
  readonly handoffs: Handoffs
}

/** Going on with the sessions of this machine: what is written goes where the agents look for it. */
export function openRestoring(options: OpenRestoringOptions): Restoring {
  const { config, env, get, now, onWritten, memory } = options
  const places = {
    home: config.home,
    lineage: options.lineage,
    opencodeModel: (workdir: string) =>
      findOpencodeModel({ env, homeDir: env['HOME'] ?? homedir(), workdir }),
    roots: { claude: config.claudeDir, codex: config.codexDir, gemini: config.geminiDir },
    run: (command: readonly string[], workdir: string) =>
      runOnce(command, { workdir, env: toAgentEnvironment(env) }),
    onWritten,
    now,
    async readWritten(id: string) {
      const session = await get(id).catch(() => undefined)
      return session === undefined ? undefined : await readEntries(session.path)
    },
  }
  const calls = createRestoring({
    ...places,
    get,
    summarise: createSummariser({ home: config.home, env, now }),
    mintId: randomUUID,
  })
  const handoffs = createHandoffs({
    ...places,
    memory,
    authors: createAuthorLog(config.home),
    digest: options.digest,
    self: options.self,
  })
  return {
    calls: {
      ...calls,
      async convert(id, request) {
        expectAllowed(request.workdir, config)
        return await calls.convert(id, request)
      },
      async copy(id, request) {
        expectAllowed(request?.workdir, config)
        return await calls.copy(id, request)
      },
    },
    handoffs: {
      pack: (session) => handoffs.pack(session),
      async takeIn(bundle, request = {}) {
        expectAllowed(request.workdir, config)
        return await handoffs.takeIn(bundle, request)
      },
      async goOn(session, request) {
        expectAllowed(request.workdir, config)
        return await handoffs.goOn(session, request)
      },
    },
  }
}

function expectAllowed(workdir: string | undefined, { allowedRoots }: Config): void {
  if (workdir === undefined || allowedRoots.length === 0 || isWithin(workdir, allowedRoots)) return
  throw new ThroughlineError('folder-not-found', `${workdir} may not be worked in`, {
    hint: 'Choose a folder inside ALLOWED_ROOTS.',
  })
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
