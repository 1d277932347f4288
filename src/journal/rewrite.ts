import { readFile } from 'node:fs/promises'
import { parseJson } from '#base'
import { NEWLINE } from './line.ts'
import { replaceFile } from './replace-file.ts'
import { openSharedJournal } from './shared-journal.ts'

/**
 * Takes lines out of a journal for good, and puts others behind the rest. Nobody writes meanwhile; whoever reads finds
 * the old file or the new one, whole. Everything that is not taken out keeps its bytes, damage included. Says how many
 * lines were taken out: none, and nothing is written.
 */
export async function rewriteSharedJournal(
  path: string,
  { takesOut, added }: { readonly takesOut: (value: unknown) => boolean; readonly added: readonly object[] },
): Promise<number> {
  const journal = await openSharedJournal(path)
  try {
    const kept: Buffer[] = []
    let removed = 0
    for (const line of toLines(await readFile(path))) {
      if (takesOut(parseJson(line.toString('utf8')))) removed++
      else kept.push(line)
    }
    if (removed === 0) return 0
    const news = added.map((value) => Buffer.from(`${JSON.stringify(value)}\n`))
    await replaceFile(path, Buffer.concat([...kept, ...news]))
    return removed
  } finally {
    await journal.close()
  }
}

/** The lines of a file, each with its newline. */
function* toLines(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from)
    const to = newline < 0 ? bytes.length : newline + 1
    yield bytes.subarray(from, to)
    from = to
  }
}
