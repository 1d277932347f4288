import { resolve } from 'node:path'
import type { Throughline } from '#app'
import { toShellLine } from '#render'
import { readNativeAgent, type ContinueOutcome } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLossLines } from './losses.ts'

const HOW: Readonly<Record<ContinueOutcome['workdirFrom'], string>> = {
  given: 'as you said',
  map: 'as team.workdirs says',
  remote: 'a clone of the same repository',
  same: 'the same path as over there',
}

/** `throughline continue` */
export async function continueSession(
  throughline: Throughline,
  values: Values,
  console: Console,
): Promise<number> {
  const session = await throughline.get(values.args[0] ?? '')
  const [workdir, to] = [values.value('workdir'), values.value('in')]
  const outcome = await throughline.team.continueHere(session.id, {
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
    ...(to === undefined ? {} : { to: readNativeAgent(to) }),
    ...(values.flag('take-over') ? { takeOver: true } : {}),
  })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(outcome))
    return 0
  }
  console.say(`It goes on here as ${outcome.sessionId}, in ${outcome.workdir} (${HOW[outcome.workdirFrom]}).`)
  for (const line of toLossLines(outcome.losses, console)) console.say(line)
  console.say(`next: ${toShellLine(outcome.command, outcome.workdir)}`)
  return 0
}
