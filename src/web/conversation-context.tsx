import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SessionSummary } from '#model'
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
const NestedWork = lazyView(async () => (await import('./nested-conversation.tsx')).NestedWork, 'part')
const NO_MARKS: readonly string[] = []

/** What passages of a session, or of one of its subagents, need. The same object for as long as the same is shown. */
export function usePassageContext(
  session: SessionSummary,
  subagent: string | undefined,
  marks: readonly string[] = NO_MARKS,
  live?: LivePart,
  memory?: MemoryPart,
): PassageContext {
  const { say, go } = useShared()
  const authorOf = useAuthors(session)
  return useMemo((): PassageContext => {
    const of = subagent === undefined ? {} : { subagent }
    const hrefOf = (entry: string): string => toHash({ kind: 'session', id: session.id, ...of, entry })
    return {
      session,
      ...of,
      cwd: session.workdirs.at(-1),
      ...(authorOf === undefined ? {} : { authorOf }),
      marks,
      copy(text, what) {
        void import('./copy-link.ts').then(({ copyAndSay }) => copyAndSay(text, what, say))
      },
      hrefOf,
      copyLink(entry) {
        const leave = (): void => go({ kind: 'session', id: session.id, ...of, entry })
        void import('./copy-link.ts').then(({ copyLink }) => copyLink(hrefOf(entry), say, leave))
      },
      ...(live === undefined ? {} : { pace: live.pace, fork: live.fork }),
      ...(memory === undefined ? {} : { memory }),
      renderSubagent: (id, work) =>
        work === undefined ? (
          <NestedConversation session={session} subagent={id} />
        ) : (
          <NestedWork session={session} work={work} marks={marks} />
        ),
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
