import { hostname, userInfo } from 'node:os'
import { beginTeam, joinTeam, leaveTeam, updateTeam } from '#app'
import { ThroughlineError } from '#base'
import type { TeamSelf } from '#model'
import { safeLine } from '#render'
import { confirm } from './confirm.ts'
import { findDaemon } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import { readPrompt } from './live-session.ts'
import { restartDaemon } from './start.ts'
import { configOf, type TeamAction } from './team-action.ts'

/** `throughline team init` */
export async function init({ site, values, console, what }: TeamAction): Promise<number> {
  const self = await beginTeam({
    home: site.home,
    owner: await readAddress(what, 'init'),
    team: values.value('team') ?? 'team',
    person: values.value('as') ?? userInfo().username,
    machine: values.value('machine') ?? hostname(),
  })
  return await entered(self, { site, values, console, what })
}

/** `throughline team join` */
export async function join({ site, values, console, what }: TeamAction): Promise<number> {
  const self = await joinTeam({
    home: site.home,
    invitation: await readAddress(what, 'join'),
    machine: values.value('machine') ?? hostname(),
  })
  return await entered(self, { site, values, console, what })
}

async function entered(self: TeamSelf, { site, values, console }: TeamAction): Promise<number> {
  const isRunning = (await findDaemon(site.home)) !== undefined
  if (isRunning) await restartDaemon(site)
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ ...self, restarted: isRunning }))
    return 0
  }
  await console.out.write(
    `${safeLine(self.person)} (${self.role}) on ${safeLine(self.machine)} is in ${safeLine(self.team)}.\n`,
  )
  console.say('The address is in config.json of the home, which only you may read.')
  console.say('Nobody else sees any of your sessions until you share them.')
  const then =
    self.role === 'admin' ? '`throughline team invite <person>` lets others in.' : '`throughline ls`'
  console.say(
    isRunning ? `next: ${then}` : `next: start the daemon with \`throughline\`, which ships; then ${then}`,
  )
  return 0
}

/** `throughline team update`: after an update of Throughline that has other tables. */
export async function update({ values, console, what }: TeamAction): Promise<number> {
  await updateTeam(await readAddress(what, 'update'))
  if (values.flag('json')) await console.out.write(toJsonLine({ updated: true }))
  else console.say('The tables are those of this version.')
  return 0
}

/** `throughline team leave` */
export async function leave({ site, values, console }: TeamAction): Promise<number> {
  await confirm(
    console,
    values,
    'Leaving ends this machine’s access to the database and removes what is mirrored here.',
  )
  const config = configOf(site)
  if (config.store !== undefined && site.env['THROUGHLINE_STORE'] !== undefined) {
    console.say('note: THROUGHLINE_STORE is set and still names the database')
  }
  const link = await findDaemon(site.home)
  const { told } = await leaveTeam(config)
  if (link !== undefined) await restartDaemon(site)
  if (values.flag('json')) await console.out.write(toJsonLine({ left: true, told }))
  else {
    await console.out.write('This machine is in no team any more.\n')
    console.say('What you shared stays with the team; `team unshare` before leaving takes it back.')
    if (!told)
      console.say('note: the database did not answer; an admin ends the way in with `team revoke <machine>`')
  }
  return 0
}

/** An address has a password in it: from standard input no list of processes shows it. */
async function readAddress(what: string | undefined, action: string): Promise<string> {
  const text = what === undefined ? undefined : (await readPrompt([what]))?.trim()
  if (text !== undefined && text !== '') return text
  throw new ThroughlineError('bad-usage', `team ${action} needs the address of the database`, {
    hint: `throughline team ${action} postgres://user:password@host:5432/database, or - to read it from standard input.`,
  })
}
