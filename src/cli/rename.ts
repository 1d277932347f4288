import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toShortId } from './short.ts'

/** `throughline rename` */
export async function rename(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const name = values.args.slice(1).join(' ').trim()
  const isCleared = values.flag('clear')
  if (isCleared === (name !== '')) {
    throw new ThroughlineError(
      'bad-usage',
      isCleared ? 'a name and --clear say different things' : 'rename needs a name',
      { hint: 'Give a name, or --clear to take it back.' },
    )
  }
  const session = await throughline.get(values.arg ?? '')
  const renamed = await throughline.rename(session, isCleared ? undefined : name)
  const line = `${toShortId(renamed.id)} is now called ${renamed.name ?? '–'}`
  await tell(renamed, { line, isJson: values.flag('json'), console })
  return 0
}

/** `throughline star` */
export async function star(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const isStarred = !values.flag('clear')
  const session = await throughline.star(await throughline.get(values.arg ?? ''), isStarred)
  const what = isStarred ? 'has a star' : 'has no star any more'
  const line = `${toShortId(session.id)} ${what}: ${session.name ?? '–'}`
  await tell(session, { line, isJson: values.flag('json'), console })
  return 0
}

async function tell(
  session: SessionSummary,
  options: { readonly line: string; readonly isJson: boolean; readonly console: Console },
): Promise<void> {
  const { console } = options
  if (options.isJson) {
    const { id, name, nameFrom, starred } = session
    await console.out.write(
      toJsonLine({ id, name: name ?? null, nameFrom: nameFrom ?? null, starred: starred ?? false }),
    )
  } else console.say(options.line)
}
