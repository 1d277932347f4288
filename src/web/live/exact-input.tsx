import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { field, isObject, list, string } from '#base'
import { toLineDiff, type DiffLine, type PermissionAsk } from '#model'
import { toJson } from '#render'
import { toDiffRows } from '../message/diff-rows.ts'
import { Markdown } from '../message/markdown.tsx'
import { isPlan } from './attention-words.ts'
import { Exact, hasHidden } from './exact-text.tsx'

const NO_MARKS: readonly string[] = []

/** All of what a tool would be given: nothing is folded, cut or left out. */
export function ExactInput({ ask }: { ask: PermissionAsk }): VNode {
  const { tool, input } = ask
  if (isPlan(ask)) {
    return (
      <>
        <Markdown text={string(input, 'plan') ?? ''} marks={NO_MARKS} />
        <Rest input={input} shown={['plan']} />
      </>
    )
  }
  switch (tool) {
    case 'Bash': {
      const command = string(input, 'command')
      if (command === undefined) return <Rest input={input} shown={[]} />
      return (
        <>
          <Text text={command} what="command" />
          <Rest input={input} shown={['command']} />
        </>
      )
    }
    case 'Edit':
    case 'MultiEdit':
      return <Edits input={input} />
    case 'Write': {
      const content = string(input, 'content')
      if (content === undefined) return <Rest input={input} shown={[]} />
      return (
        <>
          <Path input={input} />
          <ExactDiff lines={toLineDiff('', content)} />
          <Rest input={input} shown={['file_path', 'content']} />
        </>
      )
    }
    default:
      return <Rest input={input} shown={[]} />
  }
}

function Edits({ input }: { input: unknown }): VNode {
  const edits = Array.isArray(field(input, 'edits')) ? list(input, 'edits') : [input]
  const isWhole = edits.every(
    (edit) => string(edit, 'old_string') !== undefined && string(edit, 'new_string') !== undefined,
  )
  if (!isWhole) return <Rest input={input} shown={[]} />
  return (
    <>
      <Path input={input} />
      {edits.map((edit) => (
        <>
          <ExactDiff lines={toLineDiff(string(edit, 'old_string') ?? '', string(edit, 'new_string') ?? '')} />
          {edit === input ? null : <Rest input={edit} shown={['old_string', 'new_string']} />}
        </>
      ))}
      <Rest
        input={input}
        shown={edits[0] === input ? ['file_path', 'old_string', 'new_string'] : ['file_path', 'edits']}
      />
    </>
  )
}

function Path({ input }: { input: unknown }): VNode | null {
  const path = string(input, 'file_path')
  if (path === undefined) return null
  return (
    <p class="exact-path">
      <code>
        <Exact text={path} />
      </code>
    </p>
  )
}

/** Every field that is not shown otherwise, with its name. */
function Rest({ input, shown }: { input: unknown; shown: readonly string[] }): VNode | null {
  if (!isObject(input)) return <Text text={toJson(input)} what="input" />
  const fields = Object.entries(input).filter(([key]) => !shown.includes(key))
  if (fields.length === 0) return shown.length > 0 ? null : <p class="note">Without any input.</p>
  return (
    <dl class="exact-fields">
      {fields.map(([key, value]) => (
        <>
          <dt>
            <Exact text={key} />
          </dt>
          <dd>
            <Exact text={typeof value === 'string' ? value : toJson(value)} />
          </dd>
        </>
      ))}
    </dl>
  )
}

function Text({ text, what }: { text: string; what: string }): VNode {
  return (
    <>
      <pre class="exact" aria-label={what}>
        <Exact text={text} />
      </pre>
      {hasHidden(text) ? (
        <p class="exact-warning">
          There are characters in it that are not visible. They are shown by number.
        </p>
      ) : null}
    </>
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
