import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const APT_GET = '/usr/bin/apt-get'

/** A tmux for the tests that need a real terminal: the one in `TMUX_PROGRAM`, the first on the path, or one installed now. */
export function provideTmux(say) {
  const found = findTmux()
  if (found !== undefined) return found
  if (process.getuid?.() !== 0 || !existsSync(APT_GET)) {
    say('No tmux found: tests in a real terminal are skipped. Install it, or set TMUX_PROGRAM to its path.')
    return undefined
  }
  say('No tmux found: installing it with apt-get.')
  aptGet(['update'])
  aptGet(['install', '-y', '--no-install-recommends', 'tmux'])
  const installed = findTmux()
  if (installed === undefined) say('apt-get gave no tmux: tests in a real terminal are skipped.')
  return installed
}

function findTmux() {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [process.env['TMUX_PROGRAM'], ...folders.map((folder) => join(folder, 'tmux'))].find(
    (path) => path && existsSync(path),
  )
}

function aptGet(args) {
  spawnSync(APT_GET, ['-qq', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  })
}
