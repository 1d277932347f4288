import { string } from '#base'
import type { AttentionState, DeltaFact, MessageFact, SessionEvent, SessionView } from '#model'
import { textOf, toShortSigner } from '#model'
import { exactLine, safeLine, safeText, toToolLine, type Paint } from '#render'

/** A live session as text, as it comes. Everything it gives is safe to write to a terminal. */
export interface TurnPrinter {
  /** What of the view was not printed yet. */
  view(view: SessionView): string
  event(event: SessionEvent): string
  /** Everything in the view was seen elsewhere, or does not matter here. */
  skip(view: SessionView): void
  /** A line of our own, between what the agent says. */
  line(text: string): string
  /** Nothing more comes: ends the line that was begun. */
  end(): string
}

export interface PrinterOptions {
  readonly paint: Paint
  /** Prompts that the person sees already, because they typed them here. */
  readonly ownPrompts: ReadonlySet<string>
}

interface Growing {
  text: string
  printed: number
}

/** Prints each word once, whether it comes in pieces, whole, or both, and again after a connection was lost. */
export function createTurnPrinter({ paint, ownPrompts }: PrinterOptions): TurnPrinter {
  const blocks = new Map<string, Growing>()
  /** Messages that were printed whole. */
  const seen = new Set<string>()
  /** Whole blocks that a message has by now. */
  const counted = new Map<string, number>()
  let isAtStart = true
  let last: Growing | undefined

  function emit(text: string): string {
    if (text !== '') isAtStart = text.endsWith('\n')
    return text
  }

  function line(text: string): string {
    const before = isAtStart ? '' : '\n'
    last = undefined
    return emit(`${before}${text}\n`)
  }

  /** What has come of a block since. `whole`: nothing more will. */
  function grow(block: Growing, end: 'more' | 'whole'): string {
    const upTo = end === 'whole' ? block.text.length : settledEnd(block.text)
    if (upTo <= block.printed) return ''
    const before = last === block || isAtStart ? '' : '\n'
    last = block
    const text = safeText(block.text.slice(block.printed, upTo))
    block.printed = upTo
    return emit(before + text)
  }

  function blockOf(messageId: string, at: number): Growing {
    const key = `${messageId} ${at}`
    const known = blocks.get(key) ?? { text: '', printed: 0 }
    blocks.set(key, known)
    return known
  }

  function delta({ messageId, block, what, text }: DeltaFact): string {
    if (what !== 'text') return ''
    const growing = blockOf(messageId, block)
    growing.text += text
    return grow(growing, 'more')
  }

  function message(fact: MessageFact): string {
    const { messageId, role } = fact
    const start = fact.block ?? counted.get(messageId ?? '') ?? 0
    if (messageId !== undefined) counted.set(messageId, start + fact.blocks.length)
    const key = fact.id ?? `${messageId} ${start}`
    if (seen.has(key)) return ''
    seen.add(key)
    if (role === 'person') return person(fact)
    if (role === 'tool') return results(fact)
    const isOwn = fact.parentToolUseId === undefined
    return fact.blocks
      .map((block, at) => {
        if (block.kind === 'tool-use') {
          const { tool, detail } = toToolLine({ use: block, state: 'pending' })
          return line(paint('dim', `${isOwn ? '' : '  '}· ${`${tool} ${detail}`.trim()}`))
        }
        if (block.kind !== 'text' || !isOwn) return ''
        const growing = blockOf(messageId ?? key, start + at)
        growing.text = block.text
        return grow(growing, 'whole')
      })
      .join('')
  }

  function person({ id, blocks: said, parentToolUseId }: MessageFact): string {
    if (parentToolUseId !== undefined || ownPrompts.has(id ?? '')) return ''
    const words = safeText(textOf(said)).trimEnd()
    return words === '' ? '' : line(paint('person', words.replaceAll(/^/gm, '> ')))
  }

  /** What a person made run in place of what the agent asked for. */
  function changed(state: AttentionState): string {
    const input =
      state.state === 'resolved' && state.resolution.kind === 'allow' ? state.resolution.input : undefined
    if (state.state !== 'resolved' || input === undefined) return ''
    const ran = string(input, 'command') ?? JSON.stringify(input)
    return line(
      paint('warning', `  changed by ${exactLine(toShortSigner(state.by))}: ${safeLine(ran.slice(0, 400))}`),
    )
  }

  function results({ blocks: all }: MessageFact): string {
    return all
      .flatMap((block) => (block.kind === 'tool-result' && block.isError ? [textOf(block.content)] : []))
      .map((text) => line(paint('dim', `  ✕ ${safeLine(toFailureLine(text.slice(0, 400))).slice(0, 100)}`)))
      .join('')
  }

  function view({ turn }: SessionView): string {
    if (turn === undefined) return ''
    counted.clear()
    const before = turn.messages.map(message)
    const growing = turn.streaming
      .filter(({ what }) => what === 'text')
      .map((piece) => {
        const block = blockOf(piece.messageId, piece.block)
        block.text = piece.text
        return grow(block, 'more')
      })
    return [...before, ...growing].join('')
  }

  return {
    line,
    view,
    skip(skipped) {
      view(skipped)
      isAtStart = true
      last = undefined
    },
    end: () => (isAtStart ? '' : emit('\n')),
    event(event) {
      switch (event.kind) {
        case 'delta':
          return delta(event)
        case 'message':
          return message(event)
        case 'retrying': {
          const { attempt, attempts } = event
          return line(paint('warning', `· ${safeLine(event.message)} (try ${attempt} of ${attempts})`))
        }
        case 'trouble.noticed':
          return line(paint('warning', `· ${safeLine(event.message)}`))
        case 'mode.changed':
          return line(paint('dim', `· mode: ${event.mode}`))
        case 'model.changed':
          return line(paint('dim', `· model: ${safeLine(event.model)}`))
        case 'attention.settled':
          return changed(event.state)
        case 'turn.ended':
          return isAtStart ? '' : emit('\n')
        case 'state.changed':
        case 'prompt.admitted':
        case 'prompt.moved':
        case 'attention.opened':
        case 'session.renamed':
        case 'agent.started':
        case 'turn.started':
        case 'unknown':
          return ''
      }
    },
  }
}

/** The last character may be half of one, or begin something that only its rest makes sense of. */
function settledEnd(text: string): number {
  const code = text.charCodeAt(text.length - 1)
  const isOpen = (code >= 0xd800 && code < 0xdc00) || code === 0x0d || code === 0x1b
  return isOpen ? text.length - 1 : text.length
}

/** What came of a call: `denied`, with what a person said, where a person did not allow it. */
function toFailureLine(text: string): string {
  const [denied, said] = /^The user denied this call(?:\.|; the user said:\n([^]*))/u.exec(text) ?? []
  if (denied === undefined) return text
  return said === undefined ? 'denied' : `denied: ${said}`
}
