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
    if (outcome.sessionId === undefined) console.say('There is nothing to mend.')
    await console.out.write(outcome.mended.map((trouble) => toLine('mended', trouble)).join(''))
    await console.out.write(outcome.left.map((trouble) => toLine('left', trouble)).join(''))
    if (outcome.sessionId !== undefined) {
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
    await console.out.write(preflight.troubles.map((trouble) => toLine('found', trouble)).join(''))
    console.say(
      preflight.troubles.length === 0
        ? 'Nothing would fail the next request.'
        : `${toPlural(preflight.troubles.length, 'thing')} would fail the next request.`,
    )
    if (preflight.isFull) console.say('The window is nearly full. next: throughline compact')
  }
  return preflight.troubles.some(({ mend }) => mend === undefined) ? 1 : 0
}

function toLine(word: string, { kind, reason, fix, origin, place }: Trouble): string {
  const where = `entry ${safeLine(origin.entryId)} at byte ${place.offset}`
  return `${word.padEnd(7)} ${kind}: ${safeLine(reason)} (${where})\n        → ${safeLine(fix)}\n`
}
