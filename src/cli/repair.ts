import type { Throughline } from '#app'
import type { Trouble } from '#model'
import { safeLine, toPlural } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'

/** `throughline repair` */
export async function repair(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const { id } = await throughline.get(values.arg ?? '')
  if (values.flag('dry-run')) return await tell(throughline, id, { values, console })
  const outcome = await throughline.restoring.repair(id)
  if (values.flag('json')) await console.out.write(toJsonLine(outcome))
  else {
    await console.out.write(outcome.mended.map((trouble) => toLine('mended', trouble)).join(''))
    await console.out.write(outcome.left.map((trouble) => toLine('left', trouble)).join(''))
    if (outcome.sessionId === undefined) console.say(toUnrepaired(outcome.left))
    else {
      console.say(
        `The mended copy is ${outcome.sessionId}. The old session is as it was, and listed alone until something is said in the copy.`,
      )
      console.say(`next: ${(outcome.command ?? ['throughline', 'resume', outcome.sessionId]).join(' ')}`)
    }
  }
  return outcome.left.length > 0 ? 1 : 0
}

async function tell(
  throughline: Throughline,
  id: string,
  { values, console }: { readonly values: Values; readonly console: Console },
): Promise<number> {
  const preflight = await throughline.restoring.preflight(id)
  if (values.flag('json')) await console.out.write(toJsonLine(preflight))
  else {
    const { troubles } = preflight
    const failing = troubles.filter(({ isHandled }) => isHandled !== true)
    await console.out.write(
      troubles.map((trouble) => toLine(trouble.isHandled === true ? 'noted' : 'found', trouble)).join(''),
    )
    for (const line of toSummary(failing, troubles.length - failing.length)) console.say(line)
    if (preflight.isFull) console.say('The window is nearly full. next: throughline compact')
  }
  return preflight.troubles.some(({ mend }) => mend === undefined) ? 1 : 0
}

/** What was found, in numbers: what fails, what of it can be repaired, and what the agent repairs itself. */
function toSummary(failing: readonly Trouble[], handled: number): readonly string[] {
  const lines =
    failing.length === 0
      ? ['Nothing would fail the next request.']
      : [`${toPlural(failing.length, 'problem')} would make resuming fail.`]
  if (failing.length > 0 && failing.every(({ mend }) => mend === undefined)) lines.push(toUnrepaired(failing))
  if (handled > 0)
    lines.push(
      `${toPlural(handled, 'problem')} the agent puts right itself when it resumes; other programs would fail.`,
    )
  return lines
}

function toUnrepaired(left: readonly Trouble[]): string {
  return left.length === 0
    ? 'There is nothing to repair.'
    : `There is nothing that a copy would repair: ${toPlural(left.length, 'problem')} left for you.`
}

function toLine(word: string, { kind, reason, fix, origin, place }: Trouble): string {
  const where = `entry ${safeLine(origin.entryId)} at byte ${place.offset}`
  return `${word.padEnd(7)} ${kind}: ${safeLine(reason)} (${where})\n        → ${safeLine(fix)}\n`
}
