import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { follow } from './follow.ts'
import { toJsonLine } from './json.ts'
import { editorOf, findSessionId, findTerminal, getPrompt, toPrompt, withLive } from './live-session.ts'
import { toShortId } from './short.ts'
import type { Site } from './site.ts'

/** `throughline send` */
export async function send(site: Site, values: Values, console: Console): Promise<number> {
  const [query = '', ...words] = values.args
  const text = await getPrompt(words, `send ${query}`)
  return await withLive(site, async (throughline) => {
    const sessionId = await findSessionId(throughline, query)
    const prompt = toPrompt(text)
    const receipt = await throughline.live.prompt(sessionId, prompt)
    const isJson = values.flag('json')
    if (!values.flag('wait')) {
      if (isJson) await console.out.write(toJsonLine({ sessionId, prompt: receipt }))
      else console.say(`Sent to ${toShortId(sessionId)}: ${receipt.state}.`)
      return 0
    }
    const terminal = findTerminal(console, values)
    try {
      return await follow({
        throughline,
        sessionId,
        console,
        isJson,
        promptId: prompt.id,
        ownPrompts: new Set([prompt.id]),
        denyAll: false,
        terminal,
        editor: editorOf(site),
      })
    } finally {
      terminal?.close()
    }
  })
}

/** `throughline interrupt` */
export async function interrupt(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    const sessionId = await findSessionId(throughline, values.arg ?? '')
    await throughline.live.interrupt(sessionId)
    await tell({ sessionId, interrupted: true }, `Interrupted ${toShortId(sessionId)}.`, { values, console })
    return 0
  })
}

/** `throughline end` */
export async function end(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    const sessionId = await findSessionId(throughline, values.arg ?? '')
    await throughline.live.end(sessionId)
    await tell({ sessionId, ended: true }, `Ended ${toShortId(sessionId)}.`, { values, console })
    return 0
  })
}

async function tell(
  facts: object,
  line: string,
  { values, console }: { readonly values: Values; readonly console: Console },
): Promise<void> {
  if (values.flag('json')) await console.out.write(toJsonLine(facts))
  else console.say(line)
}
