import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { converse } from './conversation.ts'
import { editorOf, findSessionId, findTerminal, withLive } from './live-session.ts'
import { toShortId, toShortPath } from './short.ts'
import type { Site } from './site.ts'

/** `throughline attach` */
export async function attach(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    const sessionId = await findSessionId(throughline, values.arg ?? '')
    const view = await throughline.live.view(sessionId)
    const isJson = values.flag('json')
    const terminal = findTerminal(console, values)
    if (!isJson) {
      const where = toShortPath(view.workdir, console.home)
      console.say(`note: ${view.agent} · ${toShortId(sessionId)} · ${where} · mode ${view.mode}`)
      if (terminal !== undefined)
        console.say('note: Ctrl-C interrupts a turn, Ctrl-D leaves the session alone.')
    }
    try {
      return await converse({ throughline, sessionId, console, isJson, terminal, editor: editorOf(site) })
    } finally {
      terminal?.close()
    }
  })
}
