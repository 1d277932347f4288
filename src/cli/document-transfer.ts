import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { safeLine, toPlural } from '#render'
import type { ImportReport, ImportRequest } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { readPrompt } from './live-session.ts'
import { writeOutput } from './write-output.ts'

type Memory = Throughline['memory']

/** Writes every document with every version. */
export async function exportAll(memory: Memory, values: Values, console: Console): Promise<number> {
  const out = values.value('out')
  const text = await memory.export()
  if (out === undefined) {
    await console.out.write(text)
    return 0
  }
  await writeOutput(out, text, { force: values.flag('force') })
  console.say(`Wrote ${out}, ${toPlural(text === '' ? 0 : text.split('\n').length - 1, 'line')}.`)
  return 0
}

/** What is asked of memory when a file is imported. */
export function toImport(
  format: ImportRequest['format'],
  text: string,
  { file, values }: { readonly file: string | undefined; readonly values: Values },
): ImportRequest {
  const from = file === undefined || file === '-' ? {} : { from: `the file ${basename(file)}` }
  const workdir = resolve(values.value('workdir') ?? '.')
  return { format, text, workdir, ...from, ...(values.flag('accept') ? { accept: true } : {}) }
}

/** What an import came to, and what did not come along. */
export async function tellImport(report: ImportReport, values: Values, console: Console): Promise<number> {
  if (values.flag('json')) {
    await console.out.write(toJsonLine(report))
    return 0
  }
  console.say(`Imported ${toPlural(report.added, 'document')}; ${report.known} already known.`)
  if (report.sessions.length > 0) {
    console.say(`${toPlural(report.sessions.length, 'conversation')} can be read as sessions:`)
    console.say(`next: throughline ls; throughline show ${report.sessions[0] ?? ''}`)
  }
  for (const { place, reason } of report.losses) console.say(`note: ${place}: ${reason}`)
  if (report.held > 0) {
    console.say(`note: ${report.held} held until you approve: no session is told of them.`)
    console.say(
      'next: throughline documents review; or, for a file of your own, the same command with --accept.',
    )
  }
  return 0
}

/** The text of a file, or of a pipe. */
export async function readGiven(file: string | undefined): Promise<string> {
  if (file === undefined) {
    throw new ThroughlineError('bad-usage', 'import needs a file', {
      hint: 'Give its name, or `-` for a pipe.',
    })
  }
  const text = file === '-' ? await readPrompt(['-']) : await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return text
  throw new ThroughlineError('bad-usage', `${safeLine(file)} cannot be read`, {
    hint: 'Check its name, and that you may read it.',
  })
}
