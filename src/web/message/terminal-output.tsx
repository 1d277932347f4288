import type { ComponentChildren, VNode } from 'preact'
import { safeText, toCount, toPlural, toSize } from '#render'
import { parseAnsi } from './ansi.ts'
import { CopyButton } from './copying.tsx'
import { LONGEST_SHOWN, toExcerpt } from './excerpt.ts'
import { useOpen } from './fold.tsx'
import { toMarked } from './marks.tsx'
import '../style/terminal.css'

/** What a program printed. */
export interface Printed {
  /** What printed it: asked for once, all of it stays shown. */
  readonly of: object
  readonly text: string
  readonly marks: readonly string[]
  readonly failed?: boolean
  readonly what?: string
}

/** What a program printed, in its colours; a long one by its beginning and its end, until all is asked for. */
export function TerminalOutput(props: Printed): VNode {
  const { of, marks, failed = false, what = 'output' } = props
  const text = props.text.replace(/\s+$/, '')
  const [all, setAll] = useOpen(of)
  const excerpt = toExcerpt(text)
  const isCut = excerpt.tail !== '' && !all
  return (
    <div class={failed ? 'terminal terminal-failed' : 'terminal'}>
      <div class="code-bar">
        <CopyButton text={text} what={what} />
      </div>
      <pre tabIndex={0}>
        {isCut ? toRuns(excerpt.head, marks) : toRuns(text.slice(0, LONGEST_SHOWN), marks)}
      </pre>
      {isCut ? (
        <>
          <button type="button" class="show-all" onClick={() => setAll(true)}>
            {sayHidden(excerpt.lines, excerpt.hiddenLines, text.length)}
          </button>
          <pre tabIndex={0}>{toRuns(excerpt.tail, marks)}</pre>
        </>
      ) : null}
      {all && text.length > LONGEST_SHOWN ? (
        <p class="note">
          {toCount(text.length - LONGEST_SHOWN)} more characters are too many for a page. Copying takes all of
          them.
        </p>
      ) : null}
    </div>
  )
}

function sayHidden(lines: number, hidden: number, length: number): string {
  return lines > 1 && hidden > 1
    ? `${toPlural(hidden, 'line')} not shown. Show all ${toCount(lines)} lines`
    : `Not all is shown. Show all ${toSize(length)}`
}

function toRuns(text: string, marks: readonly string[]): ComponentChildren {
  // oxlint-disable-next-line no-control-regex
  if (!/\u001b/.test(text)) return toMarked(safeText(text), marks)
  return parseAnsi(text).map((run) =>
    run.className === '' ? (
      toMarked(run.text, marks)
    ) : (
      <span class={run.className}>{toMarked(run.text, marks)}</span>
    ),
  )
}
