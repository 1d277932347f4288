import type { Block, DeltaFact, MessageFact, SessionEvent, SessionView, TurnSoFar } from '#model'

/** Something that was told and may not be written yet. */
export interface Told {
  /** Names it among everything that is told: the id of its entry, where the agent gave it one. */
  readonly key: string
  readonly fact: MessageFact
  readonly at: string
  /** Counts turns as they were seen from here. */
  readonly turn: number
  /** When its turn began, where that is known. */
  readonly since?: string | undefined
  /** It was told in pieces, and its end never came. */
  readonly isCut: boolean
  /** A person said it while the agent was at work. */
  readonly isMidTurn: boolean
}

/** What was told in a live session, in the order it was said: of this turn, and of those before it as they were seen. */
export interface ToldLog {
  takeView(view: SessionView): void
  /** `turn` is the turn as it stood before the event. */
  takeEvent(event: SessionEvent, turn: TurnSoFar | undefined): void
  /** Lets go of the beginning, as far as it is written. The last of it stays: what comes next stands after it. */
  forget(isWritten: (key: string) => boolean): void
  /** Another list after every change. */
  read(): readonly Told[]
  /** The turn that runs, or ran last. */
  turn(): number
}

export function createTold(): ToldLog {
  let items: readonly Told[] = []
  const keys = new Set<string>()
  let turn = 0
  let startedAt: string | undefined
  let unnamed = 0

  function begin(at: string): void {
    if (at === startedAt) return
    startedAt = at
    turn += 1
  }

  function add(told: Omit<Told, 'turn' | 'since' | 'isMidTurn'>): void {
    if (keys.has(told.key)) return
    keys.add(told.key)
    const isMidTurn = told.fact.role === 'person' && items.some((one) => one.turn === turn)
    items = [...items, { ...told, turn, since: startedAt, isMidTurn }]
  }

  function addFact(fact: MessageFact, at: string): void {
    // What a subagent says stands in its own conversation.
    if (fact.parentToolUseId !== undefined) return
    add({ key: findKey(fact) ?? `unnamed ${turn} ${unnamed++}`, fact, at, isCut: false })
  }

  /** Pieces that will never be whole are kept as what they are. */
  function cut(pieces: readonly DeltaFact[], at: string): void {
    for (const piece of pieces) {
      const { messageId, block } = piece
      add({
        key: `cut ${messageId} ${block} ${piece.what}`,
        fact: { kind: 'message', messageId, block, role: 'agent', blocks: [toBlock(piece)] },
        at,
        isCut: true,
      })
    }
  }

  return {
    takeView(view) {
      const seen = view.turn
      if (seen === undefined) return
      begin(seen.startedAt)
      unnamed = 0
      for (const fact of seen.messages) addFact(fact, seen.startedAt)
      if (seen.outcome !== undefined || view.state.state === 'ended') cut(seen.streaming, seen.startedAt)
    },
    takeEvent(event, before) {
      if (event.kind === 'turn.started') {
        cut(before?.streaming ?? [], event.at)
        begin(event.at)
        unnamed = 0
      } else if (event.kind === 'message') {
        addFact(event, event.at)
      } else if (
        event.kind === 'turn.ended' ||
        (event.kind === 'state.changed' && event.state.state === 'ended')
      ) {
        cut(before?.streaming ?? [], event.at)
      }
    },
    forget(isWritten) {
      let first = 0
      while (isGone(items[first], isWritten) && isGone(items[first + 1], isWritten)) first += 1
      // Their keys stay: told once more, they are not told again.
      if (first > 0) items = items.slice(first)
    },
    read: () => items,
    turn: () => turn,
  }
}

function isGone(told: Told | undefined, isWritten: (key: string) => boolean): boolean {
  return told !== undefined && isWritten(told.key)
}

function findKey({ id, messageId, block, blocks }: MessageFact): string | undefined {
  if (id !== undefined) return id
  const result = blocks.find((one) => one.kind === 'tool-result')
  if (result !== undefined) return `result ${result.toolUseId}`
  return messageId === undefined || block === undefined ? undefined : `part ${messageId} ${block}`
}

function toBlock({ what, text }: DeltaFact): Block {
  switch (what) {
    case 'text':
      return { kind: 'text', text }
    case 'thinking':
      return { kind: 'thinking', thinking: text }
    case 'input':
      return { kind: 'text', text: `A call that was not finished:\n\n    ${text.replaceAll('\n', '\n    ')}` }
  }
}
