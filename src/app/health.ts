import { isLive, isWaitingForYou } from '#model'
import { PROTOCOL, type ArchiveState, type Health } from '#wire'
import type { Keeper } from './keeper.ts'
import type { Listed } from './list-sessions.ts'

export interface HealthParts {
  readonly listed: Listed
  readonly keeper: Keeper | undefined
  readonly startedAt: string
  readonly version: string
}

/** How Throughline is. */
export async function toHealth({ listed, keeper, startedAt, version }: HealthParts): Promise<Health> {
  const { sessions, problems } = listed
  const live = sessions.flatMap((session) =>
    session.live === undefined
      ? []
      : [{ id: session.id, name: session.name, workdir: session.workdirs[0], live: session.live }],
  )
  return {
    version,
    protocol: PROTOCOL,
    pid: process.pid,
    startedAt,
    sessions: {
      total: sessions.length,
      live: live.filter((session) => isLive(session.live) || session.live.status === 'gone'),
      waitingForYou: live.filter((session) => isWaitingForYou(session.live)).length,
    },
    index: keeper?.index?.state() ?? { state: 'none' },
    archive: keeper === undefined ? NO_ARCHIVE : await keeper.archiveState(),
    notices: [
      ...problems.map(({ path, message, hint }) => ({ at: startedAt, message: `${path}: ${message}`, hint })),
      ...(keeper?.notices() ?? []),
    ],
  }
}

const NO_ARCHIVE: ArchiveState = { enabled: false, files: 0, bytes: 0, goneSessions: 0 }
