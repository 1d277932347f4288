import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import { toChoices, type Choice, type PaletteAction } from './choices.ts'
import { Sheet } from './sheet.tsx'

interface Props {
  readonly onClose: () => void
  readonly actions?: readonly PaletteAction[]
}

const NO_ACTIONS: readonly PaletteAction[] = []

/** Goes anywhere and does anything, by typing a few letters of it. */
export function Palette({ onClose, actions = NO_ACTIONS }: Props): VNode {
  const { go, sessions } = useShared()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const all = sessions.value
  const choices = useMemo(() => toChoices(typed, all ?? [], actions), [typed, all, actions])
  const active = choices[Math.min(at, choices.length - 1)]

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  function choose({ goal }: Choice): void {
    onClose()
    if (goal.kind === 'go') go(goal.route)
    // What it does may move the focus, so it is done after the focus went back.
    else setTimeout(goal.action.run)
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return
    const step = STEPS[event.key]
    if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault()
      choose(active)
    } else if (step !== undefined) {
      event.preventDefault()
      const next = Math.min(at, choices.length - 1) + step
      const isFar = Math.abs(step) > 1
      setAt(
        isFar
          ? Math.max(0, Math.min(choices.length - 1, next))
          : (next + choices.length) % Math.max(1, choices.length),
      )
    }
  }

  return (
    <Sheet label="Go to anything" class="palette" onClose={onClose}>
      <div class="palette-box">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Sessions, places and actions"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : `palette-${active.id}`}
          placeholder="Go to anything"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="button quiet" aria-label="Esc: close" onClick={onClose}>
          <kbd>Esc</kbd>
        </button>
      </div>
      <div class="palette-list" id="palette-list" role="listbox" aria-label="What there is" ref={list}>
        {toGroups(choices).map(({ name, members }) => (
          <div
            key={name}
            role="group"
            aria-label={typed === '' && name === 'Sessions' ? 'Recent sessions' : name}
          >
            <div class="palette-group faint" aria-hidden="true">
              {typed === '' && name === 'Sessions' ? 'Recent sessions' : name}
            </div>
            {members.map((choice) => (
              <div
                key={choice.id}
                id={`palette-${choice.id}`}
                role="option"
                aria-selected={choice === active}
                class="palette-option"
                onPointerMove={() => setAt(choices.indexOf(choice))}
                onClick={() => choose(choice)}
              >
                <span class="cut">
                  <Marked text={choice.label} places={choice.places} />
                </span>
                {choice.goal.kind === 'run' && choice.note !== '' ? (
                  <kbd>{choice.note}</kbd>
                ) : (
                  <span class="faint cut">{choice.note}</span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
    </Sheet>
  )
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }

function toGroups(
  choices: readonly Choice[],
): readonly { readonly name: Choice['group']; readonly members: readonly Choice[] }[] {
  const names = [...new Set(choices.map(({ group }) => group))]
  return names.map((name) => ({ name, members: choices.filter(({ group }) => group === name) }))
}

/** The text with the letters that were typed standing out. */
function Marked({ text, places }: { text: string; places: readonly number[] }): VNode {
  if (places.length === 0) return <>{text}</>
  const wanted = new Set(places)
  const runs: { text: string; marked: boolean }[] = []
  for (let at = 0; at < text.length; at++) {
    const marked = wanted.has(at)
    const last = runs.at(-1)
    if (last?.marked === marked) last.text += text.charAt(at)
    else runs.push({ text: text.charAt(at), marked })
  }
  return <>{runs.map((run, at) => (run.marked ? <b key={at}>{run.text}</b> : run.text))}</>
}
