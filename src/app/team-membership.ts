import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { field, isObject, parseJson, ThroughlineError, type JsonObject } from '#base'
import { replaceFile } from '#journal'
import type { TeamSelf } from '#model'
import {
  initTeam,
  openTeamBook,
  toPostgresAddress,
  updateTeamTables,
  type PostgresAddress,
  type TeamBook,
} from '#store'
import { readLocalSettings } from './local-settings.ts'
import type { Config } from './throughline.ts'

/** Brings the tables of the database to this version, with the rights of its owner, which are used once. */
export async function updateTeam(owner: string): Promise<void> {
  await updateTeamTables({ address: toPostgresAddress(owner) })
}

/** Where whatever is here of other machines lies. */
export function teamFolder(home: string): string {
  return join(home, 'team')
}

/** The database that this machine is told to use: the environment first, then `config.json`. */
async function findStore({
  home,
  store,
}: Pick<Config, 'home' | 'store'>): Promise<PostgresAddress | undefined> {
  return store ?? (await readLocalSettings(home)).store
}

/** The book of this machine's team. Throws `not-in-team` where none is named. */
export async function openBook(config: Pick<Config, 'home' | 'store'>): Promise<TeamBook> {
  const address = await findStore(config)
  if (address !== undefined) return await openTeamBook({ address })
  throw new ThroughlineError('not-in-team', 'this machine is in no team', {
    hint: 'Begin one with `throughline team init`, or join one with `throughline team join`.',
  })
}

export interface NewTeam {
  readonly home: string
  /** With the rights of the database's owner: they are used once, and not kept. */
  readonly owner: string
  readonly team: string
  readonly person: string
  readonly machine: string
}

/** Begins a team in a database, with this machine as the first of its admin. What it needs is in `config.json` then. */
export async function beginTeam({ home, owner, team, person, machine }: NewTeam): Promise<TeamSelf> {
  await refuseSecond(home)
  const address = await initTeam({ address: toPostgresAddress(owner), team, person, machine })
  return await enter(home, address)
}

export interface Joining {
  readonly home: string
  /** As the invitation says. */
  readonly invitation: string
  readonly machine: string
}

/** Joins a team with an invitation, which is good once. What it needs is in `config.json` then. */
export async function joinTeam({ home, invitation, machine }: Joining): Promise<TeamSelf> {
  await refuseSecond(home)
  const book = await openTeamBook({ address: toPostgresAddress(invitation) })
  try {
    return await enter(home, await book.join(machine))
  } finally {
    await book.close()
  }
}

async function enter(home: string, address: PostgresAddress): Promise<TeamSelf> {
  // Before it is written down: one that does not let us in is none to keep.
  const book = await openTeamBook({ address })
  try {
    const self = await book.me()
    await changeSettings(home, (settings) => ({ ...settings, store: address.reveal() }))
    return self
  } finally {
    await book.close()
  }
}

/**
 * Leaves the team: this machine's way in is ended, and what is here of others is removed. What was shared from here
 * stays with the team. Says whether the database could be told.
 */
export async function leaveTeam(config: Pick<Config, 'home' | 'store'>): Promise<{ readonly told: boolean }> {
  const book = await openBook(config).catch((error: unknown) => {
    if (error instanceof ThroughlineError && error.code.startsWith('database-')) return undefined
    throw error
  })
  let told = false
  if (book !== undefined) {
    try {
      await book.revoke((await book.me()).origin)
      told = true
    } finally {
      await book.close()
    }
  }
  await changeSettings(config.home, (settings) =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => key !== 'store')),
  )
  for (const name of ['outbox.json', 'team'])
    await rm(join(config.home, name), { recursive: true, force: true })
  return { told }
}

async function refuseSecond(home: string): Promise<void> {
  const { store } = await readLocalSettings(home)
  if (store === undefined) return
  throw new ThroughlineError('bad-usage', `this machine is in a team already, at ${store.shown}`, {
    hint: 'A machine is in one team. Leave it first: `throughline team leave`.',
  })
}

/** Changes `config.json` and nothing in it but what is asked for. It is for its owner alone from then on. */
async function changeSettings(home: string, change: (settings: JsonObject) => JsonObject): Promise<void> {
  const path = join(home, 'config.json')
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return '{}'
    throw error
  })
  const settings = parseJson(text)
  if (!isObject(settings)) {
    throw new ThroughlineError('config-invalid', `${path} is no JSON object`, {
      hint: 'Mend it first. Nothing was changed.',
    })
  }
  await mkdir(home, { recursive: true, mode: 0o700 })
  await replaceFile(path, `${JSON.stringify(change(settings), undefined, 2)}\n`)
}
