import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Site } from './site.ts'

/** Folders of one's own for everything that reads or writes sessions. */
export interface Sandbox {
  readonly folder: string
  /** To be read by a shell: from then on every command in it is of the sandbox. */
  readonly envFile: string
  readonly site: Site
}

/** Where the folders of the person are named, and what takes their place. */
const FOLDERS = {
  THROUGHLINE_HOME: 'home',
  CLAUDE_CONFIG_DIR: 'claude',
  CODEX_HOME: 'codex',
  GEMINI_CLI_HOME: 'gemini',
  XDG_DATA_HOME: 'data',
} as const

/** What leads out of it: folders that are shown, and the database of a team. */
const UNSET = ['ALLOWED_ROOTS', 'THROUGHLINE_STORE', 'THROUGHLINE_ARCHIVE'] as const

/** Makes a scratch home for Throughline and for every agent, of which nobody else can read anything. */
export function createSandbox(site: Site): Sandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'throughline-sandbox-')))
  const folders = Object.fromEntries(
    Object.entries(FOLDERS).map(([name, below]) => [name, join(folder, below)] as const),
  )
  for (const path of Object.values(folders)) mkdirSync(path, { mode: 0o700 })
  const envFile = join(folder, 'env.sh')
  const lines = [
    ...Object.entries(folders).map(([name, path]) => `export ${name}=${quote(path)}`),
    `unset ${UNSET.join(' ')}`,
  ]
  writeFileSync(envFile, `${lines.join('\n')}\n`, { mode: 0o600 })
  const unset: readonly string[] = UNSET
  const kept = Object.entries(site.env).filter(([name]) => !unset.includes(name))
  return {
    folder,
    envFile,
    site: {
      ...site,
      env: { ...Object.fromEntries(kept), ...folders },
      home: join(folder, FOLDERS.THROUGHLINE_HOME),
      claudeDir: join(folder, FOLDERS.CLAUDE_CONFIG_DIR),
      allowedRoots: [],
    },
  }
}

/** As a shell takes it: a temporary folder may have any name. */
export function quote(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}
