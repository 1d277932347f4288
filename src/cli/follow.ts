import { ThroughlineError } from '#base'
import type { SessionState, SessionView, TurnOutcome } from '#model'
import type { LiveEvent, Throughline } from '#wire'
import { createDesk, type AttentionDesk } from './attention-desk.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { openFeed } from './live-feed.ts'
import { createPromptWatch, type PromptEnd } from './prompt-watch.ts'
import { toShortId } from './short.ts'
import type { Terminal } from './terminal.ts'
import { createTurnPrinter } from './turn-printer.ts'

export interface FollowOptions {
  readonly throughline: Throughline
  readonly sessionId: string
  readonly console: Console
  readonly isJson: boolean
  /** Until the turn that answers this prompt is over. Without one: until the session ends, or the person leaves. */
  readonly promptId?: string | undefined
  /** Prompts that were typed here. */
  readonly ownPrompts: ReadonlySet<string>
  readonly denyAll: boolean
  /** The person, where there is one. */
  readonly terminal: Terminal | undefined
  readonly editor: string | undefined
  /** The session takes the next prompt. */
  readonly onIdle?: (() => void) | undefined
}

const INTERRUPTED = 130

/**
 * Shows a live session as it goes on and asks the person what it asks. Gives the exit code: 0 answered, 1 failed or
 * interrupted, 130 when the person pressed Ctrl-C: once to interrupt the turn, twice to leave it alone.
 */
export async function follow(options: FollowOptions): Promise<number> {
  const { throughline, sessionId, console, isJson, promptId, terminal } = options
  const printer = createTurnPrinter({ paint: console.paint, ownPrompts: options.ownPrompts })
  const watch = promptId === undefined ? undefined : createPromptWatch(promptId)
  const feed = openFeed(throughline, { kind: 'live', id: sessionId })
  let state: SessionState['state'] = 'pending'
  let presses = 0

  async function write(text: string): Promise<void> {
    if (text === '') return
    await console.out.write(text)
    await console.out.flush()
  }

  let isFirst = true

  /** Whoever waits for an answer has not asked for what was said before. */
  async function showView(view: SessionView): Promise<void> {
    if (isFirst && promptId !== undefined && !isAbout(view, promptId)) printer.skip(view)
    else await write(printer.view(view))
    isFirst = false
  }

  async function invite(): Promise<void> {
    if (options.onIdle === undefined) return
    await write(printer.end())
    options.onIdle()
  }

  const desk = createDesk({
    throughline,
    console,
    terminal,
    editor: options.editor,
    manner: options.denyAll ? 'deny' : isJson ? 'quiet' : terminal === undefined ? 'tell' : 'ask',
    show: (text) => write(printer.line(text.trimEnd())),
    onIdle: () => {
      if (state === 'idle') options.onIdle?.()
    },
  })

  function press(): void {
    if (watch === undefined && state === 'idle') return console.say('note: Ctrl-D leaves the session alone.')
    presses += 1
    if (presses > 1) return feed.close()
    console.say('note: interrupting; Ctrl-C again leaves the session alone.')
    throughline.live.interrupt(sessionId).catch((error: unknown) => {
      // Whoever has left does not want to know.
      if (presses > 1) return
      console.say(`error: ${error instanceof Error ? error.message : String(error)}`)
    })
  }

  async function take(event: LiveEvent): Promise<PromptEnd | 'none' | undefined> {
    if (isJson) await write(toJsonLine(event))
    switch (event.kind) {
      case 'live.none':
        return 'none'
      case 'live.view': {
        state = event.view.state.state
        if (!isJson) await showView(event.view)
        desk.sync(event.view.attentions)
        if (state === 'idle') await invite()
        return watch === undefined ? endOf(event.view.state) : watch.view(event.view)
      }
      case 'live.event': {
        if (!isJson) await write(printer.event(event.event))
        return await hear(event.event, desk)
      }
      default:
        return undefined
    }
  }

  async function hear(
    event: Extract<LiveEvent, { kind: 'live.event' }>['event'],
    open: AttentionDesk,
  ): Promise<PromptEnd | undefined> {
    if (event.kind === 'attention.opened') open.opened(event.attention)
    if (event.kind === 'attention.settled') open.settled(event.id, event.state)
    if (event.kind === 'state.changed') {
      ;({ state } = event.state)
      if (state === 'idle') {
        presses = watch === undefined ? 0 : presses
        await invite()
      }
      if (watch === undefined) return endOf(event.state)
    }
    return watch?.event(event)
  }

  terminal?.onInterrupt(press)
  terminal?.onEnd(() => feed.close())
  process.on('SIGINT', press)
  try {
    for await (const event of feed) {
      const end = await take(event)
      if (end === undefined) continue
      if (end === 'none') throw notLive(sessionId)
      if (!isJson) await write(printer.end())
      const code = sayEnd(end, { console, isJson, sessionId })
      if (presses > 0) return INTERRUPTED
      // A session that ended well has not answered.
      return watch !== undefined && end.kind === 'ended' ? 1 : code
    }
    return presses > 0 ? INTERRUPTED : 0
  } finally {
    process.off('SIGINT', press)
    feed.close()
    await desk.close()
  }
}

function isAbout({ turn }: SessionView, promptId: string): boolean {
  return turn?.promptId === promptId || turn?.messages.some(({ id }) => id === promptId) === true
}

function endOf(state: SessionState): PromptEnd | undefined {
  return state.state === 'ended' ? { kind: 'ended', state } : undefined
}

function sayEnd(
  end: PromptEnd,
  {
    console,
    isJson,
    sessionId,
  }: { readonly console: Console; readonly isJson: boolean; readonly sessionId: string },
): number {
  if (end.kind === 'turn') {
    switch (end.outcome.kind) {
      case 'answered':
        return 0
      case 'interrupted':
        if (!isJson) console.say('note: the turn was interrupted.')
        return 1
      case 'failed':
        if (isJson) return 1
        console.say(`error: ${end.outcome.message}`)
        console.say(`next: ${toNext(end.outcome, sessionId)}`)
        return 1
    }
  }
  const { reason, message, hint } = end.state
  const isWell = ['ended', 'idle', 'agent-closed'].includes(reason)
  if (!isJson) {
    console.say(
      `${isWell ? 'note' : 'error'}: the session has ended (${reason})${message === undefined ? '' : `: ${message}`}`,
    )
    if (hint !== undefined) console.say(`next: ${hint}`)
  }
  return isWell ? 0 : 1
}

function notLive(id: string): ThroughlineError {
  return new ThroughlineError('session-ended', `session ${id} is not live`, {
    hint: `Go on with it: throughline resume ${toShortId(id)}`,
  })
}

function toNext({ retry, hint }: TurnOutcome & { readonly kind: 'failed' }, sessionId: string): string {
  if (hint !== undefined) return hint
  return retry
    ? `it may work later: throughline send ${toShortId(sessionId)} "go on"`
    : `throughline show ${toShortId(sessionId)}`
}
