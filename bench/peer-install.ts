import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseJson, string } from '#base'
import { Absent } from './measure.ts'

/** Other people's servers for the same transcripts, and the version that is measured. */
export const PEERS = {
  'claude-run': { name: 'claude-run', version: '0.3.0', main: 'dist/index.js' },
  cloudcli: {
    name: '@cloudcli-ai/cloudcli',
    version: '1.37.3',
    main: 'dist-server/server/modules/cli/cli.js',
  },
} as const

export type PeerName = keyof typeof PEERS

const LONGEST_MS = 480_000
let failure: string | undefined

/** The file that starts a peer. Installs all peers first, once for all runs. None of their scripts is run. */
export function installPeer(root: string, peer: PeerName): string {
  const dir = join(root, 'peers')
  const { name, version, main } = PEERS[peer]
  const path = join(dir, 'node_modules', name, main)
  if (versionOf(join(dir, 'node_modules', name)) !== version) {
    failure ??= install(dir) ?? ''
    if (versionOf(join(dir, 'node_modules', name)) !== version) {
      throw new Absent(`${name} ${version} cannot be installed: ${failure || 'npm did not say why'}`)
    }
  }
  if (!existsSync(path)) throw new Absent(`${name} ${version} has no ${main}`)
  if (peer === 'cloudcli') provideSqlite(dir)
  return path
}

/** Says why not. */
function install(dir: string): string | undefined {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
  const wanted = Object.values(PEERS).map(({ name, version }) => `${name}@${version}`)
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...wanted]
  process.stderr.write('(installing peers, minutes) ')
  const { status, stderr, error } = spawnSync('npm', args, {
    cwd: dir,
    encoding: 'utf8',
    timeout: LONGEST_MS,
  })
  if (status === 0) return undefined
  return error?.message ?? stderr.trim().split('\n')[0] ?? `npm ended with ${status}`
}

/** Its database is in a language that has to be compiled; ours is the same. */
function provideSqlite(dir: string): void {
  const theirs = join(dir, 'node_modules', 'better-sqlite3')
  const built = join(theirs, 'build', 'Release', 'better_sqlite3.node')
  if (existsSync(built)) return
  const ours = dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json'))
  const compiled = join(ours, 'build', 'Release', 'better_sqlite3.node')
  if (versionOf(ours) === versionOf(theirs) && existsSync(compiled)) {
    mkdirSync(dirname(built), { recursive: true })
    copyFileSync(compiled, built)
    return
  }
  spawnSync('npm', ['rebuild', 'better-sqlite3', '--build-from-source'], {
    cwd: dir,
    stdio: 'ignore',
    timeout: LONGEST_MS,
  })
  if (!existsSync(built)) throw new Absent('better-sqlite3 cannot be built for cloudcli')
}

function versionOf(dir: string): string | undefined {
  const path = join(dir, 'package.json')
  return existsSync(path) ? string(parseJson(readFileSync(path, 'utf8')), 'version') : undefined
}
