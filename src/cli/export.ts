import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import { toHtml, toMarkdown, toSize, type Transcript } from '#render'
import { extname } from 'node:path'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
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
  const pieces = piecesOf(throughline, session, format)
  if (out === undefined) {
    for await (const piece of pieces) await console.out.write(piece)
    return 0
  }
  const size = await writePieces(out, pieces, { force: values.flag('force') })
  console.say(`Wrote ${out}, ${toSize(size)}.`)
  return 0
}

function toFormat(asked: string | undefined, out: string | undefined): Format {
  const named = out === undefined ? 'md' : EXTENSIONS[extname(out).toLowerCase()]
  const format = (['md', 'html', 'jsonl'] as const).find((known) => known === asked) ?? named
  if (format !== undefined) return format
  throw new ThroughlineError('bad-usage', `the name "${out ?? ''}" does not say which format to write`, {
    hint: 'Add --format md, html or jsonl, or end the name with .md, .html or .jsonl.',
  })
}

async function* piecesOf(
  throughline: Throughline,
  session: SessionSummary,
  format: Format,
): AsyncGenerator<string | Uint8Array> {
  if (format === 'jsonl') {
    yield* throughline.bytes(session)
    return
  }
  const transcript: Transcript = {
    // The head of an export names the model and the tokens, which only a full read knows.
    session: session.state === 'unreadable' ? session : await throughline.survey(session),
    passages: throughline.passages(session),
    subagent: (id) => throughline.passages(session, { subagent: id }),
  }
  yield* format === 'html' ? toHtml(transcript) : toMarkdown(transcript)
}
