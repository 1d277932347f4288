import {
  textOf,
  type Block,
  type Passage,
  type PromptMessage,
  type ReplyMessage,
  type SessionSummary,
  type ToolCall,
} from '#model'
import { findPlan, toJson } from './call-input.ts'
import { toCallParts, withoutPrompt, type CallPart } from './call-parts.ts'
import { toClock, toCount, toDamageLine, toShortCount, toSize, toSpan, toTokens } from './figures.ts'
import { toHtmlText } from './html-escape.ts'
import { toContainedMarkdown, toFenced, toPlainMarkdown } from './markdown-text.ts'
import { safeLine, safeText } from './safe-text.ts'
import { toToolLine } from './tool-line.ts'
import {
  agentName,
  sessionKind,
  branchOf,
  callsById,
  delegatedBy,
  describeBlock,
  describeCompaction,
  sessionName,
  speakerOf,
  type Transcript,
} from './transcript.ts'

/**
 * A session as Markdown: a heading per prompt, people's words as quotes, the agent's words as they are, tool calls
 * folded into `<details>`. Comes in pieces of about a message. Content cannot leave its place in it.
 */
export async function* toMarkdown(transcript: Transcript): AsyncGenerator<string> {
  yield head(transcript.session)
  let prompts = 0
  for await (const batch of transcript.passages) {
    for (const passage of batch) {
      if (passage.kind === 'prompt') yield `\n## ${++prompts}. ${titleOf(passage)}\n`
      yield* passageToMarkdown(passage, transcript, 0)
    }
  }
  yield '\n---\n\nExported by Throughline. Times are UTC.\n'
}

function head(session: SessionSummary): string {
  const { facts } = session
  const branch = branchOf(session)
  const when = toSpan(session.createdAt, session.lastActivityAt)
  const lines = [
    session.workdirs[0] === undefined ? undefined : `Workdir: ${codeOf(session.workdirs[0])}`,
    branch === undefined ? undefined : `Branch: ${codeOf(branch)}`,
    when === '' ? undefined : `When: ${toPlainMarkdown(safeLine(when))}`,
    facts === undefined || facts.models.length === 0
      ? undefined
      : `Model: ${facts.models.map(codeOf).join(', ')}`,
    facts === undefined
      ? undefined
      : `Tokens: ${toCount(toTokens(facts.usage))} (${toShortCount(facts.usage.input)} in, ${toShortCount(facts.usage.output)} out)`,
    `Session: ${codeOf(session.id)}, ${toSize(session.size)}`,
  ]
  const list = lines.filter((line) => line !== undefined).map((line) => `- ${line}\n`)
  return `# ${toPlainMarkdown(sessionName(session))}\n\n${sessionKind(session)}\n\n${list.join('')}`
}

/** Code on one line: whatever it holds, it cannot end the span. */
function codeOf(text: string): string {
  return `\`${safeLine(text).replaceAll('`', "'").replaceAll('|', '¦')}\``
}

function titleOf(prompt: PromptMessage): string {
  const line = safeLine(textOf(prompt.blocks).slice(0, 400))
  const short = line.length > 72 ? `${line.slice(0, 71)}…` : line
  return toPlainMarkdown(safeText(short === '' ? speakerOf(prompt, 0) : short))
}

async function* passageToMarkdown(
  passage: Passage,
  transcript: Transcript,
  depth: number,
): AsyncGenerator<string> {
  const off =
    passage.kind !== 'damage' && passage.offPath === true
      ? '\n*Not on the way to the end of this conversation:*\n'
      : ''
  switch (passage.kind) {
    case 'damage':
      yield `\n> ⚠ ${toPlainMarkdown(toDamageLine(passage.damage))}\n`
      return
    case 'prompt':
      yield off + promptToMarkdown(passage, depth)
      return
    case 'reply':
      yield* replyToMarkdown(passage, transcript, { depth, off })
      return
    case 'command': {
      const name = passage.command ?? ''
      const line = safeLine(
        `${name === '' || name.startsWith('/') ? name : `/${name}`} ${passage.args ?? ''}`,
      )
      const output = safeText(passage.output ?? '').trim()
      if (line !== '') yield `${off}\n${codeOf(line)}\n`
      if (output !== '') yield `\n${toFenced(output, 'text')}\n`
      return
    }
    case 'compaction': {
      const summary = textOf(passage.summary).trim()
      const label = toPlainMarkdown(describeCompaction(passage.compaction))
      yield `${off}\n---\n\n*${label}*\n`
      if (summary !== '') yield details('Summary the agent went on with', toFenced(safeText(summary), 'text'))
      return
    }
    case 'notice':
      if (passage.text.trim() !== '') yield `${off}\n*${toPlainMarkdown(safeLine(passage.text))}*\n`
      return
    case 'orphan':
      yield (
        off +
          details(
            `Result of a call that is not here: ${toHtmlText(safeLine(passage.toolUseId))}`,
            blocksToMarkdown(passage.answer.content),
          )
      )
      return
    case 'aside':
      return
  }
}

function promptToMarkdown(prompt: PromptMessage, depth: number): string {
  const said = safeText(textOf(prompt.blocks)).trim()
  const clock = prompt.at === undefined ? '' : ` · ${toClock(prompt.at)}`
  const meanwhile = prompt.midTurn ? ' · while the agent was working' : ''
  const quote = said === '' ? '' : `\n${quoted(toContainedMarkdown(said))}\n`
  const things = prompt.blocks
    .filter((block) => block.kind !== 'text')
    .map((block) => `\n*[${toPlainMarkdown(describeBlock(block))}]*\n`)
  return `\n**${speakerOf(prompt, depth)}**${clock}${meanwhile}\n${quote}${things.join('')}`
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

async function* replyToMarkdown(
  reply: ReplyMessage,
  transcript: Transcript,
  place: { readonly depth: number; readonly off: string },
): AsyncGenerator<string> {
  const calls = callsById(reply.calls)
  if (place.off !== '') yield place.off
  if (reply.blocks.some((block) => block.kind === 'text' && block.text.trim() !== '')) {
    yield `\n**${agentName(transcript.session)}**${reply.at === undefined ? '' : ` · ${toClock(reply.at)}`}\n`
  }
  for (const block of reply.blocks) {
    switch (block.kind) {
      case 'text':
        if (block.text.trim() !== '') yield `\n${toContainedMarkdown(safeText(block.text).trim())}\n`
        break
      case 'thinking':
        if (block.thinking.trim() === '') break
        yield details(toHtmlText(describeBlock(block)), toFenced(safeText(block.thinking).trim(), 'text'))
        break
      case 'tool-use':
        yield* callToMarkdown(
          calls.get(block.id) ?? { use: block, state: 'pending' },
          transcript,
          place.depth,
        )
        break
      case 'unknown':
      case 'document':
      case 'image':
      case 'redacted-thinking':
      case 'tool-result':
        yield `\n${blocksToMarkdown([block])}\n`
        break
    }
  }
}

async function* callToMarkdown(
  call: ToolCall,
  transcript: Transcript,
  depth: number,
): AsyncGenerator<string> {
  const { tool, detail, before, outcome } = toToolLine(call, { workdir: transcript.session.workdirs[0] })
  const changed = before === undefined ? '' : ` (changed from <code>${toHtmlText(before)}</code>)`
  const what = `${detail === '' ? '' : ` <code>${toHtmlText(detail)}</code>`}${changed}`
  const end = outcome === '' ? '' : ` → ${toHtmlText(outcome)}`
  // A plan is what a person came to read.
  const open = findPlan(call) === undefined ? '' : ' open'
  yield `\n<details${open}><summary><b>${toHtmlText(tool)}</b>${what}${end}</summary>\n`
  const subagent = delegatedBy(transcript, call, depth)
  if (subagent === undefined) {
    for (const part of toCallParts(call)) yield `\n${partToMarkdown(part)}\n`
  } else {
    const parts = withoutPrompt(toCallParts(call), call)
    for (const part of parts) if (part.kind !== 'output') yield `\n${partToMarkdown(part)}\n`
    for await (const batch of subagent.passages) {
      for (const passage of batch) yield* passageToMarkdown(passage, transcript, depth + 1)
    }
    for (const part of parts) if (part.kind === 'output') yield `\n${partToMarkdown(part)}\n`
  }
  yield '\n</details>\n'
}

function partToMarkdown(part: CallPart): string {
  switch (part.kind) {
    case 'plan':
      return toContainedMarkdown(safeText(part.text).trim())
    case 'input':
      return toFenced(safeText(part.text), 'text')
    case 'note':
      return `*${toPlainMarkdown(part.text)}*`
    case 'diff': {
      const mark = { added: '+', removed: '-', same: ' ' }
      return toFenced(
        safeText(part.lines.map(({ kind, text }) => `${mark[kind]} ${text}`).join('\n')),
        'diff',
      )
    }
    case 'output':
      return blocksToMarkdown(part.blocks)
  }
}

function blocksToMarkdown(blocks: readonly Block[]): string {
  const parts = blocks.map((block) => {
    if (block.kind === 'text') return toFenced(safeText(block.text).trimEnd(), 'text')
    if (block.kind === 'unknown') return toFenced(safeText(toJson(block.value)), 'json')
    return `*[${toPlainMarkdown(describeBlock(block))}]*`
  })
  return parts.length === 0 ? '*(no output)*' : parts.join('\n\n')
}

function details(summary: string, inside: string): string {
  return `\n<details><summary>${summary}</summary>\n\n${inside}\n\n</details>\n`
}
