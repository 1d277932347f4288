import { signal } from '@preact/signals'
import * as fc from 'fast-check'
import type { Attention, SessionState, SessionSummary } from '#model'
import { runs } from '#testing'
import type { BoardCard, LiveEvent } from '#wire'
import { expect, test } from 'vitest'
import { withRunning } from '../session-groups.ts'
import { countWaiting } from '../session-list.ts'
import { toBadges } from '../session-state.ts'
import type { Cards } from '../shared.ts'
import { toCards, toGroups } from './board-groups.ts'
import { createBoardFold } from './board.ts'
import { nameOf, outwardNameOf } from './card-name.ts'
import { reasonOf, stateOf } from './card-words.ts'
import { toDangers } from './dangers.ts'
import { mintId } from './mint-id.ts'
import { toCalls } from '../calling/calls.ts'
import { findDraft, keepDraft, toSuggestions, toWorkdirs } from './start-draft.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString()

function card(id: string, state: SessionState['state'], more: Partial<BoardCard> = {}): BoardCard {
  return {
    sessionId: id,
    agent: 'scripted',
    workdir: '/home/user/shop',
    where: 'here',
    state: state === 'ended' ? { state, reason: 'ended' } : { state },
    startedAt: ago(60),
    changedAt: ago(5),
    attentions: [],
    waitingPrompts: 0,
    ...more,
  }
}

function attention(id: string, minutes: number, tool = 'Bash'): Attention {
  return {
    id,
    sessionId: 'a',
    openedAt: ago(minutes),
    ask: {
      kind: 'permission',
      tool,
      input: { command: 'curl secret.example' },
      workdir: '/home/user/shop',
      rules: [],
      canEdit: true,
    },
    hash: 'h',
    state: { state: 'open' },
  }
}

function session(id: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: `/p/${id}.jsonl`,
    size: 1,
    workdirs: [`/home/user/${id}`],
    workdirsComplete: true,
    lastActivityAt: ago(1),
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    ...more,
  }
}

const ids = (cards: readonly BoardCard[]): readonly string[] => cards.map(({ sessionId }) => sessionId)
const map = (...cards: readonly BoardCard[]): Cards => new Map(cards.map((one) => [one.sessionId, one]))

test('[LWB30] who waits longest is first, what runs keeps its order, what is done is latest first, and old ends are gone', () => {
  const groups = toGroups(
    [
      card('idle', 'idle', { changedAt: ago(30) }),
      card('short', 'waiting', { changedAt: ago(2), attentions: [attention('1', 2)] }),
      card('long', 'waiting', { changedAt: ago(1), attentions: [attention('3', 1), attention('2', 9)] }),
      card('young', 'pending', { startedAt: ago(1) }),
      card('run', 'running', { startedAt: ago(20) }),
      card('over', 'ended', { changedAt: ago(10) }),
      card('old', 'ended', { changedAt: ago(26 * 60) }),
      card('terminal', 'running', { where: 'elsewhere' }),
      card('asks', 'waiting', { where: 'elsewhere', changedAt: ago(4) }),
    ],
    NOW,
  )
  expect(groups.map(({ title }) => title)).toEqual(['Waiting for you', 'Running', 'Done', 'In terminals'])
  expect(groups.map(({ cards }) => ids(cards))).toEqual([
    ['long', 'asks', 'short'],
    ['young', 'run'],
    ['over', 'idle'],
    ['terminal'],
  ])
  expect(toGroups([], NOW)).toEqual([])
})

test('[LWB30] every card that is not over for long stands in exactly one group, whatever the order they came in', () => {
  const states = fc.constantFrom('pending', 'idle', 'running', 'waiting', 'ended')
  const cards = fc.uniqueArray(
    fc
      .record({ id: fc.uuid(), state: states, where: fc.constantFrom('here', 'elsewhere'), at: fc.nat(2000) })
      .map(({ id, state, where, at }) => card(id, state, { where, changedAt: ago(at), startedAt: ago(at) })),
    { selector: ({ sessionId }) => sessionId, maxLength: 12 },
  )
  fc.assert(
    fc.property(cards, fc.nat(11), (all, turn) => {
      const groups = toGroups(all, NOW)
      const shown = groups.flatMap((group) => ids(group.cards))
      const kept = all.filter(
        ({ state, changedAt }) => state.state !== 'ended' || NOW - Date.parse(changedAt) <= 86_400_000,
      )
      expect(shown.toSorted()).toEqual(ids(kept).toSorted())
      expect(toGroups([...all.slice(turn), ...all.slice(0, turn)], NOW)).toEqual(groups)
      const waiting = groups.find(({ kind }) => kind === 'waiting')?.cards.length ?? 0
      expect(waiting).toBe(countWaiting([], map(...all)))
    }),
    runs(200),
  )
})

test('[LWB31] sessions that a terminal holds stand on the board too, and each one counts once', () => {
  const live = (id: string, status: 'waiting' | 'busy' | 'idle' | 'gone'): SessionSummary =>
    session(id, { live: { pid: 1, status, waitingFor: 'permission prompt' } })
  const sessions = [live('a', 'waiting'), live('b', 'busy'), live('c', 'gone'), live('d', 'waiting')]
  const board = map(card('a', 'running'), card('x', 'waiting'))
  const cards = toCards(board, sessions)
  expect(ids(cards)).toEqual(['a', 'x', 'b', 'd'])
  expect(cards.find(({ sessionId }) => sessionId === 'd')).toMatchObject({
    where: 'elsewhere',
    state: { state: 'waiting' },
    trouble: 'permission prompt',
  })
  // Of `a` the board knows that it goes on.
  expect(countWaiting(sessions, board)).toBe(2)
  // One that is over here was taken up in a terminal.
  const taken = map(card('d', 'ended'))
  expect(countWaiting([live('d', 'waiting')], taken)).toBe(1)
  expect(toCards(taken, [live('d', 'waiting')])).toMatchObject([{ where: 'elsewhere' }])
  expect(toGroups(cards, NOW)[0]?.cards.length).toBe(2)
})

test('[LWB32] the sidebar shows what the board knows, and a session that has written nothing yet', () => {
  const board = map(card('new', 'pending'), card('a', 'waiting', { attentions: [attention('1', 1)] }))
  const rows = withRunning([session('a')], board)
  expect(rows.map(({ id }) => id)).toEqual(['new', 'a'])
  expect(rows[0]).toMatchObject({ name: 'New session', workdirs: ['/home/user/shop'] })
  const badges = (id: string): readonly string[] =>
    rows
      .filter((row) => row.id === id)
      .flatMap((row) => toBadges(row, board.get(id)).map(({ words }) => words))
  expect(badges('new')).toEqual(['working'])
  expect(badges('a')).toEqual(['waiting for you'])
  const words = (one: BoardCard): readonly string[] => toBadges(session('a'), one).map((badge) => badge.words)
  expect(words(card('a', 'idle', { lastTurn: 'failed' }))).toEqual(['failed'])
  expect(words(card('a', 'idle', { lastTurn: 'answered' }))).toEqual(['done'])
  expect(words(card('a', 'ended'))).toEqual([])
  expect(words(card('a', 'ended', { state: { state: 'ended', reason: 'host-gone' } }))).toEqual([
    'ended abruptly',
  ])
  expect(withRunning([session('a')], map(card('gone', 'ended'))).map(({ id }) => id)).toEqual(['a'])
})

test('[LWB33] after a reset the old board stays until the new one is whole', () => {
  const cards = signal<Cards>(new Map())
  const waiting: (() => void)[] = []
  const fold = createBoardFold(cards, (run) => waiting.push(run))
  const take = (...events: readonly LiveEvent[]): void => {
    for (const event of events) fold.take(event)
    for (const run of waiting.splice(0)) run()
  }
  const changed = (one: BoardCard): LiveEvent => ({ kind: 'board.changed', card: one, cursor: '' })
  take(changed(card('a', 'running')))
  expect(cards.value.size).toBe(0)
  take(changed(card('b', 'idle')), { kind: 'caught-up', cursor: '' })
  expect([...cards.value.keys()]).toEqual(['a', 'b'])
  take(changed(card('a', 'waiting')), { kind: 'board.removed', session: 'b', cursor: '' })
  expect([...cards.value.values()].map(({ state }) => state.state)).toEqual(['waiting'])
  take({ kind: 'reset', reason: 'restarted', cursor: '' }, changed(card('c', 'idle')))
  expect([...cards.value.keys()]).toEqual(['a'])
  take({ kind: 'caught-up', cursor: '' })
  expect([...cards.value.keys()]).toEqual(['c'])
})

test('[LWB34] a card says what it is called, how it stands, and why', () => {
  expect(nameOf(card('a', 'idle'), [session('a', { name: 'Fix the checkout' })])).toBe('Fix the checkout')
  expect(nameOf(card('a', 'idle'), [])).toBe('shop')
  const failed = card('a', 'idle', { lastTurn: 'failed', trouble: 'The API is overloaded (529).' })
  expect(stateOf(failed)).toEqual({ kind: 'failed', words: 'failed' })
  expect(reasonOf(failed)?.words).toBe('The API is overloaded (529).')
  const dead = card('a', 'ended', { state: { state: 'ended', reason: 'agent-crashed', hint: 'Resume it.' } })
  expect(stateOf(dead).kind).toBe('failed')
  expect(reasonOf(dead)).toEqual({ words: 'The agent crashed.', hint: 'Resume it.' })
  expect(reasonOf(card('a', 'running'))).toBeUndefined()
})

test('[LWB36] a call names the tool and nothing that it would do, once for each thing that waits', () => {
  const calls = toCalls([
    card('a', 'waiting', { attentions: [attention('1', 1), attention('2', 1, 'Write')] }),
    card('b', 'waiting', { where: 'elsewhere', attentions: [attention('3', 1, 'Edit')] }),
    // The moment between the answer and what the agent does with it.
    card('c', 'waiting'),
    card('d', 'running'),
  ])
  expect(calls.map(({ words }) => words)).toEqual(['Asks for Bash', 'Asks for Write', 'Asks for Edit'])
  expect(JSON.stringify(calls)).not.toContain('secret')
  const named = (nameFrom: 'prompt' | 'person'): string =>
    outwardNameOf(card('a', 'waiting'), [session('a', { name: 'Sell the company', nameFrom })])
  expect([named('prompt'), named('person')]).toEqual(['shop', 'Sell the company'])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
})

test('[LWB38] what settings do stands in the order of its danger, and nothing of it is left out', () => {
  const kinds = [
    'instructions',
    'allow',
    'hook',
    'other',
    'mcp-server',
    'mode',
    'environment',
    'command',
  ] as const
  const effects = kinds.map((kind) => ({ kind, name: kind, what: '', file: 'f' }))
  const dangers = toDangers(effects)
  expect(dangers.map(({ kind }) => kind)).toEqual([
    'hook',
    'mcp-server',
    'command',
    'allow',
    'mode',
    'environment',
    'instructions',
    'other',
  ])
  const unknown: unknown = { kind: 'a-kind-of-tomorrow', name: 'x', what: '', file: 'f' }
  // oxlint-disable-next-line no-unsafe-type-assertion -- a daemon may be newer than the page
  const all = toDangers([...effects, unknown as (typeof effects)[number]])
  expect(all.flatMap((danger) => danger.effects)).toHaveLength(kinds.length + 1)
})

test('[LWB39] a new session begins in the folder that is looked at, else where the last work was; what was typed is kept', () => {
  const sessions = [
    session('demo', { demo: true }),
    session('a'),
    session('b'),
    session('c', { workdirs: ['/home/user/a'] }),
  ]
  expect(toWorkdirs(sessions)).toEqual(['/home/user/a', '/home/user/b'])
  expect(findDraft(sessions, { kind: 'home' }).workdir).toBe('/home/user/a')
  expect(findDraft(sessions, { kind: 'session', id: 'b' }).workdir).toBe('/home/user/b')
  keepDraft({ ...findDraft(sessions, { kind: 'home' }), prompt: 'Half a sentence' })
  expect(findDraft(sessions, { kind: 'session', id: 'b' })).toMatchObject({
    prompt: 'Half a sentence',
    workdir: '/home/user/b',
  })
  expect(toSuggestions(toWorkdirs(sessions), 'B')).toEqual(['/home/user/b'])
  expect(toSuggestions(toWorkdirs(sessions), '/home/user/b')).toHaveLength(2)
  expect(mintId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
