import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const APT_GET = '/usr/bin/apt-get'

/** A jq for the tests that read recordings as Entire does: the one in `JQ_PROGRAM`, the first on the path, or one installed now. */
export function provideJq(say) {
  const found = findJq()
  if (found !== undefined) return found
  if (process.getuid?.() !== 0 || !existsSync(APT_GET)) {
    say(
      'No jq found: tests that read recordings with it are skipped. Install it, or set JQ_PROGRAM to its path.',
    )
    return undefined
  }
  say('No jq found: installing it with apt-get.')
  aptGet(['update'])
  aptGet(['install', '-y', '--no-install-recommends', 'jq'])
  const installed = findJq()
  if (installed === undefined) say('apt-get gave no jq: tests that read recordings with it are skipped.')
  return installed
}

function findJq() {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [process.env['JQ_PROGRAM'], ...folders.map((folder) => join(folder, 'jq'))].find(
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
