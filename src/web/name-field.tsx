import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionSummary } from '#model'
import { toTitle } from './session-groups.ts'
import type { SessionList } from './session-list.ts'
import { useShared } from './shared.ts'

/** A session's name, being written. Enter keeps it, Escape leaves it as it was; an empty one is taken back. */
export function NameField(props: { session: SessionSummary; list: SessionList; onDone: () => void }): VNode {
  const { session, list, onDone } = props
  const { throughline, say } = useShared()
  const field = useRef<HTMLInputElement>(null)
  const isOver = useRef(false)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])

  async function keep(): Promise<void> {
    if (isOver.current) return
    isOver.current = true
    const name = field.current?.value.trim() ?? ''
    onDone()
    if (name === toTitle(session)) return
    try {
      list.put(await throughline.rename(session, name === '' ? undefined : name))
      say(name === '' ? 'The name was taken back.' : `Now called ${name}`)
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    }
  }

  return (
    <input
      class="name-field"
      ref={field}
      aria-label="Name of the session"
      maxLength={200}
      value={toTitle(session)}
      onBlur={() => void keep()}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter') void keep()
        if (event.key !== 'Escape') return
        isOver.current = true
        onDone()
      }}
    />
  )
}
