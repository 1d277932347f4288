import { ThroughlineError } from '#base'
import { openInBrowser } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import { createSandbox, quote } from './sandbox.ts'
import type { Site } from './site.ts'
import { startDaemon } from './start.ts'

/** `throughline demo` */
export async function demo(own: Site, values: Values, console: Console): Promise<number> {
  if (values.flag('sandbox') && values.flag('remove')) {
    throw new ThroughlineError('bad-usage', 'a sandbox is removed with its folder', {
      hint: 'Use the command that `demo --sandbox` printed.',
    })
  }
  const sandbox = values.flag('sandbox') ? createSandbox(own) : undefined
  const site = sandbox?.site ?? own
  const link = (await findDaemon(site.home)) ?? (await startDaemon(site))
  const throughline = await link.connect()
  const isWanted = !values.flag('remove')
  await throughline.demo(isWanted ? 'on' : 'off')
  const { sessions } = await throughline.list()
  const samples = sessions.filter((session) => session.demo === true).length
  const isOpened = isWanted && !values.flag('no-open') ? await openInBrowser(site, link, throughline) : false
  await throughline.close()
  if (values.flag('json')) {
    const { folder, envFile } = sandbox ?? {}
    await console.out.write(toJsonLine({ address: link.page, samples, isOpened, folder, envFile }))
    return 0
  }
  if (!isWanted) {
    console.say('The sample sessions are gone. Nothing else was touched.')
    return 0
  }
  if (sandbox !== undefined) {
    const { folder, envFile } = sandbox
    console.say(`${samples} sample sessions are in a sandbox, at ${link.page}`)
    console.say('note: no session of yours, of any agent, is read, archived or written there')
    await console.out.write(`. ${quote(envFile)}\n`)
    console.say(`next: \`. ${quote(envFile)}\` makes every \`throughline\` of this shell one of the sandbox.`)
    console.say(
      `next: remove it with THROUGHLINE_HOME=${quote(site.home)} throughline stop && rm -r ${quote(folder)}`,
    )
    return 0
  }
  console.say(`${samples} sample sessions are among yours now, at ${link.page}`)
  if (!isOpened) console.say('next: `throughline ls` lists them, `throughline show de300004` shows one.')
  console.say('next: `throughline demo --remove` takes them away again.')
  return 0
}
