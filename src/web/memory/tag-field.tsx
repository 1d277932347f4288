import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { safeLine } from '#render'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'

/** Typing rests for this long before tags are asked for. */
const REST_MS = 400
const MOST_SUGGESTED = 6

interface Props {
  readonly tags: readonly string[]
  /** What they are for: tags that suit it are offered. */
  readonly text: string
  readonly onChange: (tags: readonly string[]) => void
}

/** Tags that can be typed, taken from what is offered, and taken away. */
export function TagField({ tags, text, onChange }: Props): VNode {
  const { throughline } = useShared()
  const typed = useSignal('')
  const suggested = useSignal<readonly string[]>([])
  useEffect(() => {
    if (text.trim() === '') return undefined
    let isOld = false
    const timer = setTimeout(() => {
      throughline.memory.suggestTags(text).then(
        (found) => !isOld && (suggested.value = found),
        // Nobody needs them.
        () => {},
      )
    }, REST_MS)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [text])

  function add(tag: string): void {
    const words = toTag(tag)
    typed.value = ''
    if (words !== '' && !tags.includes(words)) onChange([...tags, words])
  }

  const offered = suggested.value.filter((tag) => !tags.includes(tag)).slice(0, MOST_SUGGESTED)
  return (
    <div class="field">
      <label for="memory-tags">Tags</label>
      <div class="tag-box">
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            class="tag-chip"
            aria-label={`Take the tag ${safeLine(tag)} away`}
            onClick={() => onChange(tags.filter((one) => one !== tag))}
          >
            #{safeLine(tag)} <Icon name="cross" />
          </button>
        ))}
        <input
          id="memory-tags"
          type="text"
          placeholder={tags.length === 0 ? 'Type one, then Enter' : ''}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
          onBlur={() => add(typed.value)}
          onKeyDown={(event) => {
            if (event.isComposing || event.ctrlKey || event.metaKey) return
            if (event.key === 'Enter' || event.key === ',') {
              // An empty field has nothing to add: then Enter is the form's.
              if (typed.value.trim() === '' && event.key === 'Enter') return
              event.preventDefault()
              add(typed.value)
            }
            if (event.key === 'Backspace' && typed.value === '') onChange(tags.slice(0, -1))
          }}
        />
      </div>
      {offered.length === 0 ? null : (
        <div class="suggestions" role="group" aria-label="Tags that may suit">
          {offered.map((tag) => (
            <button key={tag} type="button" onClick={() => add(tag)}>
              <span aria-hidden="true">+</span> {safeLine(tag)}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

function toTag(text: string): string {
  return text.trim().replace(/^#+/, '').replace(/\s+/g, '-').slice(0, 60)
}
