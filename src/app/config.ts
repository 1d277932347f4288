import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { ThroughlineError } from '#base'
import { toPostgresAddress } from '#store'
import type { Config } from './throughline.ts'

/** The variables that redirect everything. */
export const ENVIRONMENT: readonly EnvironmentVariable[] = [
  {
    name: 'THROUGHLINE_HOME',
    fallback: '~/.throughline',
    meaning: "Throughline's own folder. Nothing is written outside of it, except where you say so.",
  },
  {
    name: 'CLAUDE_CONFIG_DIR',
    fallback: '~/.claude',
    meaning:
      'Where Claude Code keeps its sessions. They are only read; new ones are written by forks, `repair`, `handoff import` and `resume --in claude`, and `connect` puts a folder of ours among its skills.',
  },
  {
    name: 'CODEX_HOME',
    fallback: '~/.codex',
    meaning: 'Where Codex keeps its sessions. Only read, unless a session is to go on there.',
  },
  {
    name: 'GEMINI_CLI_HOME',
    fallback: '~',
    meaning:
      'The folder in which Gemini CLI has its `.gemini`. Only read, unless a session is to go on there.',
  },
  {
    name: 'XDG_DATA_HOME',
    fallback: '~/.local/share',
    meaning:
      'The folder in which opencode has its `opencode`. Only read, unless a session is to go on there.',
  },
  {
    name: 'ALLOWED_ROOTS',
    fallback: 'everything',
    meaning: 'Folders, separated like PATH. Sessions that worked anywhere else are not shown.',
  },
  {
    name: 'THROUGHLINE_ARCHIVE',
    fallback: 'on',
    meaning: 'With `off` the daemon keeps no transcripts that agents delete.',
  },
  {
    name: 'THROUGHLINE_STORE',
    fallback: 'on this machine',
    meaning:
      'The database of a team: `postgres://user:password@host/database`. `store` in `config.json` says the same.',
    isSecret: true,
  },
]

export interface EnvironmentVariable {
  readonly name:
    | 'THROUGHLINE_HOME'
    | 'CLAUDE_CONFIG_DIR'
    | 'CODEX_HOME'
    | 'GEMINI_CLI_HOME'
    | 'XDG_DATA_HOME'
    | 'ALLOWED_ROOTS'
    | 'THROUGHLINE_ARCHIVE'
    | 'THROUGHLINE_STORE'
  readonly fallback: string
  readonly meaning: string
  /** Has a password in it: nobody writes it down or hands it on. */
  readonly isSecret?: true
}

export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. */
  readonly homeDir: string
}

/** Reads the settings from the environment. An empty variable is a variable that was not set. */
export function readConfig({ env, homeDir }: ConfigSources): Config {
  const home = resolve(env['THROUGHLINE_HOME'] || join(homeDir, '.throughline'))
  const claudeDir = resolve(env['CLAUDE_CONFIG_DIR'] || join(homeDir, '.claude'))
  const roots = (env['ALLOWED_ROOTS'] ?? '').split(process.platform === 'win32' ? ';' : ':')
  const allowedRoots = roots.filter((root) => root !== '').map((root) => realPathOf(rooted(root)))
  const codexDir = resolve(env['CODEX_HOME'] || join(homeDir, '.codex'))
  const geminiDir = join(resolve(env['GEMINI_CLI_HOME'] || homeDir), '.gemini')
  const opencodeDir = join(resolve(env['XDG_DATA_HOME'] || join(homeDir, '.local', 'share')), 'opencode')
  const store = env['THROUGHLINE_STORE']
  return {
    home,
    claudeDir,
    codexDir,
    geminiDir,
    opencodeDir,
    allowedRoots,
    archive: isOn(env['THROUGHLINE_ARCHIVE']),
    ...(store === undefined || store === '' ? {} : { store: toPostgresAddress(store) }),
  }
}

function isOn(value: string | undefined): boolean {
  if (value === undefined || value === '' || value === 'on' || value === '1') return true
  if (value === 'off' || value === '0') return false
  throw new ThroughlineError('config-invalid', `THROUGHLINE_ARCHIVE is ${JSON.stringify(value)}`, {
    hint: 'Set it to on or off.',
  })
}

/** Whether a folder is one of the roots or inside one, links resolved on both sides. */
export function isWithin(path: string, roots: readonly string[]): boolean {
  const real = realPathOf(path)
  return roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep))
}

/** Whether sessions of a folder may be shown: all of them, where no roots are given. */
export function isWithinRoots(path: string, roots: readonly string[]): boolean {
  return roots.length === 0 || isWithin(path, roots)
}

/** The path with all links resolved. Of a folder that is gone, the part that is still there is resolved. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

/** What may be shown must not depend on the folder one happens to be in. */
function rooted(root: string): string {
  if (isAbsolute(root)) return root
  throw new ThroughlineError('config-invalid', `ALLOWED_ROOTS has a path that is not absolute: ${root}`, {
    hint: `Use paths that begin with /, for example "$PWD/${root}".`,
  })
}
