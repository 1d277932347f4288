import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { RefObject, TextareaHTMLAttributes, VNode } from 'preact'
import { safeLine } from '#render'
import { complete, findCompletion, type Completion } from './completion.ts'

const LIST = 'completions'

/** What is offered while one types, and what keys do with it. */
export interface Completing {
  readonly found: ReadonlySignal<Completion | undefined>
  readonly at: ReadonlySignal<number>
  readonly attributes: TextareaHTMLAttributes
  /** Looks at what stands before the caret. */
  readonly look: () => void
  /** Whether the key was for the list. */
  onKey(event: KeyboardEvent): boolean
  choose(choice: string): void
}

export function useCompletion(of: {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly text: string
  readonly commands: readonly string[]
  readonly files: readonly string[]
  readonly onText: (text: string) => void
}): Completing {
  const found = useSignal<Completion | undefined>(undefined)
  const at = useSignal(0)

  function look(): void {
    const element = of.field.current
    if (element === null) return
    found.value = findCompletion(element.value, element.selectionEnd, of)
    at.value = 0
  }

  function choose(choice: string): void {
    const element = of.field.current
    if (element === null || found.value === undefined) return
    const next = complete(element.value, found.value, choice)
    found.value = undefined
    of.onText(next.text)
    element.value = next.text
    element.focus()
    element.setSelectionRange(next.caret, next.caret)
  }

  return {
    found,
    at,
    look,
    choose,
    attributes: {
      'aria-autocomplete': 'list',
      'aria-haspopup': 'listbox',
      ...(found.value === undefined
        ? {}
        : { 'aria-controls': LIST, 'aria-activedescendant': `${LIST}-${at.value}` }),
    },
    onKey(event) {
      const offered = found.value
      if (offered === undefined || event.isComposing) return false
      const { length } = offered.choices
      switch (event.key) {
        case 'ArrowDown':
          at.value = (at.value + 1) % length
          break
        case 'ArrowUp':
          at.value = (at.value + length - 1) % length
          break
        case 'Escape':
          found.value = undefined
          break
        case 'Tab':
        case 'Enter': {
          const choice = offered.choices[at.value]
          if (event.shiftKey || choice === undefined) return false
          // What is written out already is sent, not completed.
          if (event.key === 'Enter' && of.text.slice(offered.from, offered.to) === choice) return false
          choose(choice)
          break
        }
        default:
          return false
      }
      event.preventDefault()
      event.stopPropagation()
      return true
    },
  }
}

export function CompletionList({ completion }: { completion: Completing }): VNode | null {
  const found = completion.found.value
  if (found === undefined) return null
  return (
    <ul
      class="completions"
      id={LIST}
      role="listbox"
      aria-label={found.kind === 'command' ? 'Commands' : 'Files'}
    >
      {found.choices.map((choice, index) => (
        <li
          key={choice}
          id={`${LIST}-${index}`}
          role="option"
          aria-selected={index === completion.at.value}
          onMouseDown={(event) => {
            event.preventDefault()
            completion.choose(choice)
          }}
        >
          {safeLine(choice)}
        </li>
      ))}
    </ul>
  )
}
