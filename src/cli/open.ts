import { ThroughlineError } from '#base'
import { openInBrowser } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { getDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import type { Site } from './site.ts'

/** `throughline open` */
export async function open(site: Site, values: Values, console: Console): Promise<number> {
  const link = await getDaemon(site.home)
  if (!(await openInBrowser(site, link, await link.connect()))) {
    throw new ThroughlineError('config-invalid', 'there is no browser here', {
      hint: 'Use `throughline pair --url <address>` to let another device in.',
    })
  }
  if (values.flag('json')) await console.out.write(toJsonLine({ address: link.page }))
  else console.say(`Opened ${link.page}`)
  return 0
}
