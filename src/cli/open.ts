import { createLoginLink, openInBrowser, toForwardHint } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { getDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import type { Site } from './site.ts'

/** `throughline open` */
export async function open(site: Site, values: Values, console: Console): Promise<number> {
  const daemon = await getDaemon(site.home)
  const throughline = await daemon.connect()
  const isOpened = await openInBrowser(site, daemon, throughline)
  const login = isOpened ? undefined : await createLoginLink(daemon.numeric, throughline)
  if (values.flag('json')) {
    const { link = null, code = null, expiresAt = null } = login ?? {}
    await console.out.write(toJsonLine({ address: daemon.page, isOpened, link, code, expiresAt }))
    return 0
  }
  if (login === undefined) {
    console.say(`Opened ${daemon.page}`)
    return 0
  }
  console.say('Could not open a browser. Open this link within a minute; it works once:')
  await console.out.write(`${login.link}\n`)
  console.say(toForwardHint(daemon.port))
  return 0
}
