import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import { toHtml, toMarkdown, toSize, type Transcript } from '#render'
import { open, rename, rm } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { refuseTerminal } from './show.ts'

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
  const size = await writeFile(out, pieces, { force: values.flag('force') })
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

/** Writes a file that only its owner can read. Without `force` an existing one stays; a failure leaves no half of one. */
async function writeFile(
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  options: { readonly force: boolean },
): Promise<number> {
  const target = options.force ? `${path}.${process.pid}.tmp` : path
  const file = await open(target, 'wx', 0o600).catch((cause: unknown) => {
    throw toWriteError(path, cause)
  })
  let size = 0
  try {
    for await (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      await file.writeFile(bytes)
      size += bytes.length
    }
    await file.sync()
    await file.close()
    if (options.force) await rename(target, path)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(target, { force: true })
    throw error
  }
  return size
}

function toWriteError(path: string, cause: unknown): ThroughlineError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EEXIST') {
    return new ThroughlineError('output-exists', `${path} is already there`, {
      hint: 'Choose another name, or add --force to replace it.',
      cause,
    })
  }
  return new ThroughlineError('output-unwritable', `cannot write ${path}: ${String(code ?? cause)}`, {
    hint: 'Check that the folder exists and that you may write there.',
    cause,
  })
}
