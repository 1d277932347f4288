import { ThroughlineError } from '#base'
import { safeLine, toPlural, toSize } from '#render'
import type { TeamStatus } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findReadyDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import { toAge, toShortPath } from './short.ts'
import type { Site } from './site.ts'
import type { TeamAction } from './team-action.ts'
import { init, join, leave, update } from './team-entering.ts'
import { invite, machines, people, remove, revoke, setRole } from './team-people.ts'
import { share, shares, unshare } from './team-sharing.ts'

const AWAY = 3
/** Lines that stay here are listed up to so many; the rest is counted. */
const MOST_HELD = 10

const ACTIONS: Readonly<Record<string, (action: TeamAction) => Promise<number>>> = {
  status,
  init,
  join,
  leave,
  update,
  invite,
  people,
  machines,
  revoke,
  role: setRole,
  remove,
  share,
  unshare,
  shares,
}

/** `throughline team` */
export async function team(site: Site, values: Values, console: Console): Promise<number> {
  const [name = 'status', what] = values.args
  const action = ACTIONS[name]
  if (action !== undefined) return await action({ site, values, console, what })
  throw new ThroughlineError('bad-usage', `team knows no ${name}`, { hint: 'See `throughline team --help`.' })
}

/** `throughline team status`: from the daemon, which is the one that ships and hears. */
async function status({ site, values, console }: TeamAction): Promise<number> {
  const link = await findReadyDaemon(site.home)
  const throughline = link === undefined ? await site.openLocal() : await link.connect()
  try {
    const found = await throughline.team.status()
    const isAway = found.state === 'away'
    if (values.flag('json')) {
      await console.out.write(toJsonLine({ daemon: link !== undefined, ...found }))
      return isAway ? AWAY : 0
    }
    for (const line of toLines(found, console)) await console.out.write(`${line}\n`)
    if (found.store === undefined) {
      console.say('next: `throughline team init` begins a team, `throughline team join` joins one.')
    } else if (link === undefined) {
      console.say('note: no daemon runs: nothing is shipped, and nothing comes in')
      console.say('next: start it with `throughline`.')
    }
    return isAway ? AWAY : 0
  } finally {
    await throughline.close()
  }
}

function toLines(found: TeamStatus, console: Console): readonly string[] {
  const { paint } = console
  const { self, store, since, trouble, outbox, mirror } = found
  if (store === undefined) return ['This machine is in no team.']
  const who =
    self === undefined
      ? ''
      : `${paint('strong', safeLine(self.team))} · ${safeLine(self.person)} (${self.role}) on ${safeLine(self.machine)}`
  const age = since === undefined ? '' : ` for ${toAge(since, console.now)}`
  const lines = [
    ...(who === '' ? [] : [who]),
    `${paint('code', safeLine(store))}  ${STATES[found.state]}${found.state === 'none' ? '' : age}`,
  ]
  if (trouble !== undefined) {
    lines.push(paint('warning', safeLine(trouble.message)))
    if (trouble.hint !== undefined) lines.push(safeLine(trouble.hint))
  }
  lines.push(
    outbox.waiting === 0
      ? 'Everything of this machine is shipped.'
      : `${toPlural(outbox.waiting, 'file')} with something to ship, ${toSize(outbox.bytes)}.`,
    `Of others: ${toPlural(mirror.files, 'file')}, ${toSize(mirror.bytes)} here.`,
  )
  if (outbox.held.length > 0) {
    lines.push(`${toPlural(outbox.held.length, 'line')} stay on this machine:`)
    for (const { path, offset, reason } of outbox.held.slice(0, MOST_HELD)) {
      lines.push(`  ${safeLine(toShortPath(path, console.home))} at ${offset}: ${safeLine(reason)}`)
    }
    if (outbox.held.length > MOST_HELD) lines.push(`  and ${outbox.held.length - MOST_HELD} more`)
  }
  return lines
}

const STATES: Readonly<Record<TeamStatus['state'], string>> = {
  none: 'not opened here',
  connecting: 'being asked',
  connected: 'connected',
  away: 'does not answer; everything here works on',
}
