import { findAlarms, findRecorders, type RecorderState } from '#app'
import type { Health, LiveSession } from '#wire'
import { safeLine, toPlural, toSize } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { describeConnection } from './connect.ts'
import { findDaemon, type DaemonLink } from './daemon-link.ts'
import { describeIndex } from './index-line.ts'
import { toJsonLine } from './json.ts'
import { sayTroubles } from './setting-troubles.ts'
import { toAge, toShortId, toShortPath } from './short.ts'
import type { Site } from './site.ts'

const NOT_RUNNING = 3

const TEAM: Readonly<Record<NonNullable<Health['team']>, string>> = {
  connecting: 'the database is being asked',
  connected: 'connected',
  away: 'the database does not answer; `throughline team` says more',
}

/** `throughline status` */
export async function status(site: Site, values: Values, console: Console): Promise<number> {
  const link = await findDaemon(site.home)
  const connection = describeConnection(site)
  const recorders = await findRecorders(site.home)
  const alarms = findAlarms(recorders, site.claudeDir)
  const recording = { recorders: recorders.map((one) => toPlainRecorder(one, alarms)) }
  if (link === undefined) {
    if (values.flag('json'))
      await console.out.write(toJsonLine({ running: false, claudeCode: connection.state, ...recording }))
    else {
      for (const one of recorders) console.say(`recording: ${toRecorder(one, console)}`)
      for (const { message } of alarms) console.say(`error: ${safeLine(message)}`)
      await sayTroubles(site.home, console)
      if (connection.state !== 'absent') console.say(`Claude Code: ${connection.words}`)
      console.say('No daemon runs for this home.')
      console.say('next: start it with `throughline`.')
    }
    return NOT_RUNNING
  }
  const throughline = await link.connect()
  const [health, devices] = await Promise.all([throughline.health(), throughline.devices()])
  if (values.flag('json')) {
    const plain = {
      running: true,
      address: link.page,
      port: link.port,
      ...health,
      devices: devices.length,
      claudeCode: connection.state,
      ...recording,
    }
    await console.out.write(toJsonLine(plain))
    return 0
  }
  const rows = [
    ...toRows(link, health, {
      devices: devices.length,
      console,
      version: site.version,
      connection: connection.words,
    }),
    ...recorders.map((one) => ['recording', toRecorder(one, console)] as const),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const { paint } = console
  for (const [name, text] of rows) {
    await console.out.write(`${paint('dim', name.padEnd(width))}  ${text}\n`)
  }
  for (const { message } of alarms) await console.out.write(`\n${paint('warning', safeLine(message))}\n`)
  for (const { at, message, hint } of health.notices) {
    const age = toAge(at, console.now)
    await console.out.write(
      `\n${paint('warning', safeLine(message))} ${paint('dim', age)}\n→ ${safeLine(hint)}\n`,
    )
  }
  return 0
}

function toRows(
  link: DaemonLink,
  health: Health,
  options: {
    readonly devices: number
    readonly console: Console
    readonly version: string
    readonly connection: string
  },
): readonly (readonly [name: string, text: string])[] {
  const { console } = options
  const { paint } = console
  const { sessions, archive } = health
  const other = health.version === options.version ? '' : paint('warning', ` (this is ${options.version})`)
  const waiting =
    sessions.waitingForYou === 0 ? '' : ` · ${paint('warning', `${sessions.waitingForYou} waiting for you`)}`
  return [
    ['address', paint('code', link.page)],
    [
      'process',
      `pid ${health.pid}, up ${toAge(health.startedAt, console.now).replace('now', 'less than a minute')}`,
    ],
    ['version', `${safeLine(health.version)}${other}`],
    ['sessions', `${toPlural(sessions.total, 'session')} · ${sessions.live.length} live${waiting}`],
    ...sessions.live.map((live) => ['', toLive(live, console)] as const),
    ['index', describeIndex(health.index)],
    [
      'archive',
      archive.enabled
        ? `${toPlural(archive.files, 'file')}, of which ${toPlural(archive.goneSessions, 'session')} (${toSize(archive.bytes)}) are only there`
        : 'off',
    ],
    ...(health.team === undefined ? [] : [['team', TEAM[health.team]] as const]),
    ['devices', `${options.devices} logged in`],
    ['claude', options.connection],
  ]
}

function toLive({ id, name, workdir, live }: LiveSession, { paint, home }: Console): string {
  const isWaiting = live.status === 'waiting'
  const state = isWaiting ? `waiting: ${safeLine(live.waitingFor ?? 'for you')}` : live.status
  const mark = isWaiting ? paint('warning', '◆') : paint('live', live.status === 'busy' ? '●' : '○')
  const where = workdir === undefined ? '' : paint('dim', `  ${toShortPath(workdir, home)}`)
  return `${mark} ${paint('code', toShortId(id))}  ${safeLine((name ?? '–').slice(0, 60))}  ${paint('dim', state)}${where}`
}

/** A proxy that records, in a line. */
function toRecorder({ mode, program, port, conversations }: RecorderState, { now }: Console): string {
  const turns = conversations.reduce((sum, one) => sum + one.turns, 0)
  const last = conversations
    .flatMap(({ lastTurnAt }) => lastTurnAt ?? [])
    .toSorted()
    .at(-1)
  const who = mode === 'serve' ? `port ${String(port)}` : safeLine(program ?? 'a command')
  const when = last === undefined ? '' : ` · last ${toAge(last, now)}`
  return `${who} · ${toPlural(conversations.length, 'conversation')} · ${toPlural(turns, 'turn')}${when}`
}

function toPlainRecorder(recorder: RecorderState, alarms: ReturnType<typeof findAlarms>): object {
  const { process, ...rest } = recorder
  const own = alarms.filter(({ pid }) => pid === process.pid).map(({ message }) => message)
  return { pid: process.pid, ...rest, alarms: own }
}
