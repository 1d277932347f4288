import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { boolean, field, isObject, list, number, object, parseJson, string, ThroughlineError } from '#base'
import type { JsonObject } from '#base'
import { findMode, type PermissionMode } from '#model'
import { toPostgresAddress, type PostgresAddress } from '#store'

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
}

const MINUTE_MS = 60_000
const IDLE_MINUTES = 15
const ORPHAN_MINUTES = 60
const BUDGETS = ['total', 'transcript', 'documents', 'item', 'team'] as const

/** Reads them anew: what was changed holds from the next start on. Throws `config-invalid`, and names what is wrong. */
export async function readLocalSettings(home: string): Promise<LocalSettings> {
  const path = join(home, 'config.json')
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return '{}'
    throw invalid(path, 'it cannot be read')
  })
  const value = parseJson(text)
  if (!isObject(value)) throw invalid(path, 'it is no JSON object')
  const live = part(value, 'live', path)
  const mode = field(live, 'widestMode')
  if (mode !== undefined && findMode(mode) === undefined) {
    throw invalid(path, 'live.widestMode is none of plan, default, accept-edits, bypass')
  }
  const attentionMs = minutes(live, 'attentionMinutes', path)
  const widestMode = findMode(mode)
  return {
    idleMs: minutes(live, 'idleMinutes', path) ?? IDLE_MINUTES * MINUTE_MS,
    orphanMs: minutes(live, 'orphanMinutes', path) ?? ORPHAN_MINUTES * MINUTE_MS,
    ...(attentionMs === undefined ? {} : { attentionMs }),
    ...(widestMode === undefined ? {} : { widestMode }),
    desktopNotices: boolean(part(value, 'notifications', path), 'desktop') ?? true,
    agents: readAgents(part(value, 'agents', path), path),
    names: readNames(part(value, 'names', path), path),
    wakeUp: readWakeUp(part(value, 'wakeUp', path), path),
    review: readReview(value, path),
    recordedIn: readFolders(value, path),
    ...readStore(value, path),
    team: readTeam(part(value, 'team', path), path),
  }
}

function part(value: JsonObject, key: string, path: string): JsonObject {
  const found = object(value, key)
  if (found !== undefined) return found
  if (value[key] === undefined) return {}
  throw invalid(path, `${key} is no object`)
}

function minutes(value: JsonObject, key: string, path: string): number | undefined {
  const given = number(value, key)
  if (value[key] === undefined || value[key] === null) return undefined
  if (given !== undefined && given > 0) return given * MINUTE_MS
  throw invalid(path, `live.${key} is not a number of minutes`)
}

function readAgents(value: JsonObject, path: string): Readonly<Record<string, JsonObject>> {
  const agents: Record<string, JsonObject> = {}
  for (const [agent, settings] of Object.entries(value)) {
    if (!isObject(settings)) throw invalid(path, `agents.${agent} is no object`)
    if (list(settings, 'args').some((arg) => typeof arg !== 'string')) {
      throw invalid(path, `agents.${agent}.args is no list of texts`)
    }
    agents[agent] = settings
  }
  return agents
}

function readNames(value: JsonObject, path: string): LocalSettings['names'] {
  const agents: Record<string, string> = {}
  for (const [agent, name] of Object.entries(part(value, 'agents', path))) {
    if (typeof name !== 'string') throw invalid(path, `names.agents.${agent} is no text`)
    agents[agent] = name
  }
  return { ...optionalText(value, 'human', path), ...optionalText(value, 'agent', path), agents }
}

function readWakeUp(value: JsonObject, path: string): WakeUpSettings {
  const on = boolean(value, 'on')
  if (value['on'] !== undefined && on === undefined) {
    throw invalid(path, 'wakeUp.on is neither true nor false')
  }
  const team = boolean(value, 'team')
  if (value['team'] !== undefined && team === undefined) {
    throw invalid(path, 'wakeUp.team is neither true nor false')
  }
  const muted = value['muted'] ?? []
  if (!Array.isArray(muted) || !muted.every((name) => typeof name === 'string')) {
    throw invalid(path, 'wakeUp.muted is no list of names')
  }
  const given = part(value, 'budget', path)
  const budget: { [key in (typeof BUDGETS)[number]]?: number } = {}
  for (const key of BUDGETS) {
    const tokens = number(given, key)
    if (given[key] === undefined) continue
    if (tokens === undefined || !Number.isSafeInteger(tokens) || tokens < 0) {
      throw invalid(path, `wakeUp.budget.${key} is no number of tokens`)
    }
    budget[key] = tokens
  }
  return {
    on: on ?? true,
    team: team ?? true,
    muted,
    ...optionalText(value, 'opening', path),
    ...optionalText(value, 'closing', path),
    budget,
  }
}

function readReview(value: JsonObject, path: string): LocalSettings['review'] {
  const review = value['review'] ?? 'off'
  if (review === 'off' || review === 'agent') return review
  throw invalid(path, 'review is neither off nor agent')
}

function readFolders(value: JsonObject, path: string): readonly string[] {
  const folders = value['recordedIn'] ?? []
  if (Array.isArray(folders) && folders.every(isFolder)) return folders
  throw invalid(path, 'recordedIn is no list of whole paths')
}

/** What is wrong with it is said without repeating it: it has a password in it. */
function readStore(value: JsonObject, path: string): Pick<LocalSettings, 'store'> {
  const { store } = optionalText(value, 'store', path)
  return store === undefined ? {} : { store: toPostgresAddress(store) }
}

function readTeam(value: JsonObject, path: string): TeamSettings {
  const workdirs: Record<string, string> = {}
  for (const [there, here] of Object.entries(part(value, 'workdirs', path))) {
    if (!isFolder(here)) throw invalid(path, `team.workdirs[${JSON.stringify(there)}] is no whole path`)
    workdirs[there] = here
  }
  const calls = value['calls'] ?? 'shared'
  if (calls !== 'shared' && calls !== 'own' && calls !== 'nobody') {
    throw invalid(path, 'team.calls is none of shared, own, nobody')
  }
  const keepHere = value['keepHere'] ?? []
  if (!Array.isArray(keepHere) || !keepHere.every(isFolder)) {
    throw invalid(path, 'team.keepHere is no list of whole paths')
  }
  return { workdirs, calls, keepHere }
}

function optionalText<K extends string>(
  value: JsonObject,
  key: K,
  path: string,
): { readonly [key in K]?: string } {
  const given = string(value, key)
  if (value[key] !== undefined && given === undefined) throw invalid(path, `${key} is no text`)
  const made: { [key in K]?: string } = {}
  if (given !== undefined) made[key] = given
  return made
}

function invalid(path: string, why: string): ThroughlineError {
  return new ThroughlineError('config-invalid', `${path} cannot be used: ${why}`, {
    hint: 'Correct it, or move it away. docs/guide.md says what can stand in it.',
  })
}

function isFolder(folder: unknown): folder is string {
  return typeof folder === 'string' && isAbsolute(folder)
}
