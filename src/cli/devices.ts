import { ThroughlineError } from '#base'
import { safeLine } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { getDaemon } from './daemon-link.ts'
import { isBeginningOf } from './id-beginning.ts'
import { toJsonLine } from './json.ts'
import { toAge } from './short.ts'
import type { Site } from './site.ts'
import { toTable } from './table.ts'

/** `throughline devices` */
export async function devices(site: Site, values: Values, console: Console): Promise<number> {
  const throughline = await (await getDaemon(site.home)).connect()
  const known = await throughline.devices()
  const asked = values.value('revoke')
  if (asked !== undefined) {
    const [device, second] = known.filter(({ id }) => isBeginningOf(asked, id))
    if (device === undefined || second !== undefined) throw noSuchDevice(asked, second !== undefined)
    await throughline.revoke(device.id)
    if (values.flag('json')) await console.out.write(toJsonLine({ revoked: device.id }))
    else console.say(`${device.id} (${device.label === '' ? 'no name' : device.label}) is logged out.`)
    return 0
  }
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ devices: known }))
    return 0
  }
  if (known.length === 0) {
    console.say('No device is logged in.')
    console.say('next: `throughline open` for a browser here, `throughline pair` for another device.')
    return 0
  }
  const rows = known.map(({ id, label, addedAt, lastSeenAt }) => [
    { text: label === '' ? '–' : safeLine(label) },
    { text: toAge(addedAt, console.now) },
    { text: toAge(lastSeenAt, console.now) },
    { text: safeLine(id), style: 'code' as const },
  ])
  const columns = [
    { title: 'device', share: 1 },
    { title: 'added', align: 'right' as const },
    { title: 'seen', align: 'right' as const },
    { title: 'id' },
  ]
  await console.out.write(toTable(columns, rows, console))
  return 0
}

function noSuchDevice(id: string, isAmbiguous: boolean): ThroughlineError {
  return new ThroughlineError(
    'bad-usage',
    isAmbiguous ? `more than one device has an id that begins with ${id}` : `there is no device ${id}`,
    { hint: 'Run `throughline devices` to see them.' },
  )
}
