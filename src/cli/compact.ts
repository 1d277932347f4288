import type { Throughline } from '#app'
import { isNativeAgent } from '#model'
import { toCount, toPlural } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toShortId } from './short.ts'

/** `throughline compact` */
export async function compact(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const { id, agent } = await throughline.get(values.arg ?? '')
  const { restoring } = throughline
  if (values.flag('undo')) {
    const state = await restoring.undoCompaction(id)
    if (values.flag('json')) await console.out.write(toJsonLine(state))
    else console.say('Taken back: the conversation is what it was.')
    return 0
  }
  const keepTurns = values.count('keep')
  const record = await restoring.compact(id, {
    ...(keepTurns === undefined ? {} : { keepTurns }),
    ...(values.value('by') === 'agent' ? { by: 'agent' } : {}),
  })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(record))
    return 0
  }
  const { turns, trims, tokens, by } = record
  console.say(
    by === 'trim'
      ? `${toPlural(trims.length, 'long piece')} shortened; every turn stays.`
      : `${toPlural(turns.summarised, 'turn')} summarised, ${turns.kept} kept word by word.`,
  )
  console.say(`About ${toCount(tokens.before)} tokens before, ${toCount(tokens.after)} after.`)
  console.say("The session's own file is as it was; `throughline compact --undo` takes it back.")
  // The agent itself knows nothing of it: it goes on with it in a session that begins with the summary.
  if (isNativeAgent(agent)) console.say(`next: throughline resume ${toShortId(id)} --in ${agent}`)
  return 0
}
