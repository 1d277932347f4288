import { resolve } from 'node:path'
import { ThroughlineError } from '#base'
import type { TeamShare } from '#model'
import { safeLine } from '#render'
import { toJsonLine } from './json.ts'
import { toShortPath } from './short.ts'
import { openAnywhere } from './site.ts'
import { toTable } from './table.ts'
import { withBook, type TeamAction } from './team-action.ts'

/** `throughline team share` */
export async function share(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const wanted = await readWanted(action)
  await withBook(site, async (book) => await book.share(wanted))
  if (values.flag('json')) await console.out.write(toJsonLine({ shared: wanted }))
  else {
    console.say(`Shared with ${describeReader(wanted)}: ${describeWhat(wanted, console.home)}.`)
    console.say('next: `throughline team shares` lists what is shared, `team unshare` takes it back.')
  }
  return 0
}

/** `throughline team unshare` */
export async function unshare(action: TeamAction): Promise<number> {
  const { site, values, console } = action
  const wanted = await readWanted(action)
  await withBook(site, async (book) => await book.unshare(wanted))
  if (values.flag('json')) await console.out.write(toJsonLine({ unshared: wanted }))
  else
    console.say(`Not shared with ${describeReader(wanted)} any more: ${describeWhat(wanted, console.home)}.`)
  return 0
}

/** `throughline team shares` */
export async function shares({ site, values, console }: TeamAction): Promise<number> {
  const known = await withBook(site, async (book) => await book.shares())
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ shares: known }))
    return 0
  }
  if (known.length === 0) {
    console.say('Nothing of yours is shared.')
    return 0
  }
  const rows = known.map((one) => [
    { text: safeLine(describeWhat(one, console.home)) },
    { text: safeLine(describeReader(one)) },
    { text: one.may === 'answer' ? 'read and answer' : 'read' },
  ])
  await console.out.write(
    toTable([{ title: 'what', share: 1 }, { title: 'with' }, { title: 'may' }], rows, console),
  )
  return 0
}

async function readWanted({ site, values, what }: TeamAction): Promise<TeamShare> {
  const person = values.value('with')
  const how = {
    with: person === undefined ? ('everybody' as const) : { person },
    ...(values.flag('may-answer') ? { may: 'answer' as const } : {}),
  }
  const workdir = values.value('workdir')
  const isEverything = values.flag('everything')
  if ([what !== undefined, workdir !== undefined, isEverything].filter(Boolean).length !== 1) {
    throw new ThroughlineError('bad-usage', 'what is meant: a session, a folder, or everything?', {
      hint: 'Name a session, or give --workdir <folder>, or --everything.',
    })
  }
  if (isEverything) return { ...how, kind: 'everything' }
  if (workdir !== undefined) return { ...how, kind: 'workdir', workdir: resolve(workdir) }
  const throughline = await openAnywhere(site)
  try {
    return { ...how, kind: 'session', session: (await throughline.get(what ?? '')).id }
  } finally {
    await throughline.close()
  }
}

function describeReader({ with: reader }: TeamShare): string {
  return reader === 'everybody' ? 'everybody in the team' : reader.person
}

function describeWhat(shared: TeamShare, home: string): string {
  switch (shared.kind) {
    case 'session':
      return `session ${shared.session}`
    case 'workdir':
      return toShortPath(shared.workdir, home)
    case 'everything':
      return 'everything'
  }
}
