import type { Passage, ReplyMessage, SessionSummary, ToolCall } from '#model'
import { cutToWidth, displayWidth } from './display-width.ts'
import { toDamageLine, toSize, toSpan } from './figures.ts'
import { createPaint } from './paint.ts'
import { safeLine, safeText } from './safe-text.ts'
import {
  commandPiece,
  divider,
  foldedCut,
  partLines,
  promptPiece,
  textPiece,
  type Page,
  type Piece,
} from './terminal-piece.ts'
import { toTextLines } from './terminal-text.ts'
import { toToolLine } from './tool-line.ts'
import {
  agentName,
  sessionKind,
  callsById,
  delegatedBy,
  describeAside,
  describeBlock,
  describeCompaction,
  sessionName,
  type Transcript,
} from './transcript.ts'
import { toCallParts, withoutPrompt } from './call-parts.ts'

/** What the terminal can show, and how much of a session is wanted. */
export interface TerminalOptions {
  readonly colour: boolean
  /** Columns. */
  readonly width: number
  /** Unfolds tool calls, thinking, subagents, and what surrounds the conversation. */
  readonly full: boolean
}

/**
 * A session to read in a terminal: people's words stand out, the agent's follow, tool calls take one line each.
 * Comes in pieces of about a message. Nothing in it but our own colours can act on the terminal.
 */
export async function* toTerminal(transcript: Transcript, options: TerminalOptions): AsyncGenerator<string> {
  const { colour, width, full } = options
  const page: Page = {
    paint: createPaint({ colour }),
    colour,
    width: Math.max(24, width),
    full,
    inset: '',
    depth: 0,
  }
  yield header(transcript.session, page)
  yield* conversation(transcript.passages, transcript, page)
}

function header(session: SessionSummary, page: Page): string {
  const { paint, width } = page
  const when = toSpan(session.createdAt, session.lastActivityAt)
  const facts = [
    session.recorded === undefined ? agentName(session) : sessionKind(session),
    session.workdirs[0],
    when === '' ? undefined : when,
    toSize(session.size),
  ]
  const line = safeLine(facts.filter((fact) => fact !== undefined).join(' · '))
  const name = cutToWidth(sessionName(session), width)
  const lines = [line, safeLine(session.id)].flatMap((fact) =>
    toTextLines(fact, { ...page, style: 'dim', colour: false }),
  )
  return `${paint('strong', name)}\n${lines.join('\n')}\n`
}

async function* conversation(
  passages: AsyncIterable<readonly Passage[]>,
  transcript: Transcript,
  page: Page,
): AsyncGenerator<string> {
  let last: Piece['kind'] | 'start' = page.depth === 0 ? 'text' : 'start'
  let offPath = false
  for await (const batch of passages) {
    for (const passage of batch) {
      const isOff = passage.kind !== 'damage' && passage.offPath === true
      const inner = isOff
        ? { ...page, inset: `${page.inset}${page.paint('dim', '┊')} `, width: page.width - 2 }
        : page
      if (isOff && !offPath) {
        yield `${blank(page)}${page.inset}${page.paint('dim', '┊ not on the way to the end of this conversation:')}\n`
        last = 'fold'
      }
      offPath = isOff
      for await (const piece of pieces(passage, transcript, inner)) {
        if (typeof piece === 'string') {
          yield piece
          last = 'fold'
          continue
        }
        const gap = last === 'start' || (last === 'fold' && piece.kind === 'fold') ? '' : blank(inner)
        last = piece.kind
        yield gap + piece.lines.map((line) => `${inner.inset}${line}`.trimEnd()).join('\n') + '\n'
      }
    }
  }
}

function blank(page: Page): string {
  return `${page.inset.trimEnd()}\n`
}

/** What a passage looks like. A string is already in its place: it comes from a subagent's conversation. */
async function* pieces(passage: Passage, transcript: Transcript, page: Page): AsyncGenerator<Piece | string> {
  const { paint, width, full } = page
  switch (passage.kind) {
    case 'damage':
      yield textPiece(`⚠ ${toDamageLine(passage.damage)}`, page, 'warning')
      return
    case 'prompt':
      yield promptPiece(passage, page)
      return
    case 'reply':
      yield* replyPieces(passage, transcript, page)
      return
    case 'command':
      if (passage.command !== undefined || (passage.output ?? '').trim() !== '')
        yield commandPiece(passage, page)
      return
    case 'compaction': {
      yield { kind: 'text', lines: [divider(describeCompaction(passage.compaction), page)] }
      for (const block of full ? passage.summary : []) {
        if (block.kind === 'text') yield textPiece(block.text, page, 'dim')
      }
      return
    }
    case 'notice': {
      const style = /err|warn|crit/i.test(passage.level) ? 'warning' : 'dim'
      const text = `· ${safeText(passage.text)}`
      yield { kind: 'fold', lines: foldedCut(toTextLines(text, { ...page, style }), page, 3) }
      return
    }
    case 'orphan': {
      const text = cutToWidth(`▸ result of a call that is not here (${safeLine(passage.toolUseId)})`, width)
      const output = {
        kind: 'output',
        blocks: passage.answer.content,
        failed: passage.answer.isError,
      } as const
      yield { kind: 'fold', lines: [paint('warning', text), ...(full ? partLines(output, page) : [])] }
      return
    }
    case 'aside':
      if (full)
        yield { kind: 'fold', lines: [paint('dim', cutToWidth(`· ${describeAside(passage)}`, width))] }
      return
  }
}

async function* replyPieces(
  reply: ReplyMessage,
  transcript: Transcript,
  page: Page,
): AsyncGenerator<Piece | string> {
  const { paint, width, full } = page
  const calls = callsById(reply.calls)
  for (const block of reply.blocks) {
    switch (block.kind) {
      case 'text':
        if (block.text.trim() !== '') {
          yield textPiece(block.text, page, reply.apiError ? 'error' : reply.synthetic ? 'dim' : undefined)
        }
        break
      case 'tool-use':
        yield* callPieces(calls.get(block.id) ?? { use: block, state: 'pending' }, transcript, page)
        break
      case 'thinking': {
        if (block.thinking.trim() === '') break
        const lines = [paint('dim', `▸ ${describeBlock(block)}`)]
        if (full)
          lines.push(
            ...toTextLines(safeText(block.thinking), { ...page, width: width - 4, style: 'dim' }).map(indent),
          )
        yield unfolded(lines)
        break
      }
      case 'redacted-thinking':
      case 'image':
      case 'document':
      case 'unknown':
      case 'tool-result':
        yield { kind: 'fold', lines: [paint('dim', cutToWidth(`▸ ${describeBlock(block)}`, width))] }
        break
    }
  }
}

async function* callPieces(
  call: ToolCall,
  transcript: Transcript,
  page: Page,
): AsyncGenerator<Piece | string> {
  const { paint, width, full, depth } = page
  const { tool, detail: ran, before, outcome } = toToolLine(call, { workdir: transcript.session.workdirs[0] })
  const detail = before === undefined ? ran : `${ran} (changed from: ${before})`
  const end = outcome === '' ? '' : ` → ${cutToWidth(outcome, Math.floor(width / 3))}`
  const head = cutToWidth(tool, Math.max(8, width - 2 - displayWidth(end)))
  const room = width - 3 - displayWidth(head) - displayWidth(end)
  const body = detail === '' || room < 4 ? '' : ` ${cutToWidth(detail, room)}`
  const style = call.state === 'done' ? 'strong' : call.state === 'failed' ? 'error' : 'warning'
  const line = `${paint('tool', '▸ ' + head)}${body}${paint(style, end)}`
  if (!full) {
    yield { kind: 'fold', lines: [line] }
    return
  }
  const subagent = delegatedBy(transcript, call, depth)
  if (subagent === undefined) {
    yield unfolded([line, ...toCallParts(call).flatMap((part) => partLines(part, page))])
    return
  }
  const parts = withoutPrompt(toCallParts(call), call)
  const above = parts.filter((part) => part.kind !== 'output').flatMap((part) => partLines(part, page))
  yield unfolded([line, ...above])
  const inner: Page = {
    ...page,
    inset: `${page.inset}  ${paint('tool', '│')} `,
    width: width - 4,
    depth: depth + 1,
  }
  yield `${page.inset}  ${paint('tool', '╭')} ${paint('dim', cutToWidth(subagent.label, width - 4))}\n`
  yield* conversation(subagent.passages, transcript, inner)
  yield `${page.inset}  ${paint('tool', '╰')}\n`
  for (const part of parts) if (part.kind === 'output') yield { kind: 'fold', lines: partLines(part, page) }
}

/** A call on one line stands close to its neighbours; one that is open needs room. */
function unfolded(lines: readonly string[]): Piece {
  return { kind: lines.length > 1 ? 'text' : 'fold', lines }
}

function indent(line: string): string {
  return `    ${line}`
}
