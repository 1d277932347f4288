import { openDesk } from '#store'
import { createAuthorLog } from './author-log.ts'
import { isWithin, realPathOf } from './config.ts'
import type { LineageLog } from './lineage-log.ts'
import { readLocalSettings } from './local-settings.ts'
import { maskSecrets } from './mask-secrets.ts'
import type { LiveTeam } from './open-live.ts'
import type { Team } from './open-team.ts'

/** What live sessions need of a team. Nothing is asked of the database yet. */
export async function openLiveTeam(
  team: Pick<Team, 'address'>,
  options: {
    readonly home: string
    readonly now: () => number
    readonly lineage: Pick<LineageLog, 'add'>
    readonly onChange: (sessionId: string) => void
  },
): Promise<LiveTeam> {
  const { home, now, onChange, lineage } = options
  const { team: settings } = await readLocalSettings(home)
  const keepHere = settings.keepHere.map(realPathOf)
  return {
    desk: await openDesk({ address: team.address, now }),
    authors: createAuthorLog(home),
    lineage,
    mask: maskSecrets,
    ships: (workdir) => !isWithin(workdir, keepHere),
    onChange,
  }
}
