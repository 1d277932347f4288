import type { VNode } from 'preact'
import { Sheet } from './sheet.tsx'

interface Props {
  readonly onClose: () => void
  readonly groups: readonly {
    readonly title: string
    readonly keys: readonly { readonly keys: string; readonly what: string }[]
  }[]
}

/** What every key does. */
export function KeysSheet({ onClose, groups }: Props): VNode {
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
