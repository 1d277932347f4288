import type { Throughline } from '#app'
import { TARGETS } from '#model'
import { toCount, toPlural, toSize } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLossLines } from './losses.ts'
import { writePieces } from './write-output.ts'

/** `throughline restore` */
export async function restore(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const { id } = await throughline.get(values.arg ?? '')
  const target = TARGETS.find((known) => known === values.value('to')) ?? 'anthropic'
  const restored = await throughline.restoring.restore(id, target)
  if (values.flag('json')) {
    await console.out.write(toJsonLine(restored))
    return 0
  }
  const text = `${JSON.stringify(restored.messages, undefined, 2)}\n`
  const out = values.value('out')
  if (out === undefined) await console.out.write(text)
  else {
    const size = await writePieces(out, [text], { force: values.flag('force') })
    console.say(`Wrote ${out}, ${toSize(size)}.`)
  }
  console.say(
    'Secrets in it are as they were said. To pass a session on, use throughline export as md or html.',
  )
  const { messages, turns, tokens, pending } = restored
  console.say(
    `${toPlural(messages.length, 'message')} of ${toPlural(turns.length, 'turn')}; ${toCount(tokens.context)} tokens in the window.`,
  )
  for (const { name } of pending) console.say(`The call of ${name} was never answered.`)
  for (const line of toLossLines(restored.losses, console)) console.say(line)
  return 0
}
