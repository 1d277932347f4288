import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const APT_GET = '/usr/bin/apt-get'

/**
 * A program that tests need, as a variable for their environment: the one that the variable names already, the first
 * on the path, or one installed now. Without it `what` is skipped, and that is said.
 */
export function provideProgram({ name, variable, what }, say) {
  const found = find(name, variable) ?? install(name, variable, { what, say })
  return found === undefined ? {} : { [variable]: found }
}

function install(name, variable, { what, say }) {
  if (process.getuid?.() !== 0 || !existsSync(APT_GET)) {
    say(`No ${name} found: ${what} are skipped. Install it, or set ${variable} to its path.`)
    return undefined
  }
  say(`No ${name} found: installing it with apt-get.`)
  aptGet(['update'])
  aptGet(['install', '-y', '--no-install-recommends', name])
  const installed = find(name, variable)
  if (installed === undefined) say(`apt-get gave no ${name}: ${what} are skipped.`)
  return installed
}

function find(name, variable) {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [process.env[variable], ...folders.map((folder) => join(folder, name))].find(
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
