import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { toPassages, type Message, type Reading, type SessionSummary } from '#model'
import { usePassageContext } from './conversation-context.tsx'
import { PassageView } from './message/passage-view.tsx'
import { keyOf } from './passage-list.ts'
import { toHash } from './route.ts'
import { useShared } from './shared.ts'

const START = '0'
const STEP = 40

/** A subagent's conversation inside the call that started it, from its beginning, a piece at a time. */
export function NestedConversation(props: { session: SessionSummary; subagent: string }): VNode {
  const { session, subagent } = props
  const shared = useShared()
  const readings = useSignal<readonly Reading[]>([])
  const cursor = useSignal<string | undefined>(START)
  const error = useSignal<Error | undefined>(undefined)

  async function more(): Promise<void> {
    if (cursor.value === undefined) return
    try {
      const page = await shared.throughline.page(session, {
        subagent,
        after: cursor.value,
        limit: STEP,
        raw: false,
      })
      readings.value = [...readings.value, ...page.readings]
      cursor.value = page.atEnd ? undefined : page.end
    } catch (cause) {
      error.value = cause instanceof Error ? cause : new Error(String(cause))
    }
  }
  useEffect(() => void more(), [])

  const passages = useMemo(() => toPassages(readings.value, undefined), [readings.value])
  const context = usePassageContext(session, subagent)
  return (
    <div class="nested">
      <p class="nested-head">
        <a href={toHash({ kind: 'session', id: session.id, subagent })}>Open by itself</a>
      </p>
      {passages.map((passage) => (
        <PassageView key={keyOf(passage)} passage={passage} context={context} />
      ))}
      {error.value === undefined ? undefined : <p role="alert">{error.value.message}</p>}
      {cursor.value === undefined ? undefined : (
        <button type="button" class="button" onClick={() => void more()}>
          {readings.value.length === 0 ? 'Loading…' : 'Show more'}
        </button>
      )}
    </div>
  )
}

/** The same where the session's own file holds it, and the subagent has none. */
export function NestedWork(props: {
  session: SessionSummary
  work: readonly Message[]
  marks: readonly string[]
}): VNode {
  const { session, work, marks } = props
  const own = usePassageContext(session, undefined, marks)
  const context = useMemo(() => ({ ...own, isWork: true as const }), [own])
  return (
    <div class="nested">
      {work.map((passage) => (
        <PassageView key={keyOf(passage)} passage={passage} context={context} />
      ))}
    </div>
  )
}
