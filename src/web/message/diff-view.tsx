import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { countDiff, type DiffLine } from '#model'
import { toCount, toPlural } from '#render'
import { CopyButton } from './copying.tsx'
import { foldContext, takeRows, toDiffRows, type DiffRow } from './diff-rows.ts'
import { useOpen } from './fold.tsx'
import { toMarked } from './marks.tsx'

/** Rows shown before somebody asks for all of them. */
const SHOWN = 200
const LONGEST = 10_000

/** How a text changed: what went, what came, and a few lines around. */
export function DiffView(props: {
  lines: readonly DiffLine[]
  firstLine: number | undefined
  marks: readonly string[]
}): VNode {
  const { lines, firstLine, marks } = props
  const [all, setAll] = useOpen(lines)
  const stretches = useMemo(
    () => foldContext(toDiffRows(lines.slice(0, LONGEST), firstLine)),
    [lines, firstLine],
  )
  const shown = all ? stretches : takeRows(stretches, SHOWN)
  const { added, removed } = countDiff(lines)
  const fresh = lines.filter((line) => line.kind !== 'removed').map((line) => line.text)
  return (
    <div class={firstLine === undefined ? 'diff' : 'diff diff-numbered'}>
      <div class="code-bar">
        <CopyButton text={fresh.join('\n')} what="the new text" />
      </div>
      <div
        class="diff-rows"
        tabIndex={0}
        role="group"
        aria-label={`Change: ${toPlural(added, 'line')} added, ${toCount(removed)} removed`}
      >
        <div class="diff-sheet">
          {shown.map((stretch) =>
            stretch.folded ? (
              <FoldedRows rows={stretch.rows} marks={marks} of={stretch.rows[0] ?? stretch} />
            ) : (
              stretch.rows.map((row) => rowToNode(row, marks))
            ),
          )}
        </div>
      </div>
      {shown === stretches ? null : (
        <button type="button" class="show-all" onClick={() => setAll(true)}>
          Show all {toCount(lines.length)} lines
        </button>
      )}
      {lines.length > LONGEST && shown === stretches ? (
        <p class="note">{toCount(lines.length - LONGEST)} more lines are too many for a page.</p>
      ) : null}
    </div>
  )
}

function FoldedRows(props: { of: object; rows: readonly DiffRow[]; marks: readonly string[] }): VNode {
  const [open, setOpen] = useOpen(props.of)
  if (open) return <>{props.rows.map((row) => rowToNode(row, props.marks))}</>
  return (
    <button type="button" class="show-all" onClick={() => setOpen(true)}>
      {toPlural(props.rows.length, 'unchanged line')}
    </button>
  )
}

const SIGNS = { added: '+', removed: '−', same: ' ' } as const
/** What a screen reader says where eyes see the sign. */
const NAMES = { added: 'added', removed: 'removed', same: undefined } as const

function rowToNode(row: DiffRow, marks: readonly string[]): VNode {
  const name = NAMES[row.kind]
  return (
    <div class={`diff-row diff-${row.kind}`}>
      <span class="diff-number" data-number={row.before ?? ''} />
      <span class="diff-number" data-number={row.after ?? ''} />
      <span
        class="diff-sign"
        {...(name === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': name })}
      >
        {SIGNS[row.kind]}
      </span>
      <span class="diff-text">{toText(row, marks)}</span>
    </div>
  )
}

function toText({ text, changed }: DiffRow, marks: readonly string[]): ComponentChildren {
  if (changed === undefined || changed[0] === changed[1]) return toMarked(text, marks)
  const [from, to] = changed
  return [
    toMarked(text.slice(0, from), marks),
    <span class="diff-changed">{toMarked(text.slice(from, to), marks)}</span>,
    toMarked(text.slice(to), marks),
  ]
}
