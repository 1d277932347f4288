import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { DiffLine, PermissionAsk } from '#model'
import { toAskParts, warnOfHidden, type AskPart } from '#render'
import { toDiffRows } from '../message/diff-rows.ts'
import { Markdown } from '../message/markdown.tsx'
import { Exact } from './exact-text.tsx'

const NO_MARKS: readonly string[] = []

/** All of what a tool would be given: nothing is folded, cut or left out. */
export function ExactInput({ ask }: { ask: PermissionAsk }): VNode {
  const groups = useMemo(() => toGroups(toAskParts(ask)), [ask])
  if (groups.length === 0) return <p class="note">Without any input.</p>
  return (
    <>
      {groups.map((group) =>
        group.kind === 'fields' ? <Fields fields={group.fields} /> : <Part part={group} />,
      )}
    </>
  )
}

type Field = Extract<AskPart, { kind: 'field' }>
type Group = Exclude<AskPart, Field> | { readonly kind: 'fields'; readonly fields: Field[] }

/** Fields that follow one another are one list. */
function toGroups(parts: readonly AskPart[]): readonly Group[] {
  const groups: Group[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (part.kind !== 'field') groups.push(part)
    else if (last?.kind === 'fields') last.fields.push(part)
    else groups.push({ kind: 'fields', fields: [part] })
  }
  return groups
}

function Part({ part }: { part: Exclude<AskPart, Field> }): VNode {
  switch (part.kind) {
    case 'plan':
      return <Plan text={part.text} />
    case 'command':
      return <Text text={part.text} what="command" />
    case 'value':
      return <Text text={part.text} what="input" />
    case 'path':
      return (
        <p class="exact-path">
          <code>
            <Exact text={part.text} />
          </code>
        </p>
      )
    case 'diff':
      return <ExactDiff lines={part.lines} />
    case 'no-newline':
      return <p class="soft small">No newline at the end.</p>
  }
}

/** A plan is read as Markdown, which leaves some of it out: its source can be unfolded, and is shown if it hides something. */
function Plan({ text }: { text: string }): VNode {
  if (warnOfHidden([text]) !== undefined) return <Text text={text} what="plan" />
  return (
    <>
      <Markdown text={text} marks={NO_MARKS} />
      <details class="plan-source">
        <summary class="soft small">Source</summary>
        <Text text={text} what="source of the plan" />
      </details>
    </>
  )
}

function Fields({ fields }: { fields: readonly Field[] }): VNode {
  return (
    <dl class="exact-fields">
      {fields.map(({ name, text }) => (
        <>
          <dt>
            <Exact text={name} />
          </dt>
          <dd>
            <Exact text={text} />
          </dd>
        </>
      ))}
    </dl>
  )
}

function Text({ text, what }: { text: string; what: string }): VNode {
  return (
    <pre class="exact" aria-label={what}>
      <Exact text={text} />
    </pre>
  )
}

const SIGNS = { added: '+', removed: '−', same: ' ' } as const

function ExactDiff({ lines }: { lines: readonly DiffLine[] }): VNode {
  const rows = useMemo(() => toDiffRows(lines, undefined), [lines])
  return (
    <div class="diff exact-diff" role="group" aria-label="The change">
      <div class="diff-sheet">
        {rows.map((row): ComponentChildren => (
          <div class={`diff-row diff-${row.kind}`}>
            <span class="diff-sign" role="img" aria-label={row.kind}>
              {SIGNS[row.kind]}
            </span>
            <span class="diff-text">
              <Exact text={row.text} />
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}
