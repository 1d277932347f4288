import { exportSession as toExport, type SessionExport, type Throughline } from '#app'
import { ThroughlineError } from '#base'
import { toSize } from '#render'
import { extname } from 'node:path'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { refuseTerminal } from './show.ts'
import { writePieces } from './write-output.ts'

type Format = 'md' | 'html' | 'jsonl'

const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.md': 'md',
  '.markdown': 'md',
  '.html': 'html',
  '.htm': 'html',
  '.jsonl': 'jsonl',
}

/** `throughline export` */
export async function exportSession(
  throughline: Throughline,
  values: Values,
  console: Console,
): Promise<number> {
  const out = values.value('out')
  const format = toFormat(values.value('format'), out)
  if (out === undefined && format === 'jsonl') refuseTerminal(console)
  const session = await throughline.get(values.arg ?? '')
  const secrets = values.value('secrets') === 'keep' ? 'keep' : 'mask'
  const pieces = toExport(throughline, session, { format, secrets })
  if (out === undefined) {
    for await (const piece of pieces) await console.out.write(piece)
  } else {
    const size = await writePieces(out, pieces, { force: values.flag('force') })
    if (values.flag('json'))
      await console.out.write(toJsonLine({ sessionId: session.id, out, bytes: size, format }))
    else console.say(`Wrote ${out}, ${toSize(size)}.`)
  }
  const note = findNote(pieces, { format, secrets })
  if (note !== undefined) console.say(note)
  return 0
}

/** What the person should know before the file is passed on. */
function findNote(
  { secrets: found, isSearched }: SessionExport,
  { format, secrets }: { readonly format: Format; readonly secrets: 'mask' | 'keep' },
): string | undefined {
  const kinds = [...found].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ')
  if (format === 'jsonl') {
    if (found.size > 0)
      return `warning: the copy holds secrets (${kinds}). It is exact, so they are in it. To pass it on, use md or html.`
    return isSearched
      ? undefined
      : 'warning: the copy was not searched to its end. Secrets in it are not masked. To pass it on, use md or html.'
  }
  if (secrets === 'keep')
    return 'warning: secrets were not looked for, as you asked. Whoever reads it reads them.'
  return found.size === 0 ? undefined : `note: masked what looked like secrets: ${kinds}.`
}

function toFormat(asked: string | undefined, out: string | undefined): Format {
  const named = out === undefined ? 'md' : EXTENSIONS[extname(out).toLowerCase()]
  const format = (['md', 'html', 'jsonl'] as const).find((known) => known === asked) ?? named
  if (format !== undefined) return format
  throw new ThroughlineError('bad-usage', `the name "${out ?? ''}" does not say which format to write`, {
    hint: 'Add --format md, html or jsonl, or end the name with .md, .html or .jsonl.',
  })
}
