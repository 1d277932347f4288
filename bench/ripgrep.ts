import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Absent, Trial } from './measure.ts'
import { runProgram, toSample } from './program.ts'

const APT_GET = '/usr/bin/apt-get'
let sought = false

/** ripgrep counting the lines with a word in every transcript. */
export function ripgrep(configDir: string, word: string): Trial {
  return new Trial('rg', async () => {
    const command = findRipgrep() ?? install()
    if (command === undefined) throw new Absent('ripgrep is not installed')
    const args = [
      '--count',
      '--no-messages',
      '--fixed-strings',
      '--glob',
      '*.jsonl',
      word,
      join(configDir, 'projects'),
    ]
    const ran = await runProgram(command, args, { env: process.env })
    if (ran.code !== 0) throw new Error(`rg ended with ${ran.code}`)
    const lines = ran.stdout
      .split('\n')
      .reduce((sum, line) => sum + Number(/:(\d+)$/.exec(line)?.[1] ?? 0), 0)
    return toSample(ran, { lines })
  })
}

function findRipgrep(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':')
  return folders.map((folder) => join(folder, 'rg')).find((path) => existsSync(path))
}

/** Tried once, where it needs nobody's permission. */
function install(): string | undefined {
  if (sought || process.getuid?.() !== 0 || !existsSync(APT_GET)) return undefined
  sought = true
  const options = {
    stdio: 'ignore',
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  } as const
  spawnSync(APT_GET, ['-qq', 'update'], options)
  spawnSync(APT_GET, ['-qq', 'install', '-y', '--no-install-recommends', 'ripgrep'], options)
  return findRipgrep()
}
