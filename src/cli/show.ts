import type { Page, Throughline } from '#app'
import { ThroughlineError } from '#base'
import { toMessages, type Passage, type SessionSummary } from '#model'
import { toTerminal } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { findToRead } from './find-session.ts'
import { passagesAround, readAround } from './around.ts'

type Reading = Page['readings'][number]

/** Longer lines are hard to read, however wide the window is. */
const WIDEST = 100

/** `throughline show` */
export async function show(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const last = values.count('last')
  const isModel = values.value('view') === 'model'
  const formats = ['raw', 'json'].filter((name) => values.flag(name))
  if (formats.length > 1) throw clash('--raw and --json say different things', 'Choose one of them.')
  if (isModel && values.flag('raw'))
    throw clash('--raw shows the file, not what the model sees', 'Use --json with --view model.')
  if (values.flag('raw')) refuseTerminal(console)
  const at = values.value('at')
  if (at !== undefined && (last !== undefined || isModel || values.flag('raw'))) {
    throw clash('--at shows what is around one entry', 'Use it alone, or with --full or --json.')
  }

  const session = await findToRead(throughline, values.arg ?? '', console)
  const around = at === undefined ? undefined : await readAround(throughline, session, at)
  if (values.flag('raw')) await showRaw(throughline, session, { last, console })
  else if (values.flag('json') && around !== undefined) await showJson(around.readings, console)
  else if (values.flag('json')) await showJson(readings(throughline, session, { last, isModel }), console)
  else {
    const { colour, width } = console
    const pieces = toTerminal(
      {
        session,
        passages:
          around !== undefined
            ? passagesAround(around)
            : isModel
              ? modelPassages(throughline, session, last)
              : throughline.passages(session, last === undefined ? {} : { last }),
        subagent: (id) => throughline.passages(session, { subagent: id }),
      },
      { colour, width: Math.min(width, WIDEST), full: values.flag('full') },
    )
    for await (const piece of pieces) await console.out.write(piece)
  }
  return 0
}

/** The bytes of a transcript may hold anything; a terminal obeys some of it. */
export function refuseTerminal(console: Console): void {
  if (!console.isTerminal) return
  throw clash(
    'the bytes of a transcript are not written to a terminal',
    'Send them to a file or a program: `… > copy.jsonl`, `… | jq`.',
  )
}

function clash(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('bad-usage', message, { hint })
}

async function showRaw(
  throughline: Throughline,
  session: SessionSummary,
  options: { readonly last: number | undefined; readonly console: Console },
): Promise<void> {
  let skip = 0
  if (options.last !== undefined) {
    const [first] = (await throughline.page(session, { limit: options.last })).readings
    if (first === undefined) return
    skip = first.kind === 'entry' ? first.entry.place.offset : first.damage.offset
  }
  for await (const piece of throughline.bytes(session)) {
    const left = piece.subarray(Math.min(skip, piece.length))
    skip -= piece.length - left.length
    await options.console.out.write(left)
  }
}

async function* readings(
  throughline: Throughline,
  session: SessionSummary,
  options: { readonly last: number | undefined; readonly isModel: boolean },
): AsyncGenerator<Reading> {
  const { last, isModel } = options
  if (isModel) {
    const entries = await throughline.conversation(session)
    for (const entry of last === undefined ? entries : entries.slice(-last)) yield { kind: 'entry', entry }
  } else if (last === undefined) {
    yield* throughline.entries(session)
  } else {
    yield* (await throughline.page(session, { limit: last })).readings
  }
}

async function showJson(all: AsyncIterable<Reading> | readonly Reading[], console: Console): Promise<void> {
  for await (const reading of all) {
    if (reading.kind === 'damage') await console.out.write(toJsonLine(reading))
    else {
      const { raw: _bytes, ...entry } = reading.entry
      await console.out.write(toJsonLine({ kind: 'entry', entry }))
    }
  }
}

async function* modelPassages(
  throughline: Throughline,
  session: SessionSummary,
  last: number | undefined,
): AsyncGenerator<readonly Passage[]> {
  const messages = toMessages(await throughline.conversation(session))
  yield last === undefined ? messages : messages.slice(-last)
}
