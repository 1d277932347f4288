import { resolve } from 'node:path'
import { finishRecordingsIn, readConfig } from '#app'
import { safeLine, toPlural } from '#render'
import { homedir } from 'node:os'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toShortId, toShortPath } from './short.ts'

/** `throughline check --finish` */
export async function finishAll(
  folder: string | undefined,
  { isJson, console }: { readonly isJson: boolean; readonly console: Console },
): Promise<number> {
  const where = resolve(folder ?? '.')
  const config = readConfig({ env: process.env, homeDir: homedir() })
  const recordings = await finishRecordingsIn(where, config)
  const failed = recordings.filter(({ outcome }) => outcome === 'failed')
  if (isJson) await console.out.write(toJsonLine({ folder: where, recordings }))
  else {
    for (const recording of recordings) await console.out.write(toLine(recording, console))
    await console.out.write(
      recordings.length === 0
        ? `No recordings in ${toShortPath(where, console.home)}.\n`
        : `${console.paint('strong', `${toPlural(recordings.length, 'recording')}, ${failed.length} failed`)}\n`,
    )
  }
  return failed.length > 0 ? 1 : 0
}

type Finished = Awaited<ReturnType<typeof finishRecordingsIn>>[number]

function toLine({ sessionId, outcome, mended, wrote, swept, failure }: Finished, { paint }: Console): string {
  const done = [
    ...mended.map(() => 'set a torn tail aside'),
    ...wrote.map((name) => `wrote ${name}`),
    ...(swept === 0 ? [] : [`removed ${toPlural(swept, 'blob')} that no line needs`]),
  ]
  const words = { finished: done.join(', ') || 'nothing to do', held: 'is being written, left alone' }
  const said = outcome === 'failed' ? paint('error', `failed: ${safeLine(failure ?? '')}`) : words[outcome]
  return `${paint('code', toShortId(sessionId))}  ${said}\n`
}
