import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { safeLine } from '#render'
import type { Trouble } from '../answer.ts'
import { toFolderName } from '../folder-names.ts'
import { toSuggestions } from './start-draft.ts'
import './folder-field.css'

/** A folder: typed, or one of those where somebody worked before. What is wrong with it is said beside it. */
export function FolderField(props: {
  id: string
  label: ComponentChildren
  value: string
  recent: readonly string[]
  trouble: Trouble | undefined
  onChange: (workdir: string) => void
}): VNode {
  const { id, value, trouble, onChange } = props
  const field = useRef<HTMLInputElement>(null)
  const suggestions = toSuggestions(props.recent, value)
  // Before the next frame: what is typed right after the alert appears goes into the field.
  useLayoutEffect(() => {
    if (trouble === undefined) return
    field.current?.focus()
    field.current?.scrollIntoView({ block: 'nearest' })
  }, [trouble])
  return (
    <div class="field folder-field">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        ref={field}
        type="text"
        placeholder="/home/you/project"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required
        aria-invalid={trouble !== undefined}
        aria-describedby={trouble === undefined ? undefined : `${id}-trouble`}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {trouble === undefined ? null : (
        <p class="field-trouble" id={`${id}-trouble`} role="alert">
          {trouble.message} {trouble.hint}
        </p>
      )}
      {suggestions.length > 0 && (
        <div class="suggestions" role="group" aria-label="Folders you worked in">
          {suggestions.map((workdir) => (
            <button
              key={workdir}
              type="button"
              title={workdir}
              aria-label={workdir}
              aria-pressed={workdir === value}
              onClick={() => onChange(workdir)}
            >
              {safeLine(toFolderName(workdir))}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
