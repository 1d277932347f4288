import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toCount } from '#render'
import type { Health } from '#wire'
import { Icon } from '../icon.tsx'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { FacetBar } from './facet-bar.tsx'
import { HitList } from './hit-list.tsx'
import { useSearch, type SearchAnswer } from './search-answer.ts'
import '../style/parts.css'
import './search.css'

/** A pause in typing that is long enough to ask. */
const PAUSE_MS = 80

const EXAMPLES: readonly { readonly q: string; readonly what: string }[] = [
  { q: 'flaky test', what: 'both words, in any order' },
  { q: '"race condition"', what: 'these words in a row' },
  { q: 'parseLine', what: 'also finds parse_line and parse-line' },
  { q: 'tool:Bash has:error', what: 'commands that failed' },
  { q: 'speaker:human after:7d deploy', what: 'what people said this week' },
  { q: 'in:thought trade-off', what: 'what agents thought' },
]

/** Search across every session, as the person types. */
export function SearchView({ q }: { q: string }): VNode {
  const { go, health, now, sessions, throughline } = useShared()
  const [text, setText] = useState(q)
  const box = useRef<HTMLInputElement>(null)
  const root = useRef<HTMLDivElement>(null)
  const sent = useRef(q)
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined)
  const indexState = health.value?.index.state
  const { answer, state, trouble, more, again } = useSearch(
    (request) => throughline.search(request),
    q,
    indexState === 'building' ? 'building' : 'built',
  )

  useEffect(() => {
    box.current?.focus()
    return () => clearTimeout(pause.current)
  }, [])
  useEffect(() => {
    if (q === sent.current) return
    // The address changed by itself: back, forward, or a link.
    clearTimeout(pause.current)
    sent.current = q
    setText(q)
  }, [q])

  function send(next: string): void {
    clearTimeout(pause.current)
    if (next === sent.current) return
    sent.current = next
    go({ kind: 'search', q: next }, 'replace')
  }
  function type(next: string): void {
    setText(next)
    clearTimeout(pause.current)
    pause.current = setTimeout(() => send(next), PAUSE_MS)
  }
  function put(next: string): void {
    setText(next)
    send(next)
    box.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    const links = [...(root.current?.querySelectorAll<HTMLElement>('[data-hit]') ?? [])]
    const at = links.findIndex((link) => link === document.activeElement)
    const isInBox = document.activeElement === box.current
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      if (!isInBox) box.current?.focus()
      else if (text !== '') put('')
      else go({ kind: 'home' })
      return
    }
    if (!isInBox && at === -1) return
    const target = findTarget(event.key, at, isInBox)
    if (target === undefined) return
    event.preventDefault()
    if (isInBox) send(text)
    const link = links[target]
    if (target === -1) box.current?.focus()
    else if (link !== undefined) {
      link.focus({ preventScroll: true })
      link.scrollIntoView({ block: 'nearest' })
    }
  }

  const isOld = state === 'asking' || (answer !== undefined && answer.q !== text)
  return (
    <div class="view search-view" ref={root} onKeyDown={onKeyDown}>
      <h1 class="unseen">Search</h1>
      <div class="search-head">
        <div class="search-box" role="search">
          <Icon name="search" />
          <input
            ref={box}
            type="search"
            aria-label="Search every session"
            placeholder="Search every session"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            enterkeyhint="search"
            value={text}
            onInput={(event) => type(event.currentTarget.value)}
          />
          {text !== '' && (
            <button type="button" class="button quiet" aria-label="Clear the search" onClick={() => put('')}>
              <Icon name="cross" />
            </button>
          )}
        </div>
        <FacetBar text={text} sessions={sessions.value ?? []} hits={answer?.hits ?? []} onChange={put} />
      </div>
      {q.trim() !== '' && <IndexLine index={health.value?.index} used={answer?.index} />}
      {trouble !== undefined && <TroubleNote trouble={trouble} again={again} />}
      {q.trim() === '' && <Examples onPick={put} />}
      {answer === undefined && trouble === undefined && state === 'asking' && <Waiting />}
      {answer !== undefined && (
        <div class={isOld ? 'search-answer old' : 'search-answer'} aria-busy={isOld}>
          <Said answer={answer} />
          <HitList
            hits={answer.hits}
            hasMore={answer.next !== undefined}
            isLoadingMore={state === 'more'}
            now={now.value}
            onMore={more}
          />
        </div>
      )}
    </div>
  )
}

/** Where the focus goes: a hit, −1 for the box, `undefined` for nowhere. */
function findTarget(key: string, at: number, isInBox: boolean): number | undefined {
  if (isInBox) return key === 'ArrowDown' || key === 'Enter' ? 0 : undefined
  if (key === 'ArrowDown') return at + 1
  if (key === 'ArrowUp') return at - 1
  return key === 'Home' ? 0 : undefined
}

function Said({ answer }: { answer: SearchAnswer }): VNode {
  const { count, exact } = answer.total
  return (
    <>
      <p class="search-total soft small" role="status">
        {count === 0
          ? 'Nothing matches.'
          : `${exact ? '' : 'More than '}${toCount(count)} ${count === 1 ? 'match' : 'matches'}`}
      </p>
      {answer.notes.map((note) => (
        <p key={note} class="hush">
          {note}
        </p>
      ))}
      {count === 0 && (
        <p class="soft small search-none">
          Fewer words find more, and <code>pars*</code> finds every word that begins so. Chips above can be
          taken away one by one.
        </p>
      )}
    </>
  )
}

function IndexLine({
  index,
  used,
}: {
  index: Health['index'] | undefined
  used: SearchAnswer['index'] | undefined
}): VNode | null {
  if (index?.state === 'failed') {
    return (
      <p class="hush">
        The index cannot be used. The transcripts themselves are searched, which takes longer.
      </p>
    )
  }
  if (index?.state === 'building') {
    const { done, total } = index.bytes
    return (
      <div class="hush search-index">
        <label>
          The index is being built: {toCount(index.files.done)} of {toCount(index.files.total)} files. What is
          not in it yet may be missing here.
          <progress value={done} max={Math.max(1, total)} />
        </label>
      </div>
    )
  }
  return used === 'none' ? (
    <p class="hush">There is no index: the transcripts themselves are searched, which takes longer.</p>
  ) : null
}

function Examples({ onPick }: { onPick: (q: string) => void }): VNode {
  return (
    <section class="search-examples">
      <h2>Ask like this</h2>
      <ul>
        {EXAMPLES.map(({ q, what }) => (
          <li key={q}>
            <a
              href={toHash({ kind: 'search', q })}
              onClick={(event) => {
                event.preventDefault()
                onPick(q)
              }}
            >
              <code>{q}</code>
            </a>
            <span class="soft">{what}</span>
          </li>
        ))}
      </ul>
      <p class="faint small">
        <kbd>↓</kbd> <kbd>↑</kbd> move between what is found, <kbd>Enter</kbd> opens it, <kbd>Esc</kbd>{' '}
        clears, then leaves.
      </p>
    </section>
  )
}

function Waiting(): VNode {
  return (
    <div class="search-waiting" role="status" aria-label="Searching">
      {[72, 90, 64, 84].map((width) => (
        <div key={width} class="ghost" style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}
