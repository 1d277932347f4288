import { readFileSync } from 'node:fs'
import { parseJson, string } from '#base'
import { isLive, isWaitingForYou } from '#model'
import { PROTOCOL, type ArchiveState, type Health, type IndexState, type Notice } from '#wire'
import { findHomeDamage } from './home-damage.ts'
import { findSettingTroubles } from './settings-check.ts'
import type { Config } from './throughline.ts'
import type { Keeper } from './keeper.ts'
import type { Listed } from './list-sessions.ts'
import type { Team } from './open-team.ts'

export interface HealthParts {
  readonly listed: Listed
  readonly keeper: Keeper | undefined
  /** Whether there is to be an index: it is begun a little after the start. */
  readonly keepsIndex: boolean
  readonly startedAt: string
  readonly team: Pick<Team, 'status'> | undefined
  readonly config: Pick<Config, 'home'>
  /** Milliseconds. */
  readonly now: number
  /** What else went wrong meanwhile. */
  readonly notices: readonly Notice[]
}

/** How Throughline is. */
export async function toHealth(parts: HealthParts): Promise<Health> {
  const { listed, keeper, startedAt } = parts
  const { sessions, problems } = listed
  const troubles = await findSettingTroubles(parts.config.home)
  const live: Health['sessions']['live'][number][] = []
  for (const { id, name, workdirs, live: state } of sessions)
    if (state !== undefined) live.push({ id, name, workdir: workdirs[0], live: state })
  return {
    version: readVersion(),
    protocol: PROTOCOL,
    pid: process.pid,
    startedAt,
    sessions: {
      total: sessions.length,
      live: live.filter((session) => isLive(session.live)),
      waitingForYou: live.filter((session) => isWaitingForYou(session.live)).length,
    },
    index: keeper?.index?.state() ?? (parts.keepsIndex ? NOT_BEGUN : { state: 'none' }),
    archive: keeper === undefined ? NO_ARCHIVE : await keeper.archiveState(),
    ...toTeamState(parts.team),
    notices: [
      ...problems.map(({ path, message, hint }) => ({ at: startedAt, message: `${path}: ${message}`, hint })),
      ...troubles.map(({ message, hint }) => ({ at: startedAt, message, hint })),
      ...(keeper?.notices() ?? []),
      ...parts.notices,
      ...(await findHomeDamage(parts.config.home, parts.now)),
    ],
  }
}

function toTeamState(team: HealthParts['team']): Pick<Health, 'team'> {
  const state = team?.status().state
  return state === undefined || state === 'none' ? {} : { team: state }
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return string(parseJson(text), 'version') ?? ''
}

const NO_ARCHIVE: ArchiveState = { enabled: false, files: 0, bytes: 0, goneSessions: 0 }
const NOT_BEGUN: IndexState = {
  state: 'building',
  files: { done: 0, total: 0 },
  bytes: { done: 0, total: 0 },
  size: 0,
}
