import type { VNode } from 'preact'
import { toCount } from '#render'
import { CodeBlock } from './code-block.tsx'
import { useOpen } from './fold.tsx'
import { languageOf, type NumberedLines } from './numbered-lines.ts'
import { TerminalOutput } from './terminal-output.tsx'

/** Lines shown before somebody asks for all of them, and at most. */
const SHOWN = 200
const LONGEST = 20_000

/** A piece of a file that a tool read: code, with the numbers its lines have there. */
export function FileOutput(props: {
  of: object
  path: string
  numbered: NumberedLines
  marks: readonly string[]
}): VNode {
  const { of, path, numbered, marks } = props
  const [all, setAll] = useOpen(of)
  const { first, lines, rest } = numbered
  return (
    <>
      <CodeBlock
        text={lines.slice(0, all ? LONGEST : SHOWN).join('\n')}
        language={languageOf(path)}
        firstLine={first}
        marks={marks}
      />
      {!all && lines.length > SHOWN ? (
        <button type="button" class="show-all" onClick={() => setAll(true)}>
          Show all {toCount(lines.length)} lines
        </button>
      ) : null}
      {rest.trim() === '' ? null : <TerminalOutput of={numbered} text={rest.trim()} marks={marks} />}
    </>
  )
}
