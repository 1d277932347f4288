import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { SearchHit } from '#wire'
import { toAge, toMoment } from '../age.ts'
import { toHash } from '../route.ts'
import { toFolderName } from '../folder-names.ts'
import { toTitle } from '../session-groups.ts'
import { toHitGroups, toSnippetParts, toSpeaker, type HitGroup } from './hit-groups.ts'

interface Props {
  readonly hits: readonly SearchHit[]
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly now: number
  readonly onMore: () => void
}

/** Everything that was found, session by session, as links to the very entry. */
export function HitList({ hits, hasMore, isLoadingMore, now, onMore }: Props): VNode {
  return (
    <div class="hits">
      {toHitGroups(hits).map((group) => (
        <Group key={group.key} group={group} now={now} />
      ))}
      {hasMore && <More isLoading={isLoadingMore} count={hits.length} onMore={onMore} />}
    </div>
  )
}

function Group({ group, now }: { group: HitGroup; now: number }): VNode {
  const { session, hits } = group
  return (
    <section class="hit-group" aria-label={toTitle(session)}>
      <h2>
        <a class="cut" href={toHash({ kind: 'session', id: session.id })}>
          {toTitle(session)}
        </a>
        <span class="faint cut" title={session.workdir}>
          {toFolderName(session.workdir ?? '')}
          {session.agent !== 'claude' && ` · ${session.agent}`}
          {session.origin !== undefined &&
            ` · ${session.origin.mine ? '' : `${session.origin.person} · `}${session.origin.machine}`}
        </span>
      </h2>
      <ol>
        {hits.map((hit) => (
          <li key={`${hit.subagent ?? ''} ${hit.entry.id} ${hit.entry.place.offset}`}>
            <HitLink hit={hit} now={now} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function HitLink({ hit, now }: { hit: SearchHit; now: number }): VNode {
  const { session, entry, subagent, snippet, where, isError } = hit
  const place = { id: session.id, entry: entry.id, ...(subagent === undefined ? {} : { subagent }) }
  return (
    <a class={`hit ${where}`} data-hit href={toHash({ kind: 'session', ...place })}>
      <span class="hit-head">
        <span class="hit-who">{toSpeaker(hit)}</span>
        {isError && <span class="tag bad">failed</span>}
        {subagent !== undefined && <span class="tag">subagent</span>}
        <time class="faint" dateTime={entry.at} title={toMoment(entry.at)}>
          {toAge(entry.at, now)}
        </time>
      </span>
      <span class="hit-text">
        {toSnippetParts(snippet).map(({ text, marked }, at) =>
          marked ? <mark key={at}>{text}</mark> : text,
        )}
      </span>
    </a>
  )
}

/** A button that presses itself when it comes into sight. */
function More({
  isLoading,
  count,
  onMore,
}: {
  isLoading: boolean
  count: number
  onMore: () => void
}): VNode {
  const button = useRef<HTMLButtonElement>(null)
  const latest = useRef(onMore)
  latest.current = onMore
  useEffect(() => {
    const element = button.current
    if (element === null) return undefined
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) latest.current()
      },
      { rootMargin: '600px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
    // Observed anew after each page: what is still in sight then presses again.
  }, [count])
  return (
    <button ref={button} type="button" class="button quiet hits-more" disabled={isLoading} onClick={onMore}>
      {isLoading ? 'Searching…' : 'More'}
    </button>
  )
}
