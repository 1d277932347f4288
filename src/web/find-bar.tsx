import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionSummary } from '#model'
import type { SearchHit } from '#wire'
import { Icon } from './icon.tsx'
import type { Route } from './route.ts'
import { toTerms } from './search-terms.ts'
import { useWishes } from './session-keys.ts'
import { useShared } from './shared.ts'
import './style/find-bar.css'

const MOST = 200
const PAUSE_MS = 120

/** Finds words anywhere in the session, also in what is not in the document. */
export function FindBar(props: {
  session: SessionSummary
  place: Extract<Route, { kind: 'session' }>
  onMarks: (words: readonly string[]) => void
  onClose: () => void
}): VNode {
  const { session, place, onMarks, onClose } = props
  const { throughline, go } = useShared()
  const field = useRef<HTMLInputElement>(null)
  const hits = useSignal<readonly SearchHit[] | undefined>(undefined)
  const total = useSignal('')
  const at = useSignal(-1)
  const error = useSignal<string | undefined>(undefined)
  const asked = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  useEffect(() => {
    field.current?.focus()
    // An answer that comes when nobody looks for anything any more leads nowhere.
    return () => {
      asked.current++
      clearTimeout(timer.current)
    }
  }, [])

  async function find(words: string): Promise<void> {
    const mine = ++asked.current
    if (words.trim() === '') {
      hits.value = undefined
      onMarks([])
      return
    }
    try {
      const page = await throughline.search({ q: `session:${session.id} ${words}`, limit: MOST })
      if (mine !== asked.current) return
      const found = page.hits.filter(({ subagent }) => subagent === place.subagent)
      hits.value = found.toSorted((a, b) => a.entry.place.offset - b.entry.place.offset)
      total.value = page.next === undefined ? '' : '+'
      error.value = undefined
      at.value = -1
      onMarks(toTerms(words))
      show(hits.value.length - 1)
    } catch (cause) {
      if (mine === asked.current) error.value = cause instanceof Error ? cause.message : String(cause)
    }
  }

  function show(index: number): void {
    const found = hits.value ?? []
    const next = found[(index + found.length) % Math.max(1, found.length)]
    if (next === undefined) return
    at.value = found.indexOf(next)
    go({ ...place, entry: next.entry.id }, 'replace')
  }

  useWishes((wish) => {
    if (wish === 'next-found') show(at.value + 1)
    if (wish === 'previous-found') show(at.value - 1)
  })

  const found = hits.value
  return (
    <div class="find-bar" role="search">
      <Icon name="search" />
      <input
        id="find"
        ref={field}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const words = event.currentTarget.value
          clearTimeout(timer.current)
          timer.current = setTimeout(() => void find(words), PAUSE_MS)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') show(at.value + (event.shiftKey ? -1 : 1))
          if (event.key === 'Escape') onClose()
        }}
      />
      <span role="status" class="find-count">
        {error.value ??
          (found === undefined
            ? ''
            : found.length === 0
              ? 'not found'
              : `${at.value + 1} of ${found.length}${total.value}`)}
      </span>
      <button
        type="button"
        class="icon-button small"
        aria-label="Previous"
        onClick={() => show(at.value - 1)}
      >
        <Icon name="up" />
      </button>
      <button type="button" class="icon-button small" aria-label="Next" onClick={() => show(at.value + 1)}>
        <Icon name="down" />
      </button>
      <button type="button" class="icon-button small" aria-label="Close find" onClick={onClose}>
        <Icon name="cross" />
      </button>
    </div>
  )
}
