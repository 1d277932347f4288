import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SessionSummary } from '#model'
import { copyText } from './clipboard.ts'
import { lazyView } from './lazy-view.tsx'
import type { LivePart } from './live-part.ts'
import type { MemoryPart } from './memory-part.ts'
import type { PassageContext } from './message/passage-context.ts'
import { toHash } from './route.ts'
import { useShared } from './shared.ts'

const NestedConversation = lazyView(
  async () => (await import('./nested-conversation.tsx')).NestedConversation,
  'part',
)
const NO_MARKS: readonly string[] = []

/** What passages of a session, or of one of its subagents, need. The same object for as long as the same is shown. */
export function usePassageContext(
  session: SessionSummary,
  subagent: string | undefined,
  marks: readonly string[] = NO_MARKS,
  live?: LivePart,
  memory?: MemoryPart,
): PassageContext {
  const { say } = useShared()
  const authorOf = useAuthors(session)
  return useMemo((): PassageContext => {
    const of = subagent === undefined ? {} : { subagent }
    return {
      session,
      ...of,
      cwd: session.workdirs.at(-1),
      ...(authorOf === undefined ? {} : { authorOf }),
      marks,
      copy(text, what) {
        copyText(text).then(
          () => say(`${what} copied`),
          () => say('The browser did not allow copying.'),
        )
      },
      hrefOf: (entry) => toHash({ kind: 'session', id: session.id, ...of, entry }),
      ...(live === undefined ? {} : { pace: live.pace, fork: live.fork }),
      ...(memory === undefined ? {} : { memory }),
      renderSubagent: (id) => <NestedConversation session={session} subagent={id} />,
    }
  }, [session.id, session.subagents.length, subagent, marks, live, memory, authorOf])
}

/** Who said what in a session that several people had a part in. Asked for in a team, and loaded then. */
function useAuthors(session: SessionSummary): PassageContext['authorOf'] {
  const { health, throughline } = useShared()
  const [authors, setAuthors] = useState<{ readonly of: PassageContext['authorOf'] } | undefined>(undefined)
  const isTeam = health.value?.team !== undefined
  useEffect(() => {
    if (!isTeam) return
    void import('./team/authors.ts')
      .then(async ({ readAuthors }) => setAuthors({ of: await readAuthors(throughline, session) }))
      .catch(() => undefined)
  }, [isTeam, session.id, session.counts?.prompts])
  return authors?.of
}
