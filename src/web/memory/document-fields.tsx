import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { DocumentCategory, DocumentType } from '#model'
import { CATEGORIES, CATEGORY_NAMES } from './document-words.ts'
import { TagField } from './tag-field.tsx'

/** What a person can say of a document, whether it is new or not. */
export interface Fields {
  readonly type: Exclude<DocumentType, 'message'>
  readonly content: string
  readonly category: DocumentCategory
  readonly tags: readonly string[]
  /** A day, as a field has it; empty for never. */
  readonly expires: string
  /** Agents and folders, separated by commas; empty for all. */
  readonly agents: string
  readonly workdirs: string
}

interface Props {
  readonly fields: Fields
  readonly onChange: (part: Partial<Fields>) => void
}

/** The fields of the form. What only teachings have is there for teachings. */
export function DocumentFields({ fields, onChange }: Props): VNode {
  const text = useRef<HTMLTextAreaElement>(null)
  useEffect(() => text.current?.focus(), [])
  return (
    <>
      <label class="field">
        <span>Text</span>
        <textarea
          rows={4}
          ref={text}
          value={fields.content}
          dir="auto"
          onInput={(event) => onChange({ content: event.currentTarget.value })}
        />
      </label>
      <div class="field" role="group" aria-label="Category">
        <span>Category</span>
        <div class="choice">
          {[...new Set([...CATEGORIES, fields.category])].map((category) => (
            <button
              key={category}
              type="button"
              aria-pressed={fields.category === category}
              onClick={() => onChange({ category })}
            >
              {CATEGORY_NAMES[category]}
            </button>
          ))}
        </div>
      </div>
      <TagField tags={fields.tags} text={fields.content} onChange={(tags) => onChange({ tags })} />
      {fields.type === 'teaching' ? (
        <div class="memory-pair">
          <label class="field">
            <span>
              For these agents <span class="soft">empty: all</span>
            </span>
            <input
              type="text"
              placeholder="claude, codex"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={fields.agents}
              onInput={(event) => onChange({ agents: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>
              In these folders <span class="soft">empty: all</span>
            </span>
            <input
              type="text"
              placeholder="/home/you/project"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={fields.workdirs}
              onInput={(event) => onChange({ workdirs: event.currentTarget.value })}
            />
          </label>
        </div>
      ) : null}
      <label class="field memory-expiry">
        <span>
          Holds until <span class="soft">empty: for ever</span>
        </span>
        <input
          type="date"
          value={fields.expires}
          onInput={(event) => onChange({ expires: event.currentTarget.value })}
        />
      </label>
    </>
  )
}

/** The parts of a list that somebody typed. */
export function toParts(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The end of a day, where the person is; `undefined` for never. */
export function toExpiry(day: string): string | undefined {
  const [year, month, date] = day.split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined) return undefined
  const end = new Date(year, month - 1, date, 23, 59, 59)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}

function two(part: number): string {
  return String(part).padStart(2, '0')
}

/** The day of a time, where the person is, as a field has it. */
export function toDay(at: string | undefined): string {
  const time = new Date(at ?? '')
  if (Number.isNaN(time.getTime())) return ''
  return `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
}
