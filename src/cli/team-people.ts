import { ThroughlineError } from '#base'
import type { TeamMachine, TeamRole } from '#model'
import { safeLine } from '#render'
import { isBeginningOf } from './id-beginning.ts'
import { toJsonLine } from './json.ts'
import { toAge } from './short.ts'
import { toTable } from './table.ts'
import { withBook, type TeamAction } from './team-action.ts'

/** `throughline team invite`: shows the address once. */
export async function invite(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const person = getWord(action, 'whom to invite')
  const role = readRole(values.value('role'))
  const { address, expiresAt } = await withBook(
    site,
    async (book) => await book.invite({ person, ...(role === undefined ? {} : { role }) }),
  )
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ person, address: address.reveal(), expiresAt }))
    return 0
  }
  await console.out.write(`${address.reveal()}\n`)
  console.say(`It is for one machine of ${person}, good once and until ${expiresAt.slice(0, 10)}.`)
  console.say('next: give it to nobody else; there: throughline team join -')
  return 0
}

/** `throughline team people` */
export async function people({ site, values, console }: TeamAction): Promise<number> {
  const known = await withBook(site, async (book) => await book.people())
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ people: known }))
    return 0
  }
  const rows = known.map(({ name, role, joinedAt, removed }) => [
    { text: safeLine(name) },
    { text: removed ? 'removed' : role },
    { text: toAge(joinedAt, console.now) },
  ])
  const columns = [
    { title: 'person', share: 1 },
    { title: 'role' },
    { title: 'in it for', align: 'right' as const },
  ]
  await console.out.write(toTable(columns, rows, console))
  return 0
}

/** `throughline team machines` */
export async function machines({ site, values, console }: TeamAction): Promise<number> {
  const known = await withBook(site, async (book) => await book.machines())
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ machines: known }))
    return 0
  }
  const rows = known.map(({ machine, person, state, seenAt, origin }) => [
    { text: machine === '' ? '–' : safeLine(machine) },
    { text: safeLine(person) },
    { text: state },
    { text: seenAt === undefined ? '–' : toAge(seenAt, console.now) },
    { text: safeLine(origin), style: 'code' as const },
  ])
  const columns = [
    { title: 'machine', share: 1 },
    { title: 'person' },
    { title: 'state' },
    { title: 'seen', align: 'right' as const },
    { title: 'id' },
  ]
  await console.out.write(toTable(columns, rows, console))
  return 0
}

/** `throughline team revoke` */
export async function revoke(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const asked = getWord(action, 'which machine')
  const ended = await withBook(site, async (book) => {
    const found = getMachine(await book.machines(), asked)
    await book.revoke(found.origin)
    return found
  })
  if (values.flag('json')) await console.out.write(toJsonLine({ revoked: ended.origin }))
  else console.say(`${ended.machine} of ${ended.person} has no way in any more.`)
  return 0
}

function getMachine(known: readonly TeamMachine[], asked: string): TeamMachine {
  const usable = known.filter(({ state }) => state !== 'revoked')
  const named = usable.filter(({ machine, origin }) => machine === asked || isBeginningOf(asked, origin))
  const [found, second] = named
  if (found !== undefined && second === undefined) return found
  throw new ThroughlineError(
    'bad-usage',
    found === undefined ? `there is no machine ${asked}` : `more than one machine is called ${asked}`,
    { hint: 'Run `throughline team machines` and name it by its id.' },
  )
}

/** `throughline team role` */
export async function setRole(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const person = getWord(action, 'whose role')
  const role = readRole(values.value('role'))
  if (role === undefined)
    throw new ThroughlineError('bad-usage', 'which role?', { hint: 'Say it with --role member.' })
  await withBook(site, async (book) => await book.setRole(person, role))
  if (values.flag('json')) await console.out.write(toJsonLine({ person, role }))
  else console.say(`${person} is ${role} now.`)
  return 0
}

/** `throughline team remove` */
export async function remove(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const person = getWord(action, 'whom')
  if (!values.flag('yes')) {
    throw new ThroughlineError('bad-usage', 'nothing was done', {
      hint: `All machines of ${person} lose their way in, at once. Say it with --yes.`,
    })
  }
  await withBook(site, async (book) => await book.remove(person))
  if (values.flag('json')) await console.out.write(toJsonLine({ removed: person }))
  else console.say(`${person} has no way in any more.`)
  return 0
}

function getWord({ what }: TeamAction, question: string): string {
  if (what !== undefined && what !== '') return what
  throw new ThroughlineError('bad-usage', `${question}?`, { hint: 'See `throughline team --help`.' })
}

function readRole(text: string | undefined): TeamRole | undefined {
  if (text === undefined || text === 'viewer' || text === 'member' || text === 'admin') return text
  throw new ThroughlineError('bad-usage', `there is no role ${text}`, { hint: 'viewer, member or admin.' })
}
