import { useSignal } from '@preact/signals'
import type { RefObject, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { safeText, toPlural } from '#render'
import type { NearDocument, RememberOutcome } from '#wire'
import { toMoment } from '../age.ts'
import { toAuthor } from './document-words.ts'
import { WordDiff } from './word-diff-view.tsx'

/** Nearly the same is known. Only a person can tell whether it is the same, has changed, or is another thing. */
export function NearQuestion(props: {
  near: readonly NearDocument[]
  text: string
  onChoose: (choice: 'update' | 'keep-both' | 'ignore', id: string) => void
  onBack: () => void
}): VNode | null {
  const at = useSignal(0)
  const box = useFocus()
  const near = props.near[at.value] ?? props.near[0]
  if (near === undefined) return null
  const { document } = near
  return (
    <>
      <div class="start-fields" ref={box} tabIndex={-1} role="group" aria-label="Nearly the same is known">
        <h3>Nearly the same is known</h3>
        {props.near.length < 2 ? null : (
          <div class="choice" role="group" aria-label="Documents that are nearly the same">
            {props.near.map((one, n) => (
              <button
                key={one.document.id}
                type="button"
                aria-pressed={at.value === n}
                onClick={() => (at.value = n)}
              >
                {n + 1}
              </button>
            ))}
          </div>
        )}
        <div class="memory-pair memory-sides">
          <section>
            <h4>Known</h4>
            <p class="memory-text">{safeText(document.content)}</p>
            <p class="soft small">
              {toAuthor(document)}, {toMoment(document.updatedAt)}
            </p>
          </section>
          <section>
            <h4>New</h4>
            <p class="memory-text">{safeText(props.text)}</p>
            <p class="soft small">
              {near.differs.length === 0
                ? `${Math.round(near.similarity * 100)} % alike`
                : `Other ${near.differs.join(', ')}`}
            </p>
          </section>
        </div>
        <div>
          <h4>What is different</h4>
          <WordDiff before={document.content} after={props.text} />
        </div>
      </div>
      <footer class="start-foot memory-answers">
        <button type="button" class="button quiet" onClick={props.onBack}>
          Back
        </button>
        <button type="button" class="button" onClick={() => props.onChoose('ignore', document.id)}>
          Ignore the new one
        </button>
        <button type="button" class="button" onClick={() => props.onChoose('keep-both', document.id)}>
          Keep both
        </button>
        <button type="button" class="button primary" onClick={() => props.onChoose('update', document.id)}>
          Update
        </button>
      </footer>
    </>
  )
}

/** It looks like a secret. It is kept without it, unless the person wants it so. */
export function SecretQuestion(props: {
  outcome: Extract<RememberOutcome, { kind: 'secret' }>
  text: string
  onMasked: () => void
  onKeep: () => void
  onBack: () => void
}): VNode {
  const { secrets, masked } = props.outcome
  const box = useFocus()
  return (
    <>
      <div class="start-fields" ref={box} tabIndex={-1} role="group" aria-label="This looks like a secret">
        <h3>This looks like a secret</h3>
        <p class="soft">
          {toPlural(secrets.length, 'thing')} in it {secrets.length === 1 ? 'looks' : 'look'} like a secret:{' '}
          {secrets.map((name) => safeText(name)).join(', ')}. What is remembered is told to agents.
        </p>
        <div>
          <h4>Without it</h4>
          <WordDiff before={props.text} after={masked} />
        </div>
      </div>
      <footer class="start-foot memory-answers">
        <button type="button" class="button quiet" onClick={props.onBack}>
          Back
        </button>
        <button type="button" class="button" onClick={props.onKeep}>
          Keep as it is
        </button>
        <button type="button" class="button primary" onClick={props.onMasked}>
          Keep masked
        </button>
      </footer>
    </>
  )
}

/** What is asked has the focus, so that it is heard. */
function useFocus(): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  return box
}
