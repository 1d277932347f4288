import { parseJson, string, ThroughlineError } from '#base'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLoginLink, toForwardHint } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { getDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import type { Site } from './site.ts'

/** `throughline pair` */
export async function pair(site: Site, values: Values, console: Console): Promise<number> {
  const given = values.value('url') ?? findConfigured(site.home)
  const address = given === undefined ? undefined : toAddress(given)
  const daemon = await getDaemon(site.home)
  const login = await createLoginLink(address ?? daemon.numeric, await daemon.connect())
  if (values.flag('json')) {
    await console.out.write(toJsonLine(login))
    return 0
  }
  const { link } = login
  if (address === undefined) {
    console.say('This link logs in one browser on this machine. Open it within a minute; it works once:')
    await console.out.write(`${link}\n`)
    console.say(toForwardHint(daemon.port))
    console.say(
      'next: for another device give the address under which it reaches the daemon: `throughline pair --url https://…`',
    )
    return 0
  }
  const { renderUnicodeCompact } = await import('uqr')
  // Blocks are the light parts: light on dark whatever the theme, for many cameras do not read the opposite.
  const picture = renderUnicodeCompact(link, { border: 2, ecc: 'L' })
  const lines = picture.split('\n').map((line) => (console.colour ? `\u001b[97;40m${line}\u001b[0m` : line))
  await console.out.write(`${lines.join('\n')}\n\n${link}\n`)
  console.say('Scan it with the other device within a minute; it works once.')
  console.say(
    `note: the daemon must go by that name: \`throughline serve --allow-host ${new URL(address).host}\``,
  )
  return 0
}

function findConfigured(home: string): string | undefined {
  try {
    return string(parseJson(readFileSync(join(home, 'config.json'), 'utf8')), 'url')
  } catch {
    return undefined
  }
}

/** A token that travels in the clear belongs to whoever listens, so only TLS will do beyond this machine. */
function toAddress(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ThroughlineError('bad-usage', `"${given}" is no address`, {
      hint: 'Write it like this: --url https://desk.example:4700',
    })
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ThroughlineError('bad-usage', `${url.origin} would send the token in the clear`, {
      hint: 'Use https: a certificate for `throughline serve`, or a tunnel that has one.',
    })
  }
  return url.origin
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d+){3}$/.test(name)
  )
}
