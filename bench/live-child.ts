import { createInterface } from 'node:readline'
import { number, object, parseJson, string } from '#base'

/**
 * `node bench/dist/live-child.js <role> <json>`: one side of a live measurement in a process of its own. Says
 * `{"kind":"ready"}` when it is, answers the lines it is told, and says its report when its input ends.
 */
const [role = '', input = '{}'] = process.argv.slice(2)
const told = parseJson(input)
const textOf = (key: string): string => string(told, key) ?? ''
const numberOf = (key: string): number => number(told, key) ?? 0

interface Part {
  readonly facts?: object
  answer?(asked: unknown): Promise<object>
  report(): object
}

const part = await start()
say({ kind: 'ready', ...part.facts })
let asked = 0
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => void answer(++asked, parseJson(line)))
lines.once('close', () => {
  say({ kind: 'report', ...part.report() })
  process.exit(0)
})

async function answer(nth: number, value: unknown): Promise<void> {
  const said = (await part.answer?.(value).catch((error: unknown) => ({ failed: String(error) }))) ?? {}
  say({ ...said, kind: `answer ${nth}` })
}

/** Loads what its role needs and nothing else: the memory of some is measured. */
async function start(): Promise<Part> {
  switch (role) {
    case 'append':
      return (await import('./live-appender.ts')).append({
        path: textOf('path'),
        sessionId: textOf('sessionId'),
        count: numberOf('count'),
        bytes: numberOf('bytes'),
        perSecond: numberOf('perSecond'),
        from: numberOf('from'),
        onDone: () => say({ kind: 'done' }),
      })
    case 'devices':
      return (await import('./live-devices.ts')).openDevices({
        port: numberOf('port'),
        token: textOf('token'),
        sessionId: textOf('sessionId'),
        devices: numberOf('devices'),
        from: numberOf('from'),
        topic: textOf('topic') === 'live' ? 'live' : 'session',
      })
    case 'broadcast':
      return (await import('./running-broadcast.ts')).broadcast({
        port: numberOf('port'),
        devices: numberOf('devices'),
        count: numberOf('count'),
        perSecond: numberOf('perSecond'),
        onDone: () => say({ kind: 'done' }),
      })
    case 'ear':
      return (await import('./running-ear.ts')).openEar(textOf('socket'))
    case 'model': {
      const { openModelApi } = await import('#testing')
      const { url } = await openModelApi()
      return { facts: { url }, report: () => ({}) }
    }
    case 'sdk':
      return (await import('./running-sdk.ts')).openSdk({
        executable: textOf('executable'),
        workdir: textOf('workdir'),
        env: object(told, 'env') ?? {},
      })
    case 'naive':
      return (await import('./live-naive.ts')).serveNaively({
        port: numberOf('port'),
        devices: numberOf('devices'),
        count: numberOf('count'),
        bytes: numberOf('bytes'),
        perSecond: numberOf('perSecond'),
        onDone: () => say({ kind: 'done' }),
      })
    case 'watch':
      return (await import('./live-watch.ts')).watchAlone({ path: textOf('path'), from: numberOf('from') })
    default:
      throw new RangeError(`no role called ${role}`)
  }
}

function say(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
