import type { VNode } from 'preact'
import type { Action } from '../keys.ts'
import { Sheet } from './sheet.tsx'

interface KeyGroup {
  readonly title: string
  readonly keys: readonly { readonly keys: string; readonly what: string }[]
}

/** What every key does. */
export function KeysSheet(props: { onClose: () => void; actions: readonly Action[] }): VNode {
  const { onClose } = props
  const everywhere: KeyGroup = {
    title: 'Everywhere',
    keys: [
      { keys: 'Ctrl K', what: 'Go to anything' },
      ...props.actions.flatMap(({ keys, label }) => (keys === undefined ? [] : [{ keys, what: label }])),
      { keys: 'Esc', what: 'Close, or go back' },
    ],
  }
  const groups = [everywhere, ...ELSEWHERE]
  return (
    <Sheet label="Keyboard shortcuts" class="keys-sheet" onClose={onClose}>
      <header>
        <h2>Keyboard</h2>
        <button type="button" class="button quiet" aria-label="Esc: close" autofocus onClick={onClose}>
          <kbd>Esc</kbd>
        </button>
      </header>
      <div class="keys-groups" tabIndex={0}>
        {groups.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(({ keys: combination, what }) => (
                <div key={combination}>
                  <dt>
                    {combination.split(' ').map((key, at) => (
                      <kbd key={at}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  )
}

/** Keys that are listened to where the thing is that they act on. */
const ELSEWHERE: readonly KeyGroup[] = [
  {
    title: 'In a session',
    keys: [
      { keys: 'j', what: 'Next prompt' },
      { keys: 'k', what: 'Previous prompt' },
      { keys: 'f', what: 'Find in this session' },
      { keys: 'n', what: 'Next place found, while finding' },
      { keys: 'N', what: 'Previous place found' },
      { keys: 'o', what: 'Outline' },
      { keys: 'i', what: 'Facts about this session' },
      { keys: 'e', what: 'Unfold or fold every tool call in sight' },
      { keys: 'G', what: 'To the end' },
      { keys: 'g g', what: 'To the beginning' },
      { keys: 'm', what: 'Remember what is selected, or the message in focus' },
      { keys: 'r', what: 'Rename' },
      { keys: 'x', what: 'Star, or take the star back' },
    ],
  },
  {
    title: 'When an agent asks',
    keys: [
      { keys: 'a', what: 'Allow once, approve the plan, or answer' },
      { keys: 'd', what: 'Deny' },
      { keys: 'e', what: 'Edit what would run' },
      { keys: '1 … 9', what: 'Choose an option' },
      { keys: 'Esc', what: 'From the message field to what is asked; out of a form' },
    ],
  },
  {
    title: 'In search and lists',
    keys: [
      { keys: '↓ ↑', what: 'From one to the next' },
      { keys: 'Enter', what: 'Open' },
    ],
  },
]
