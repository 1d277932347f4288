import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { string } from '#base'
import { readCall, type Block, type TextBlock, type ToolCall } from '#model'
import { findPlan, ranInput, toCallParts, toJson, withoutPrompt, type CallPart } from '#render'
import { BlockView } from './block-view.tsx'
import { CodeBlock } from './code-block.tsx'
import { findFirstLine } from './diff-rows.ts'
import { DiffView } from './diff-view.tsx'
import { Fold } from './fold.tsx'
import { FileOutput } from './file-output.tsx'
import { Markdown } from './markdown.tsx'
import { toMarked } from './marks.tsx'
import { readNumberedLines } from './numbered-lines.ts'
import type { PassageContext } from './passage-context.ts'
import { findTodos, type Todo } from './todos.ts'
import { TerminalOutput } from './terminal-output.tsx'

/** What is inside a call: what it was given, then what it answered. */
export function CallBody(props: { call: ToolCall; started: boolean; context: PassageContext }): VNode {
  const { call, started, context } = props
  const parts = useMemo(
    () => (started ? withoutPrompt(toCallParts(call), call) : toCallParts(call)),
    [call, started],
  )
  const todos = findTodos(call)
  const shown = todos === undefined ? parts : parts.filter((part) => part.kind !== 'input')
  return (
    <>
      {todos === undefined ? null : <Todos todos={todos} marks={context.marks} />}
      {shown.map((part) => partToNode(part, call, context.marks))}
      {call.state === 'pending' && (context.pace?.value ?? '') === '' ? (
        <p class="note">There is no answer to this call in the session.</p>
      ) : null}
    </>
  )
}

function partToNode(part: CallPart, call: ToolCall, marks: readonly string[]): ComponentChildren {
  switch (part.kind) {
    case 'plan':
      return (
        <div class="plan">
          <Markdown text={part.text} marks={marks} />
        </div>
      )
    case 'note':
      return <p class="note">{toMarked(part.text, marks)}</p>
    case 'input':
      return <Input part={part} call={call} marks={marks} />
    case 'diff':
      return <DiffView lines={part.lines} firstLine={findFirstLine(call, part.lines)} marks={marks} />
    case 'output':
      // Beside a plan the client's words to the model say nothing that its line does not say.
      if (findPlan(call) !== undefined)
        return (
          <Fold of={part.blocks} class="fold-quiet" summary="What the agent was told">
            {() => <Output blocks={part.blocks} failed={part.failed} marks={marks} />}
          </Fold>
        )
      return <Output blocks={part.blocks} failed={part.failed} marks={marks} {...pathOf(call)} />
  }
}

/** A command is a shell's, without the sign that is not part of it; what is JSON is JSON, and a text is a text. */
function Input(props: {
  part: CallPart & { kind: 'input' }
  call: ToolCall
  marks: readonly string[]
}): VNode {
  const { part, call, marks } = props
  const { text } = part
  const { tool, input } = readCall(call.use.name, ranInput(call))
  const command = tool === 'Bash' ? string(input, 'command') : undefined
  if (command !== undefined && text.endsWith(`$ ${command}`)) {
    const purpose = string(input, 'description') ?? ''
    return (
      <>
        {purpose === '' ? null : <p class="note">{toMarked(purpose, marks)}</p>}
        <CodeBlock text={command} language="bash" marks={marks} />
      </>
    )
  }
  return /^[[{]/.test(text) && text.length <= 20_000 ? (
    <CodeBlock text={text} language="json" marks={marks} />
  ) : (
    <TerminalOutput of={part} text={text} marks={marks} what="input" />
  )
}

/** What a tool answered. `path` is the file it was asked for. */
export function Output(props: {
  blocks: readonly Block[]
  failed: boolean
  marks: readonly string[]
  path?: string
}): VNode {
  const { blocks, marks } = props
  const shown = blocks.filter((block) => block.kind !== 'text' || block.text.trim() !== '')
  if (shown.length === 0) return <p class="note">No output</p>
  return (
    <>
      {shown.map((block) =>
        block.kind === 'text' ? (
          <Printed {...props} block={block} />
        ) : (
          <BlockView block={block} marks={marks} />
        ),
      )}
    </>
  )
}

function Printed(props: {
  block: TextBlock
  failed: boolean
  marks: readonly string[]
  path?: string
}): VNode {
  const { block, failed, marks, path } = props
  const numbered = path === undefined ? undefined : readNumberedLines(block.text)
  if (path !== undefined && numbered !== undefined)
    return <FileOutput of={block} path={path} numbered={numbered} marks={marks} />
  return <TerminalOutput of={block} text={pretty(block.text)} marks={marks} failed={failed} />
}

function pathOf({ use }: ToolCall): { path?: string } {
  const { tool, input } = readCall(use.name, use.input)
  const path = tool === 'Read' ? string(input, 'file_path') : undefined
  return path === undefined ? {} : { path }
}

/** An answer of one line of JSON is easier to read on several. */
function pretty(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length > 20_000 || trimmed.includes('\n') || !/^[[{].*[\]}]$/.test(trimmed)) return text
  try {
    const value: unknown = JSON.parse(trimmed)
    return toJson(value)
  } catch {
    return text
  }
}

function Todos({ todos, marks }: { todos: readonly Todo[]; marks: readonly string[] }): VNode {
  return (
    <ul class="todos">
      {todos.map(({ text, state }) => (
        <li class={state === 'completed' ? 'todo todo-done' : 'todo'}>
          <label>
            <input type="checkbox" disabled checked={state === 'completed'} />
            <span>{toMarked(text, marks)}</span>
          </label>
          {state === 'in_progress' ? <span class="note">in progress</span> : null}
        </li>
      ))}
    </ul>
  )
}
