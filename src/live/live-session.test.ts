import { describe, expect, test } from 'vitest'
import { string } from '#base'
import type { Ask, PermissionMode, SessionView } from '#model'
import { createHandClock, createHandDriver } from '#testing'
import type { HandDriver } from '#testing'
import { createView } from '#model'
import type { JournalFact } from './journal-fact.ts'
import { auditOn } from './audit.ts'
import { chainStart } from './audit-chain.ts'
import { openLiveSession } from './open-live-session.ts'
import { createJournalFold } from './session-journal.ts'
import type { LiveSession, SessionNews } from './session-opening.ts'

const ASK: Ask = { kind: 'permission', tool: 'Bash', input: {}, workdir: '/work', rules: [], canEdit: false }

interface Setting {
  readonly hand?: HandDriver
  readonly mode?: PermissionMode
  readonly widest?: PermissionMode
  readonly idleMs?: number
  readonly before?: readonly JournalFact[]
}

async function setUp({
  hand = createHandDriver(),
  mode = 'default',
  widest,
  idleMs,
  before = [],
}: Setting = {}) {
  const clock = createHandClock()
  const lines: JournalFact[] = []
  const audited: unknown[] = []
  const disk = { isFull: false, takesNoAudit: false, takesNoJournal: false }
  const fold = createJournalFold()
  for (const fact of before) fold.add(fact)
  let minted = 0
  const session = await openLiveSession({
    driver: hand.driver,
    start: { sessionId: 's', workdir: '/work', mode, trusted: false, env: {} },
    widest,
    run: 'run',
    pid: 1,
    journal: {
      append(value) {
        if (disk.isFull || disk.takesNoJournal) return Promise.reject(new Error('the disk is full'))
        // As a journal keeps it.
        lines.push(JSON.parse(JSON.stringify(value)))
        return Promise.resolve({ offset: 0, length: 0 })
      },
    },
    audit: auditOn(
      {
        append(value) {
          if (disk.isFull || disk.takesNoAudit) return Promise.reject(new Error('the disk is full'))
          audited.push(value)
          return Promise.resolve({ offset: 0, length: 0 })
        },
      },
      { end: chainStart('s'), called: new Map(), returned: new Set(), open: new Map(), isEnded: true },
      { clock },
    ),
    before: fold.read(),
    clock,
    mintId: () => `m${++minted}`,
    idleMs,
    sweep: () => Promise.resolve(),
  })
  const states: string[] = []
  session.listen((news) => {
    if ('event' in news && news.event.kind === 'state.changed') states.push(news.event.state.state)
  })
  await settle()
  return { session, hand, clock, lines, audited, disk, states }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

const text = (words: string) => [{ kind: 'text' as const, text: words }]

async function answerFirst(session: LiveSession): Promise<void> {
  const [open] = session.view().attentions
  const answer = {
    id: open?.id ?? '',
    hash: open?.hash ?? '',
    resolution: { kind: 'allow', rules: [] } as const,
  }
  await session.resolve({ ...answer, by: 'phone' })
  await settle()
}

test('[LVS20] pending, idle, running, waiting, running, idle, ended', async () => {
  const { session, hand, states } = await setUp()
  await session.prompt({ id: 'p1', blocks: text('go'), by: 'me' })
  await settle()
  hand.tell({ kind: 'turn.started', promptId: 'p1' })
  const first = hand.ask(ASK)
  const second = hand.ask(ASK)
  await settle()
  await answerFirst(session)
  expect(session.view().state).toEqual({ state: 'waiting' })
  await answerFirst(session)
  await Promise.all([first, second])
  hand.tell({ kind: 'turn.ended', outcome: { kind: 'answered' } })
  await session.end('ended')
  expect(states).toEqual(['idle', 'running', 'waiting', 'running', 'idle', 'ended'])
  expect(hand.calls).toEqual(['close'])
  await expect(hand.ask(ASK)).rejects.toMatchObject({ code: 'attention-lapsed' })
})

test('[LVS1] [LVS20] [A04] an agent may ask before its start is over', async () => {
  const hand = createHandDriver()
  let open: (() => void) | undefined
  hand.gate = new Promise((resolve) => {
    open = resolve
  })
  const { session } = await setUp({ hand })
  expect(session.view().state).toEqual({ state: 'pending' })
  const heard = hand.ask(ASK)
  await settle()
  expect(session.view().state).toEqual({ state: 'waiting' })
  await answerFirst(session)
  expect(await heard).toMatchObject({ kind: 'allow' })
  expect(session.view().state).toEqual({ state: 'pending' })
  open?.()
  await settle()
  expect(session.view().state).toEqual({ state: 'idle' })
})

describe('[LVS21] a prompt', () => {
  test('is on disk before it is acknowledged, and counts once', async () => {
    const { session, hand, lines, disk } = await setUp()
    disk.isFull = true
    await expect(session.prompt({ id: 'p1', blocks: text('hi'), by: 'me' })).rejects.toThrow('full')
    disk.isFull = false
    const prompt = { id: 'p1', blocks: text('hi'), by: 'me' }
    const receipts = await Promise.all([session.prompt(prompt), session.prompt(prompt)])
    await settle()
    expect(receipts.map(({ id }) => id)).toEqual(['p1', 'p1'])
    expect(await session.prompt(prompt)).toEqual({ id: 'p1', state: 'sent' })
    hand.tell({ kind: 'message', id: 'p1', role: 'person', blocks: text('hi') })
    hand.tell({ kind: 'turn.started', promptId: 'p1' })
    await settle()
    expect(await session.prompt(prompt)).toEqual({ id: 'p1', state: 'delivered' })
    expect(hand.prompts).toEqual([{ id: 'p1', blocks: text('hi') }])
    expect(lines.filter(({ kind }) => kind.startsWith('prompt.')).map(({ kind }) => kind)).toEqual([
      'prompt.admitted',
      'prompt.sent',
      'prompt.delivered',
    ])
    await expect(session.prompt({ ...prompt, blocks: text('ho') })).rejects.toMatchObject({
      code: 'request-invalid',
    })
  })

  test('[LVS22] waits for the end of the turn where the agent takes none before, in its order', async () => {
    const { session, hand } = await setUp({ hand: createHandDriver({ midTurn: false }) })
    for (const id of ['1', '2', '3']) await session.prompt({ id, blocks: text(id), by: 'me' })
    await settle()
    expect(hand.prompts.map(({ id }) => id)).toEqual(['1'])
    hand.tell({ kind: 'turn.started', promptId: '1' })
    await settle()
    expect(session.view().prompts.map(({ state }) => state)).toEqual(['delivered', 'queued', 'queued'])
    hand.tell({ kind: 'turn.ended', outcome: { kind: 'answered' } })
    await settle()
    expect(hand.prompts.map(({ id }) => id)).toEqual(['1', '2'])
    const eager = await setUp()
    for (const id of ['1', '2', '3']) await eager.session.prompt({ id, blocks: text(id), by: 'me' })
    await settle()
    expect(eager.hand.prompts.map(({ id }) => id)).toEqual(['1', '2', '3'])
  })

  test('[LVS11] that the agent does not take is in doubt, and is not sent again', async () => {
    const { session, hand } = await setUp()
    hand.failure = new Error('the pipe is closed')
    await session.prompt({ id: '1', blocks: text('hi'), by: 'me' })
    await settle()
    hand.failure = undefined
    expect(await session.prompt({ id: '1', blocks: text('hi'), by: 'me' })).toEqual({
      id: '1',
      state: 'in-doubt',
    })
    await settle()
    expect(hand.prompts).toEqual([])
    expect(session.view().state).toEqual({ state: 'idle' })
  })

  test('[LVS23] is refused by a session that has ended, and what waited is undelivered', async () => {
    const { session } = await setUp({ hand: createHandDriver({ midTurn: false }) })
    for (const id of ['1', '2']) await session.prompt({ id, blocks: text(id), by: 'me' })
    await settle()
    await session.end('ended')
    expect(session.view().prompts.map(({ state }) => state)).toEqual(['in-doubt', 'undelivered'])
    const late = session.prompt({ id: '3', blocks: text('3'), by: 'me' })
    await expect(late).rejects.toMatchObject({ code: 'session-ended' })
  })

  test('[LVS24] that an earlier host left is shown, and sent again once when it was not sent', async () => {
    const at = '2026-01-01T00:00:00.000Z'
    const admitted = (id: string): JournalFact => ({
      kind: 'prompt.admitted',
      at,
      id,
      blocks: text(id),
      by: 'me',
    })
    const before: JournalFact[] = [
      admitted('1'),
      admitted('2'),
      admitted('3'),
      { kind: 'prompt.sent', at, id: '2' },
      { kind: 'prompt.sent', at, id: '3' },
      { kind: 'prompt.delivered', at, id: '3' },
    ]
    const { session, hand } = await setUp({ before })
    expect(session.view().prompts.map(({ id, state }) => [id, state])).toEqual([
      ['1', 'undelivered'],
      ['2', 'in-doubt'],
    ])
    for (const id of ['1', '1', '2', '3']) await session.prompt({ id, blocks: text(id), by: 'me' })
    await settle()
    expect(hand.prompts.map(({ id }) => id)).toEqual(['1'])
  })
})

describe('[LVS25] the mode', () => {
  const refused = { code: 'mode-not-allowed' }
  const stored = (mode: PermissionMode): JournalFact[] => [
    { kind: 'session.started', at: '', sessionId: 's', agent: 'hand', workdir: '/', mode, run: 'r', pid: 1 },
  ]

  test('is not widened by anybody who is connected', async () => {
    const { session, hand, lines } = await setUp()
    await expect(session.setMode('accept-edits', 'phone')).rejects.toMatchObject(refused)
    await expect(session.setMode('bypass', 'phone')).rejects.toMatchObject(refused)
    await session.setMode('plan', 'phone')
    await session.setMode('default', 'phone')
    expect(hand.calls).toEqual(['mode plan', 'mode default'])
    expect(lines.filter(({ kind }) => kind === 'mode.changed')).toHaveLength(2)
    const configured = await setUp({ widest: 'accept-edits' })
    await configured.session.setMode('accept-edits', 'phone')
    expect(configured.session.view().mode).toBe('accept-edits')
    await expect(configured.session.setMode('bypass', 'phone')).rejects.toMatchObject(refused)
  })

  test('is told to an agent that is still being started when it is there, and so is the model', async () => {
    const hand = createHandDriver()
    let open: (() => void) | undefined
    hand.gate = new Promise((resolve) => (open = resolve))
    const { session } = await setUp({ hand })
    const chosen = Promise.all([session.setMode('plan', 'phone'), session.setModel('another', 'phone')])
    await settle()
    expect(hand.calls).toEqual([])
    open?.()
    await chosen
    expect(hand.calls.toSorted()).toEqual(['mode plan', 'model another'])
    expect(session.view().mode).toBe('plan')
  })

  test('is not widened by a resume, and never is bypass without the configuration', async () => {
    await expect(setUp({ mode: 'bypass' })).rejects.toMatchObject(refused)
    await expect(setUp({ mode: 'default', before: stored('plan') })).rejects.toMatchObject(refused)
    await expect(setUp({ mode: 'bypass', before: stored('bypass') })).rejects.toMatchObject(refused)
    await setUp({ mode: 'plan', before: stored('accept-edits') })
    await setUp({ mode: 'accept-edits', before: stored('plan'), widest: 'accept-edits' })
    await setUp({ mode: 'bypass', widest: 'bypass' })
  })

  test('is set back when the agent widens it to bypass by itself, and stored when an answer changed it', async () => {
    const { session, hand, lines } = await setUp()
    hand.tell({ kind: 'mode.changed', mode: 'accept-edits' })
    expect(session.view().mode).toBe('accept-edits')
    expect(lines.at(-1)).toMatchObject({ kind: 'mode.changed', mode: 'accept-edits' })
    hand.tell({ kind: 'mode.changed', mode: 'bypass' })
    expect(hand.calls).toEqual(['mode accept-edits'])
    expect(session.view().mode).toBe('accept-edits')
  })
})

test('[LVS26] nothing for so long ends it, but not while a turn runs or an attention is open', async () => {
  const { session, hand, clock } = await setUp({ idleMs: 900_000 })
  clock.pass(899_999)
  await session.prompt({ id: 'p1', blocks: text('go'), by: 'me' })
  await settle()
  hand.tell({ kind: 'turn.started' })
  clock.pass(9_000_000)
  void hand.ask(ASK).catch(() => {})
  await settle()
  hand.tell({ kind: 'turn.ended', outcome: { kind: 'answered' } })
  clock.pass(9_000_000)
  await settle()
  expect(session.view().state).toEqual({ state: 'waiting' })
  await answerFirst(session)
  clock.pass(899_999)
  await settle()
  expect(session.view().state).toEqual({ state: 'idle' })
  clock.pass(1)
  await session.ended
  expect(session.view().state).toMatchObject({ state: 'ended', reason: 'idle' })
})

test('[LVS27] who joins in the middle sees the turn so far', async () => {
  const { session, hand } = await setUp()
  hand.tell({ kind: 'turn.started', promptId: 'p1' })
  const delta = (block: number, words: string) =>
    hand.tell({ kind: 'delta', messageId: 'm', block, what: 'text', text: words })
  delta(0, 'Hel')
  delta(0, 'lo.')
  hand.tell({ kind: 'message', messageId: 'm', role: 'agent', blocks: text('Hello.') })
  delta(1, 'And ')
  delta(1, 'then')
  expect(session.view().turn).toMatchObject({
    promptId: 'p1',
    dropped: 0,
    messages: [{ blocks: text('Hello.') }],
    streaming: [{ messageId: 'm', block: 1, text: 'And then' }],
  })
  // Who joined has the same when the rest has come.
  const joined = createView(session.view())
  session.listen((news) => 'event' in news && joined.add(news.event), { run: 'run', seq: session.view().seq })
  hand.tell({ kind: 'message', messageId: 'm', role: 'agent', blocks: text('And then.') })
  hand.tell({ kind: 'turn.ended', outcome: { kind: 'answered' } })
  await settle()
  expect(joined.read()).toEqual(session.view())
  expect(joined.read().turn?.streaming).toEqual([])
})

test('[LVS28] from any cursor everything after it is told once, and everybody has the same view', async () => {
  const { session, hand } = await setUp()
  const all: SessionNews[] = []
  session.listen((news) => void all.push(news))
  await session.prompt({ id: 'p1', blocks: text('go'), by: 'me' })
  await settle()
  hand.tell({ kind: 'turn.started', promptId: 'p1' })
  for (let piece = 0; piece < 50; piece++) {
    hand.tell({ kind: 'delta', messageId: 'm', block: 0, what: 'text', text: `${piece} ` })
  }
  void hand.ask(ASK).catch(() => {})
  await settle()
  await session.end('ended')
  const [first, ...rest] = all
  const begun: SessionView | undefined = first && 'view' in first ? first.view : undefined
  const events = rest.flatMap((news) => ('event' in news ? [news.event] : []))
  const from = begun?.seq ?? 0
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, at) => from + at + 1))
  for (const cut of [from, from + 1, from + 20, from + events.length]) {
    const told: number[] = []
    session.listen((news) => void told.push('event' in news ? news.event.seq : -1), { run: 'run', seq: cut })
    expect(told).toEqual(events.map(({ seq }) => seq).filter((seq) => seq > cut))
  }
  for (const cursor of [{ run: 'other', seq: 3 }, { run: 'run', seq: 10_000 }, undefined]) {
    const told: SessionNews[] = []
    session.listen((news) => void told.push(news), cursor)
    expect(told).toEqual([{ view: session.view() }])
  }
  const folded = begun && createView(begun)
  for (const event of events) folded?.add(event)
  expect(folded?.read()).toEqual(session.view())
})

describe('[LVS29] the session ends with the reason', () => {
  test('when the agent cannot be started', async () => {
    const hand = createHandDriver()
    hand.gate = Promise.reject(new Error('there is no such program'))
    const { session, lines } = await setUp({ hand })
    await session.ended
    expect(session.view().state).toMatchObject({
      reason: 'start-failed',
      message: 'there is no such program',
    })
    expect(lines.at(-1)).toMatchObject({ kind: 'session.ended', reason: 'start-failed' })
  })

  test('[LVS5] when the agent dies, and what was open lapses', async () => {
    const { session, hand, lines } = await setUp()
    const heard = hand.ask(ASK).catch((error: unknown) => error)
    await settle()
    hand.tell({ kind: 'ended', reason: 'crashed', message: 'out of memory' })
    await session.ended
    expect(await heard).toMatchObject({ code: 'attention-lapsed' })
    expect(session.view()).toMatchObject({
      state: { state: 'ended', reason: 'agent-crashed', message: 'out of memory' },
      attentions: [],
    })
    expect(lines.slice(-2)).toMatchObject([{ state: { reason: 'agent-gone' } }, { reason: 'agent-crashed' }])
  })
})

describe('[AUD4] while the audit log takes no lines', () => {
  test('nobody is asked, and an answer was not given', async () => {
    const { session, hand, lines, disk } = await setUp()
    disk.takesNoAudit = true
    await expect(hand.ask(ASK)).rejects.toThrow('full')
    expect(session.view().attentions).toEqual([])
    disk.takesNoAudit = false
    const heard = hand.ask(ASK)
    await settle()
    disk.takesNoAudit = true
    await expect(answerFirst(session)).rejects.toThrow('full')
    expect(session.view().attentions).toHaveLength(1)
    expect(lines.filter(({ kind }) => kind === 'attention.settled')).toEqual([])
    disk.takesNoAudit = false
    await answerFirst(session)
    expect(await heard).toMatchObject({ kind: 'allow' })
  })

  test('a decision that only the audit log took is taken back there', async () => {
    const { session, hand, audited, disk } = await setUp()
    const heard = hand.ask(ASK)
    await settle()
    disk.takesNoJournal = true
    await expect(answerFirst(session)).rejects.toThrow('full')
    disk.takesNoJournal = false
    await answerFirst(session)
    await heard
    expect(audited.map((line) => string(line, 'kind'))).toEqual([
      'session.started',
      'attention.opened',
      'attention.settled',
      'attention.voided',
      'attention.settled',
    ])
  })

  test('a call is kept, and is there before the next thing that is', async () => {
    const { hand, session, audited, disk } = await setUp()
    disk.takesNoAudit = true
    const call = { kind: 'tool-use' as const, id: 't1', name: 'Bash', input: { command: 'ls' } }
    hand.tell({ kind: 'message', role: 'agent', blocks: [call] })
    hand.tell({ kind: 'message', role: 'agent', blocks: [call] })
    await settle()
    expect(audited).toHaveLength(1)
    disk.takesNoAudit = false
    void hand.ask(ASK).catch(() => {})
    await settle()
    expect(audited.map((line) => string(line, 'kind'))).toEqual([
      'session.started',
      'tool.called',
      'attention.opened',
    ])
    await session.end('ended')
  })
})
