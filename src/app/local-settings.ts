import { boolean, field, isObject, list, number, object, string } from '#base'
import type { JsonObject } from '#base'
import { findMode, type PermissionMode } from '#model'
import { toPostgresAddress, type PostgresAddress } from '#store'
import { readSettingsFile, refuseWrong } from './settings-check.ts'

/** What the person at this machine decided, in `config.json` of the home. No device can change any of it. */
export interface LocalSettings {
  /** After how long without a turn or an open attention a live session ends. */
  readonly idleMs: number
  /** After how long without a daemon it ends. */
  readonly orphanMs: number
  /** How long an attention stays open. Not there: for ever. */
  readonly attentionMs?: number | undefined
  /** How far a device may widen the mode of a session. Not there: not beyond what it began with. */
  readonly widestMode?: PermissionMode | undefined
  /** Whether the daemon says on the desktop that somebody waits, when no page is open. */
  readonly desktopNotices: boolean
  /** What only the driver of an agent wants to know: `executable`, `args`. */
  readonly agents: Readonly<Record<string, JsonObject>>
  /** What people and agents are called in a wake-up: `agents` by agent, `agent` all others. */
  readonly names: {
    readonly human?: string | undefined
    readonly agent?: string | undefined
    readonly agents: Readonly<Record<string, string>>
  }
  readonly wakeUp: WakeUpSettings
  /** Whether a person has to approve what agents remember before it counts. */
  readonly review: 'off' | 'agent'
  /** Folders with recordings in them that nobody else tells of. */
  readonly recordedIn: readonly string[]
  /** The database of a team. */
  readonly store?: PostgresAddress | undefined
  readonly team: TeamSettings
}

/** What a team may do with this machine. */
interface TeamSettings {
  /** Folders of other machines, and which they are here. */
  readonly workdirs: Readonly<Record<string, string>>
  /** Whose answers and words are taken from other machines: those of whom it was shared with, one's own, nobody's. */
  readonly calls: 'shared' | 'own' | 'nobody'
  /** Folders whose sessions stay on this machine, whatever is shared. */
  readonly keepHere: readonly string[]
}

/** What new sessions are told. */
interface WakeUpSettings {
  /** Whether sessions get one without being asked. */
  readonly on: boolean
  readonly opening?: string | undefined
  readonly closing?: string | undefined
  /** In tokens of our counter. */
  readonly budget: Partial<Record<(typeof BUDGETS)[number], number>>
  /** Whether what other people of the team share is told too. */
  readonly team: boolean
  /** People of the team of whom nothing is told. */
  readonly muted: readonly string[]
  /** People of the team whose documents are told without being approved here one by one. */
  readonly trusted: readonly string[]
}

const MINUTE_MS = 60_000
const IDLE_MINUTES = 15
const ORPHAN_MINUTES = 60
const BUDGETS = ['total', 'transcript', 'documents', 'item', 'team'] as const

/** Reads them anew: what was changed holds from the next start on. Throws `config-invalid`, and names what is wrong. */
export async function readLocalSettings(home: string): Promise<LocalSettings> {
  const read = await readSettingsFile(home)
  refuseWrong(read)
  const { value } = read
  const live = object(value, 'live')
  const attentionMs = minutes(live, 'attentionMinutes')
  const widestMode = findMode(field(live, 'widestMode'))
  return {
    idleMs: minutes(live, 'idleMinutes') ?? IDLE_MINUTES * MINUTE_MS,
    orphanMs: minutes(live, 'orphanMinutes') ?? ORPHAN_MINUTES * MINUTE_MS,
    ...(attentionMs === undefined ? {} : { attentionMs }),
    ...(widestMode === undefined ? {} : { widestMode }),
    desktopNotices: boolean(object(value, 'notifications'), 'desktop') ?? true,
    agents: toRecord(object(value, 'agents'), (one) => (isObject(one) ? one : undefined)),
    names: readNames(object(value, 'names')),
    wakeUp: readWakeUp(object(value, 'wakeUp')),
    review: string(value, 'review') === 'agent' ? 'agent' : 'off',
    recordedIn: texts(value, 'recordedIn'),
    ...readStore(value),
    team: readTeam(object(value, 'team')),
  }
}

function minutes(value: JsonObject | undefined, key: string): number | undefined {
  const given = number(value, key)
  return given === undefined ? undefined : given * MINUTE_MS
}

function texts(value: JsonObject | undefined, key: string): readonly string[] {
  return list(value, key).filter((one) => typeof one === 'string')
}

function toRecord<T>(
  value: JsonObject | undefined,
  read: (one: unknown) => T | undefined,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([name, one]) => {
      const known = read(one)
      return known === undefined ? [] : [[name, known]]
    }),
  )
}

const asText = (one: unknown): string | undefined => (typeof one === 'string' ? one : undefined)

function readNames(value: JsonObject | undefined): LocalSettings['names'] {
  return {
    ...optionalText(value, 'human'),
    ...optionalText(value, 'agent'),
    agents: toRecord(object(value, 'agents'), asText),
  }
}

function readWakeUp(value: JsonObject | undefined): WakeUpSettings {
  const given = object(value, 'budget')
  const budget: { [key in (typeof BUDGETS)[number]]?: number } = {}
  for (const key of BUDGETS) {
    const tokens = number(given, key)
    if (tokens !== undefined) budget[key] = tokens
  }
  return {
    on: boolean(value, 'on') ?? true,
    team: boolean(value, 'team') ?? true,
    muted: texts(value, 'muted'),
    trusted: texts(value, 'trusted'),
    ...optionalText(value, 'opening'),
    ...optionalText(value, 'closing'),
    budget,
  }
}

/** What is wrong with it is said without repeating it: it has a password in it. */
function readStore(value: JsonObject): Pick<LocalSettings, 'store'> {
  const store = string(value, 'store')
  return store === undefined ? {} : { store: toPostgresAddress(store) }
}

function readTeam(value: JsonObject | undefined): TeamSettings {
  const calls = string(value, 'calls')
  return {
    workdirs: toRecord(object(value, 'workdirs'), asText),
    calls: calls === 'own' || calls === 'nobody' ? calls : 'shared',
    keepHere: texts(value, 'keepHere'),
  }
}

function optionalText<K extends string>(
  value: JsonObject | undefined,
  key: K,
): { readonly [key in K]?: string } {
  const given = string(value, key)
  const made: { [key in K]?: string } = {}
  if (given !== undefined) made[key] = given
  return made
}
