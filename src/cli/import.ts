import type { Throughline } from '#app'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { readGiven, tellImport, toImport } from './document-transfer.ts'
import { FIREPROOF_EXPORTER } from './fireproof-exporter.ts'
import { toJsonLine } from './json.ts'
import { writeOutput } from './write-output.ts'

/** `throughline import` */
export async function importFrom(
  throughline: Throughline,
  values: Values,
  console: Console,
): Promise<number> {
  const file = values.args[1]
  if (!values.flag('exporter')) {
    const text = await readGiven(file)
    const request = toImport('fireproof', text, { file, values })
    return await tellImport(await throughline.memory.import(request), values, console)
  }
  const page = file ?? 'fireproof-export.html'
  await writeOutput(page, FIREPROOF_EXPORTER, { force: values.flag('force') })
  if (values.flag('json')) await console.out.write(toJsonLine({ page }))
  else {
    console.say(`Wrote ${page}.`)
    console.say(
      'next: put it where the old application was served from, and open it there in the same browser.',
    )
  }
  return 0
}
