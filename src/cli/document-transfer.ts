import { readFile } from 'node:fs/promises'
import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { safeLine, toPlural } from '#render'
import type { ImportReport } from '#wire'
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

/** What an import came to, and what did not come along. */
export async function tellImport(report: ImportReport, values: Values, console: Console): Promise<number> {
  if (values.flag('json')) {
    await console.out.write(toJsonLine(report))
    return 0
  }
  console.say(`${toPlural(report.added, 'document')} came in, ${report.known} were known.`)
  for (const { place, reason } of report.losses) console.say(`note: ${place}: ${reason}`)
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
