import * as fc from 'fast-check'
import {
  createView,
  textOf,
  type MessageFact,
  type Reading,
  type SessionEvent,
  type SessionFact,
  type SessionView,
} from '#model'
import { BEGUN_VIEW, NO_LIVE, runs } from '#testing'
import type { LiveCalls, LiveEvent } from '#wire'
import { expect, test } from 'vitest'
import { openLiveSession, type LiveSession } from './live-session.ts'
import { UNWRITTEN, type WrittenStretch } from './unwritten.ts'

const AT = '2026-01-01T00:00:00.000Z'

/** A live session, the events that it hears, and a disk. */
interface Stage {
  readonly session: LiveSession
  readonly stretch: () => WrittenStretch
  tell(fact: SessionFact): void
  /** Somebody joins again: the host tells how it stands. */
  tellView(): void
  write(readings: readonly Reading[]): void
  /** Time goes by. */
  settle(): void
  /** The device's next prompt is named as if it had said one before. */
  skipId(): void
}

function createStage(begun: SessionView = BEGUN_VIEW): Stage {
  let seq = 0
  let onEvent: (event: LiveEvent) => void = () => {}
  const host = createView(begun)
  const later: (() => void)[] = []
  let stretch: WrittenStretch = { readings: [], atStart: true, atEnd: true }
  let minted = 0
  const live: LiveCalls = {
    ...NO_LIVE,
    prompt: (_: string, { id }: { id: string }) => Promise.resolve({ id, state: 'queued' as const }),
    resume: () => Promise.resolve(BEGUN_VIEW),
  }
  const session = openLiveSession('s', {
    throughline: {
      live,
      subscribe(_topic, options) {
        onEvent = (event) => void options.onEvent(event)
        return { cursor: undefined, close: () => {} }
      },
    },
    storage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
    now: () => Date.parse(AT),
    mintId: () => `own ${minted++}`,
    soon: (run) => run(),
    later: (run) => later.push(run),
  })
  const tellView = (): void => onEvent({ kind: 'live.view', view: host.read(), cursor: '' })
  tellView()
  return {
    session,
    stretch: () => stretch,
    tell(fact) {
      // oxlint-disable-next-line no-unsafe-type-assertion -- a fact with its place is an event
      const event = {
        ...fact,
        seq: ++seq,
        at: `2026-01-01T00:00:${String(seq % 60).padStart(2, '0')}.${seq}Z`,
      } as SessionEvent
      host.add(event)
      onEvent({ kind: 'live.event', session: 's', event, cursor: '' })
    },
    tellView,
    write(readings) {
      stretch = { ...stretch, readings: [...stretch.readings, ...readings] }
    },
    skipId() {
      minted += 1
    },
    settle() {
      for (const run of later.splice(0)) run()
    },
  }
}

function entryOf(fact: MessageFact, offset: number): Reading {
  const envelope = {
    id: fact.id ?? `@${offset}`,
    place: { offset, length: 10 },
    raw: new Uint8Array(0),
    type: 'x',
  }
  const { blocks, messageId } = fact
  if (fact.role === 'person')
    return { kind: 'entry', entry: { kind: 'prompt', ...envelope, blocks, origin: 'person', midTurn: false } }
  return {
    kind: 'entry',
    entry: { kind: 'reply', ...envelope, messageId, blocks, synthetic: false, apiError: false },
  }
}

/** The words that are on screen, from top to bottom: conversation, what is being said, what waits. */
function shown({ session, stretch }: Stage): readonly string[] {
  const readings = session.extend(stretch())
  const said = readings.flatMap((reading) =>
    reading.kind === 'entry' && 'blocks' in reading.entry ? [textOf(reading.entry.blocks)] : [],
  )
  const pieces = session.streaming(stretch()).map(({ text }) => text)
  return [...said, ...pieces, ...session.waiting.value.map(({ blocks }) => textOf(blocks))]
}

const text = (words: string): MessageFact['blocks'] => [{ kind: 'text', text: words }]
const person = (id: string): MessageFact => ({ kind: 'message', id, role: 'person', blocks: text(id) })

interface TurnPlan {
  readonly isOwn: boolean
  readonly parts: number
  /** The last part breaks off, and is kept by nobody, or by the agent. */
  readonly end: 'whole' | 'lost' | 'kept'
  readonly midTurn: boolean
}

/** What happens in a turn, as its host tells it, and what its agent writes. */
function toSteps(
  plan: TurnPlan,
  turn: number,
): { facts: SessionFact[]; disk: MessageFact[]; truth: string[] } {
  const promptId = plan.isOwn ? `own ${turn}` : `p${turn}`
  const facts: SessionFact[] = []
  const disk: MessageFact[] = [person(promptId)]
  const truth = [promptId]
  const prompt = { id: promptId, blocks: text(promptId), by: 'x', at: AT, state: 'queued' as const }
  facts.push({ kind: 'prompt.admitted', prompt }, { kind: 'state.changed', state: { state: 'running' } })
  facts.push({ kind: 'turn.started', promptId }, person(promptId))
  facts.push({ kind: 'prompt.moved', id: promptId, state: 'delivered' })
  for (let part = 0; part < plan.parts; part++) {
    const words = `t${turn}m${part}`
    const messageId = `msg ${turn} ${Math.floor(part / 2)}`
    const block = part % 2
    facts.push({ kind: 'delta', messageId, block, what: 'text', text: words.slice(0, 2) })
    facts.push({ kind: 'delta', messageId, block, what: 'text', text: words.slice(2) })
    truth.push(words)
    const whole: MessageFact = {
      kind: 'message',
      id: `e ${words}`,
      messageId,
      block,
      role: 'agent',
      blocks: text(words),
    }
    if (part < plan.parts - 1 || plan.end === 'whole') facts.push(whole)
    if (part < plan.parts - 1 || plan.end !== 'lost') disk.push(whole)
    if (part === 0 && plan.midTurn && plan.parts > 1) {
      facts.push(person(`mid ${turn}`))
      disk.push(person(`mid ${turn}`))
      truth.push(`mid ${turn}`)
    }
  }
  facts.push({ kind: 'turn.ended', outcome: { kind: plan.end === 'whole' ? 'answered' : 'interrupted' } })
  facts.push({ kind: 'state.changed', state: { state: 'idle' } })
  return { facts, disk, truth }
}

const plans = fc.array(
  fc.record({
    isOwn: fc.boolean(),
    parts: fc.integer({ min: 1, max: 5 }),
    end: fc.constantFrom<TurnPlan['end']>('whole', 'lost', 'kept'),
    midTurn: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
)

test('[LWB1] [C7.1] [B2.2] however optimistic, streamed and written copies arrive, each message is shown once and in order', () => {
  fc.assert(
    fc.property(plans, fc.infiniteStream(fc.nat(9)), (turns, choices) => {
      const stage = createStage()
      const truth: string[] = []
      const disk: MessageFact[] = []
      let offset = 0
      const writeOne = (): void => {
        const fact = disk.shift()
        if (fact === undefined) return
        stage.write([entryOf(fact, (offset += 10))])
        look()
        stage.session.note(stage.stretch())
        look()
      }
      const ever = new Set<string>()
      const look = (): void => {
        const now = shown(stage)
        expect(now).toEqual([...new Set(now)])
        const whole = now.filter((words) => truth.includes(words))
        const places = whole.map((words) => truth.indexOf(words))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        for (const words of ever) expect(whole).toContain(words)
        for (const words of whole) ever.add(words)
      }
      for (const [turn, plan] of turns.entries()) {
        const steps = toSteps(plan, turn)
        truth.push(...steps.truth)
        if (plan.isOwn) void stage.session.outbox.send(text(`own ${turn}`), { isOver: false })
        else stage.skipId()
        look()
        for (const fact of steps.facts) {
          stage.tell(fact)
          // The disk is ahead of, or behind, what is told; it never has what was not said at all.
          if (fact.kind === 'turn.started') disk.push(...steps.disk)
          look()
          const choice = choices.next().value
          if (choice < 3) writeOne()
          if (choice === 9) stage.tellView()
          if (choice === 8) stage.settle()
          look()
        }
      }
      while (disk.length > 0) writeOne()
      stage.settle()
      expect(shown(stage)).toEqual(truth)
    }),
    runs(120),
  )
})

test('[LWB1] what was streamed and is on no disk after its turn is marked, and nothing else is', () => {
  const stage = createStage()
  const steps = toSteps({ isOwn: false, parts: 2, end: 'lost', midTurn: false }, 0)
  for (const fact of steps.facts) stage.tell(fact)
  stage.write(steps.disk.map((fact, at) => entryOf(fact, at * 10)))
  const types = (): readonly string[] =>
    stage.session
      .extend(stage.stretch())
      .map((reading) => (reading.kind === 'entry' ? reading.entry.type : 'damage'))
  expect(types()).toEqual(['x', 'x', UNWRITTEN.told])
  stage.settle()
  expect(types()).toEqual(['x', 'x', UNWRITTEN.lost])
})

test('[LWB2] a prompt of this device is in the conversation at once, and waits beside it while the agent is at work', () => {
  const stage = createStage()
  void stage.session.outbox.send(text('now'), { isOver: false })
  expect(stage.session.waiting.value).toEqual([])
  expect(shown(stage)).toEqual(['now'])
  stage.tell({ kind: 'state.changed', state: { state: 'running' } })
  expect(stage.session.waiting.value).toEqual([])
  void stage.session.outbox.send(text('next'), { isOver: false })
  expect(stage.session.waiting.value.map(({ blocks }) => textOf(blocks))).toEqual(['next'])
  expect(shown(stage)).toEqual(['now', 'next'])
})

test('[LWB1] a long turn whose beginning stands above what is held is not shown again below it', () => {
  const stage = createStage()
  const steps = toSteps({ isOwn: false, parts: 5, end: 'whole', midTurn: false }, 0)
  for (const fact of steps.facts) stage.tell(fact)
  const all = steps.disk.map((fact, at) => entryOf(fact, at * 10))
  const stretch = { readings: all.slice(3), atStart: false, atEnd: true }
  expect(stage.session.extend(stretch)).toEqual(all.slice(3))
  const elsewhere = { readings: all.slice(0, 2), atStart: true, atEnd: false }
  expect(stage.session.extend(elsewhere)).toEqual(all.slice(0, 2))
})

test('[LWB3] an attention that is settled elsewhere is kept with how, until it was seen', () => {
  const stage = createStage()
  const ask = { kind: 'question', workdir: '/w', questions: [] } as const
  const attention = {
    id: 'a',
    sessionId: 's',
    openedAt: AT,
    ask,
    hash: 'h',
    state: { state: 'open' },
  } as const
  stage.tell({ kind: 'attention.opened', attention })
  expect(stage.session.view.value?.attentions).toEqual([attention])
  const state = { state: 'resolved', resolution: { kind: 'deny' }, by: 'phone', at: AT } as const
  stage.tell({ kind: 'attention.settled', id: 'a', state })
  expect(stage.session.view.value?.attentions).toEqual([])
  expect(stage.session.settled.value).toEqual([{ attention, state }])
  stage.session.dismiss('a')
  expect(stage.session.settled.value).toEqual([])
})
