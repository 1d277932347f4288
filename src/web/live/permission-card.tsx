import { useSignal } from '@preact/signals'
import type { RefObject, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isObject, parseJson, string } from '#base'
import type { PermissionAsk, PermissionRule } from '#model'
import { isPlanAsk, textsOfAsk, toJson, warnOfHidden } from '#render'
import type { Answering } from './attention-card.tsx'
import { toOptionKey } from './card-keys.ts'
import { ExactInput } from './exact-input.tsx'
import { Exact, HiddenWarning } from './exact-text.tsx'
import { SeenBox } from './seen-box.tsx'

type Doing = 'choosing' | 'denying' | 'editing'

/** May this tool run? Nothing can be allowed before all of it was in sight. */
export function PermissionCard(props: { ask: PermissionAsk; hash: string; answering: Answering }): VNode {
  const { ask, answering } = props
  const isSeen = useSignal(false)
  const doing = useSignal<Doing>('choosing')
  const canAllow = isSeen.value && !answering.isBusy && !answering.isAsleep
  const plan = isPlanAsk(ask)

  return (
    <>
      {doing.value === 'editing' ? (
        <InputEditor ask={ask} answering={answering} onCancel={() => (doing.value = 'choosing')} />
      ) : (
        <SeenBox of={props.hash} onSeen={() => (isSeen.value = true)} label="What would be done">
          {ask.changed === undefined ? null : (
            <p class="attention-reason" role="note">
              Asked again: <Exact text={ask.changed} /> since it was asked before.
            </p>
          )}
          <ExactInput ask={ask} />
          {ask.reason === undefined ? null : (
            <p class="attention-reason">
              <span class="soft">Why, in the agent’s words:</span> <Exact text={ask.reason} />
            </p>
          )}
          {ask.rules.filter(isLong).map((rule) => (
            <p class="attention-reason" key={rule.id}>
              <span class="soft">“{scopeOf(rule)}” would allow all of this:</span>
              <code class="exact">
                <Exact text={rule.words} />
              </code>
            </p>
          ))}
          <HiddenWarning texts={textsOfAsk(ask)} />
        </SeenBox>
      )}
      {doing.value === 'denying' ? (
        <DenyForm answering={answering} onCancel={() => (doing.value = 'choosing')} />
      ) : null}
      {doing.value === 'choosing' ? (
        <>
          <div class="attention-actions">
            <button
              type="button"
              class="button primary"
              aria-keyshortcuts="a"
              disabled={!canAllow}
              onClick={() => answering.answer({ kind: 'allow', rules: [] })}
            >
              {plan ? 'Approve the plan' : 'Allow once'}
            </button>
            <button
              type="button"
              class="button"
              aria-keyshortcuts="d"
              disabled={answering.isBusy}
              onClick={() => answering.answer({ kind: 'deny' })}
            >
              {plan ? 'Keep planning' : 'Deny'}
            </button>
            <button
              type="button"
              class="button quiet"
              disabled={answering.isBusy}
              onClick={() => (doing.value = 'denying')}
            >
              {plan ? 'Say what to change…' : 'Deny with words…'}
            </button>
            {ask.canEdit && !plan ? (
              <button
                type="button"
                class="button quiet"
                aria-keyshortcuts="e"
                disabled={!isSeen.value || answering.isBusy}
                onClick={() => (doing.value = 'editing')}
              >
                Edit…
              </button>
            ) : null}
          </div>
          {isSeen.value ? null : (
            <p class="attention-hint">It can be allowed once you have seen all of it: scroll to its end.</p>
          )}
          <Rules
            rules={ask.rules}
            canAllow={canAllow}
            onChoose={(rule) => answering.answer({ kind: 'allow', rules: [rule.id] })}
          />
        </>
      ) : null}
    </>
  )
}

/** Words that do not fit on a button stand above, where they have to be seen before it can be pressed. */
function isLong({ words }: PermissionRule): boolean {
  return words.length > 140 || words.includes('\n')
}

function scopeOf({ scope }: PermissionRule): string {
  return scope === 'session' ? 'Allow for this session' : 'Always allow'
}

/** What an answer could allow beyond this once, in the words of the agent. */
function Rules(props: {
  rules: readonly PermissionRule[]
  canAllow: boolean
  onChoose: (rule: PermissionRule) => void
}): VNode | null {
  if (props.rules.length === 0) return null
  return (
    <ul class="attention-rules" aria-label="Allow more than this once">
      {props.rules.map((rule, at) => (
        <li key={rule.id}>
          <button
            type="button"
            class="rule"
            {...toOptionKey(at)}
            disabled={!props.canAllow}
            onClick={() => props.onChoose(rule)}
          >
            <span>{scopeOf(rule)}</span>
            <code>{isLong(rule) ? 'as written out above' : <Exact text={rule.words} />}</code>
          </button>
        </li>
      ))}
    </ul>
  )
}

function DenyForm({ answering, onCancel }: { answering: Answering; onCancel: () => void }): VNode {
  const words = useSignal('')
  const field = useFocusOnce<HTMLTextAreaElement>()
  const deny = (then: 'go-on' | 'stop'): void => {
    const said = words.value.trim()
    answering.answer({
      kind: 'deny',
      ...(said === '' ? {} : { words: said }),
      ...(then === 'stop' ? { interrupt: true } : {}),
    })
  }
  return (
    <form
      class="attention-form"
      onSubmit={(event) => {
        event.preventDefault()
        deny('go-on')
      }}
    >
      <label>
        What should it do instead?
        <textarea
          rows={2}
          value={words.value}
          ref={field}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <div class="attention-actions">
        <button type="submit" class="button primary" disabled={answering.isBusy}>
          Deny
        </button>
        <button type="button" class="button" disabled={answering.isBusy} onClick={() => deny('stop')}>
          Deny and stop the turn
        </button>
        <button type="button" class="button quiet" aria-keyshortcuts="Escape" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  )
}

/** Another input than the one that was asked with: a command as a command, everything else as JSON. */
function InputEditor(props: { ask: PermissionAsk; answering: Answering; onCancel: () => void }): VNode {
  const { ask, answering } = props
  const command = ask.tool === 'Bash' ? string(ask.input, 'command') : undefined
  const text = useSignal(command ?? toJson(ask.input))
  const problem = useSignal('')
  const field = useFocusOnce<HTMLTextAreaElement>()

  function allow(): void {
    const input = command === undefined ? parseJson(text.value) : withCommand(ask.input, text.value)
    if (!isObject(input)) {
      problem.value = 'This is no JSON object. It has to be one: { "key": "value" }.'
      return
    }
    answering.answer({ kind: 'allow', rules: [], input })
  }

  return (
    <form
      class="attention-form"
      onSubmit={(event) => {
        event.preventDefault()
        allow()
      }}
    >
      <label>
        {command === undefined ? 'The input, as JSON' : 'The command'}
        <textarea
          class="mono"
          rows={Math.min(14, text.value.split('\n').length + 1)}
          spellcheck={false}
          value={text.value}
          ref={field}
          onInput={(event) => {
            text.value = event.currentTarget.value
            problem.value = ''
          }}
        />
      </label>
      <HiddenPreview text={text.value} />
      {problem.value === '' ? null : (
        <p class="attention-trouble" role="alert">
          {problem.value}
        </p>
      )}
      <div class="attention-actions">
        <button type="submit" class="button primary" disabled={answering.isBusy}>
          Allow this instead
        </button>
        <button type="button" class="button quiet" aria-keyshortcuts="Escape" onClick={props.onCancel}>
          Back
        </button>
      </div>
    </form>
  )
}

/** A text field shows hidden characters as little as any other: what is in it is shown below it, exactly. */
function HiddenPreview({ text }: { text: string }): VNode | null {
  if (warnOfHidden([text]) === undefined) return null
  return (
    <>
      <pre class="exact" aria-label="The input with hidden characters shown">
        <Exact text={text} />
      </pre>
      <HiddenWarning texts={[text]} />
    </>
  )
}

function withCommand(input: unknown, command: string): unknown {
  return isObject(input) ? { ...input, command } : { command }
}

/** A person asked for this field: it is where they write next. */
function useFocusOnce<T extends HTMLElement>(): RefObject<T | null> {
  const field = useRef<T>(null)
  useEffect(() => field.current?.focus(), [])
  return field
}
