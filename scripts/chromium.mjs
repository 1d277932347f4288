import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const APT_GET = '/usr/bin/apt-get'
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** A Chromium for the tests that need a real browser: the one in `CHROMIUM`, the system's, or one installed now. */
export function provideChromium(say) {
  const found = findChromium()
  if (found !== undefined) return found
  if (process.getuid?.() !== 0 || !existsSync(APT_GET)) {
    say('No Chromium found: tests in a real browser are skipped. Install one, or set CHROMIUM to its path.')
    return undefined
  }
  say('No Chromium found: installing it with apt-get.')
  aptGet(['update'])
  aptGet(['install', '-y', '--no-install-recommends', 'chromium'])
  const installed = findChromium()
  if (installed === undefined) say('apt-get gave no Chromium: tests in a real browser are skipped.')
  return installed
}

function findChromium() {
  return [process.env['CHROMIUM'], ...PLACES].find((path) => path && existsSync(path))
}

function aptGet(args) {
  spawnSync(APT_GET, ['-qq', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  })
}
