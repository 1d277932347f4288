import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = '1.18.33'

/** The program for each system, by the package that has it, and the checksum of that package. */
const PACKAGES = {
  'linux x64': {
    name: 'opencode-linux-x64',
    integrity:
      'sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==',
  },
}

/**
 * opencode for the tests that run it: the one in `OPENCODE_PROGRAM`, or one that is fetched now. It is no dependency:
 * its package names programs for ten systems, and a lock file has to name all of them.
 */
export function provideOpencode(root, say) {
  const given = process.env['OPENCODE_PROGRAM']
  if (given !== undefined && existsSync(given)) return given
  const wanted = PACKAGES[`${process.platform} ${process.arch}`]
  if (wanted === undefined) {
    say(
      'There is no opencode for this system here: tests that run it are skipped. Set OPENCODE_PROGRAM to its path.',
    )
    return undefined
  }
  const folder = join(root, 'node_modules/.cache/opencode')
  const program = join(folder, 'node_modules', wanted.name, 'bin/opencode')
  if (integrityIn(folder, wanted.name) === wanted.integrity && existsSync(program)) return program
  say(`No opencode found: fetching ${wanted.name} ${VERSION}.`)
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  spawnSync('npm', [...args, `${wanted.name}@${VERSION}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 600_000,
  })
  if (integrityIn(folder, wanted.name) === wanted.integrity && existsSync(program)) return program
  say('opencode could not be fetched, or is not the one it should be: tests that run it are skipped.')
  rmSync(folder, { recursive: true, force: true })
  return undefined
}

function integrityIn(folder, name) {
  const lock = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(lock)) return undefined
  return JSON.parse(readFileSync(lock, 'utf8')).packages?.[`node_modules/${name}`]?.integrity
}
