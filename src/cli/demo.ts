import { openInBrowser } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import type { Site } from './site.ts'
import { startDaemon } from './start.ts'

/** `throughline demo` */
export async function demo(site: Site, values: Values, console: Console): Promise<number> {
  const link = (await findDaemon(site.home)) ?? (await startDaemon(site))
  const throughline = await link.connect()
  const isWanted = !values.flag('remove')
  await throughline.demo(isWanted ? 'on' : 'off')
  const { sessions } = await throughline.list()
  const samples = sessions.filter((session) => session.demo === true).length
  const isOpened = isWanted && !values.flag('no-open') ? await openInBrowser(site, link, throughline) : false
  await throughline.close()
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ address: link.page, samples, isOpened }))
    return 0
  }
  if (!isWanted) {
    console.say('The sample sessions are gone. Nothing else was touched.')
    return 0
  }
  console.say(`${samples} sample sessions are among yours now, at ${link.page}`)
  if (!isOpened) console.say('next: `throughline ls` lists them, `throughline show de300004` shows one.')
  console.say('next: `throughline demo --remove` takes them away again.')
  return 0
}
