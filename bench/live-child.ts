import { number, parseJson, string } from '#base'
import { append } from './live-appender.ts'
import { openDevices } from './live-devices.ts'
import { serveNaively } from './live-naive.ts'
import { watchAlone } from './live-watch.ts'

/**
 * `node bench/dist/live-child.js <role> <json>`: one side of a live measurement in a process of its own. Says
 * `{"kind":"ready"}` when it is, and its report when its input ends.
 */
const [role = '', input = '{}'] = process.argv.slice(2)
const told = parseJson(input)
const textOf = (key: string): string => string(told, key) ?? ''
const numberOf = (key: string): number => number(told, key) ?? 0

const part = await start()
say({ kind: 'ready' })
process.stdin.resume()
process.stdin.once('end', () => {
  say({ kind: 'report', ...part.report() })
  process.exit(0)
})

async function start(): Promise<{ report(): object }> {
  switch (role) {
    case 'append':
      return append({
        path: textOf('path'),
        sessionId: textOf('sessionId'),
        count: numberOf('count'),
        bytes: numberOf('bytes'),
        perSecond: numberOf('perSecond'),
        from: numberOf('from'),
        onDone: () => say({ kind: 'done' }),
      })
    case 'devices':
      return openDevices({
        port: numberOf('port'),
        token: textOf('token'),
        sessionId: textOf('sessionId'),
        devices: numberOf('devices'),
        from: numberOf('from'),
      })
    case 'naive':
      return serveNaively({
        port: numberOf('port'),
        devices: numberOf('devices'),
        count: numberOf('count'),
        bytes: numberOf('bytes'),
        perSecond: numberOf('perSecond'),
        onDone: () => say({ kind: 'done' }),
      })
    case 'watch':
      return watchAlone({ path: textOf('path'), from: numberOf('from') })
    default:
      throw new RangeError(`no role called ${role}`)
  }
}

function say(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
