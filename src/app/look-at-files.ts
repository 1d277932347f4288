import type { SessionView } from '#model'
import type { LineageLog } from './lineage-log.ts'
import { lookAtSessions, type KnownOf, type Listed } from './list-sessions.ts'
import { withLiveSessions } from './live-state.ts'
import type { Sources } from './open-sources.ts'
import { dropMendedCrashes } from './orderly-ends.ts'
import { withPreference, type Preferences } from './preferences.ts'
import type { Config } from './throughline.ts'

export interface KnownBeside extends Pick<KnownOf, 'liveOf'> {
  readonly lineage: LineageLog
  /** Sessions that are run here. */
  readonly views: readonly SessionView[]
  readonly preferences: Preferences
}

/** Every session there is, from its files as they are now: for whoever keeps no catalogue. */
export async function lookAtFiles(
  sources: Sources,
  config: Config,
  { lineage, liveOf, views, preferences }: KnownBeside,
): Promise<Listed> {
  lineage.look()
  const found = await lookAtSessions(sources, config, { copyOf: (id) => lineage.copyOf(id), liveOf })
  const sessions = await dropMendedCrashes(found.sessions, config.home)
  const listed = withLiveSessions({ ...found, sessions }, views, config)
  await preferences.refresh()
  if (preferences.all().size === 0) return listed
  return { ...listed, sessions: listed.sessions.map((session) => withPreference(session, preferences)) }
}
