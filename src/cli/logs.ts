import { isObject, parseJson } from '#base'
import { safeLine } from '#render'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLogLine } from './log-line.ts'
import { toShortPath } from './short.ts'
import { logPathOf, type Site } from './site.ts'

const USUAL = 50
/** Nobody reads more of a log in a terminal. */
const MOST_BYTES = 4 * 1024 * 1024
const PAUSE_MS = 200

/** `throughline logs` */
export async function logs(site: Site, values: Values, console: Console): Promise<number> {
  const path = logPathOf(site)
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) {
    console.say('Nothing was logged yet.')
    console.say(`note: looked for ${toShortPath(path, console.home)}`)
    console.say('next: start the daemon with `throughline`.')
    return 0
  }
  const print = async (line: string): Promise<void> => {
    if (line === '') return
    const found = parseJson(line)
    // What is no JSON is what a daemon said that died.
    const fields = isObject(found) ? found : { line }
    if (values.flag('json')) await console.out.write(toJsonLine(fields))
    else await console.out.write(`${isObject(found) ? toLogLine(found, console) : safeLine(line)}\n`)
  }
  const { size } = await file.stat()
  const from = Math.max(0, size - MOST_BYTES)
  const text = await readFrom(file, from)
  const lines = text.split('\n')
  // The first one may have lost its beginning, the last one is not whole yet.
  const whole = lines.slice(from > 0 ? 1 : 0, -1)
  for (const line of whole.slice(-(values.count('lines') ?? USUAL))) await print(line)
  if (!values.flag('follow')) {
    await print(lines.at(-1) ?? '')
    await file.close()
    return 0
  }
  await console.out.flush()
  await follow(path, {
    flush: () => console.out.flush(),
    file,
    from: size - Buffer.byteLength(lines.at(-1) ?? ''),
    print,
  })
  return 0
}

/** Goes on until the process ends, also with the next file when a long one was set aside. */
async function follow(
  path: string,
  start: {
    readonly file: FileHandle
    readonly from: number
    readonly print: (line: string) => Promise<void>
    readonly flush: () => Promise<void>
  },
): Promise<never> {
  let { file, from } = start
  for (;;) {
    const lines = (await readFrom(file, from)).split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      await start.print(line)
      from += Buffer.byteLength(line) + 1
    }
    await start.flush()
    const [now, held] = await Promise.all([stat(path).catch(() => undefined), file.stat()])
    if (now !== undefined && now.ino !== held.ino && rest === '') {
      await file.close()
      file = await open(path, 'r')
      from = 0
    }
    await sleep(PAUSE_MS)
  }
}

async function readFrom(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.max(0, size - from))
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
  return bytes.subarray(0, bytesRead).toString('utf8')
}
