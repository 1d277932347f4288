import * as fc from 'fast-check'
import { runs } from '#testing'
import { createConversations, readModelRequest, type ModelRequest, type Trouble } from '#recorder'
import { describe, expect, test } from 'vitest'
import {
  chainTo,
  createClient,
  createKeptRecordings,
  tally,
  toWords,
  type Step,
} from './conversation-clients.ts'

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), calls: fc.nat(2), thinks: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'fail' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), keeps: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), to: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'anew' as const }) },
)
const plans = fc.array(fc.record({ client: fc.nat(3), step: steps, waits: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
})

interface Outcome {
  readonly clients: readonly ReturnType<typeof createClient>[]
  readonly kept: ReturnType<typeof createKeptRecordings>
  readonly troubles: readonly Trouble[]
}

/** Four clients at once: two that name their session, and two that do not and may begin with the same words. */
async function play(
  plan: readonly { readonly client: number; readonly step: Step; readonly waits: boolean }[],
  fails?: (count: number) => boolean,
): Promise<Outcome> {
  const kept = createKeptRecordings(fails)
  const troubles: Trouble[] = []
  const conversations = createConversations({ open: kept.open, onTrouble: (one) => troubles.push(one) })
  const clients = [
    createClient(conversations, { name: 'a', clientSessionId: 'session-a' }),
    createClient(conversations, { name: 'b', clientSessionId: 'session-b' }),
    createClient(conversations, { name: 'c', first: 'hello' }),
    createClient(conversations, { name: 'd', first: 'hello' }),
  ]
  const pending: (Promise<void> | undefined)[] = []
  for (const { client, step, waits } of plan) {
    // Each client asks one thing after the other; the others meanwhile ask theirs.
    await pending[client]
    const answer = clients[client]?.play(step)
    pending[client] = answer?.()
    if (waits) await pending[client]
  }
  for (const one of pending) await one
  await conversations.end()
  return { clients, kept, troubles }
}

describe('what is written', () => {
  test('[PRX1] [PRX2] [PRX3] whatever clients repeat, try again, cut short, rewind and begin anew, each turn is written once and the chain is what the client holds', async () => {
    const property = fc.asyncProperty(plans, async (plan) => {
      const { clients, kept, troubles } = await play(plan)
      expect(troubles).toEqual([])
      const counts = tally(kept.all)
      for (const client of clients) {
        for (const words of client.said)
          if (words !== 'hello') expect([words, counts.get(words)]).toEqual([words, 1])
        const history = client.history()
        const last = history.at(-1)
        if (last === undefined || last === 'hello') continue
        const holder = kept.all.find(({ lines }) =>
          lines.some(({ content }) => content.flatMap(toWords).includes(last)),
        )
        const end = holder?.lines.find(({ content }) => content.flatMap(toWords).includes(last))
        expect(chainTo(holder?.lines ?? [], end?.uuid ?? '')).toEqual(history)
      }
      const known = new Set(clients.flatMap((client) => [...client.said]))
      expect([...counts.keys()].filter((words) => !known.has(words))).toEqual([])
      expect(kept.all.every(({ ended }) => ended)).toBe(true)
    })
    await fc.assert(property, runs(150))
  })

  test('[PRX8] what could not be written is told, and written when the client repeats it', async () => {
    const property = fc.asyncProperty(plans, fc.array(fc.nat(40), { maxLength: 10 }), async (plan, lost) => {
      const { clients, kept, troubles } = await play(plan, (count) => lost.includes(count))
      const counts = tally(kept.all)
      for (const [words, count] of counts) if (words !== 'hello') expect([words, count]).toEqual([words, 1])
      const missing = clients.flatMap((client) => [...client.said]).filter((words) => !counts.has(words))
      if (missing.some((words) => words !== 'hello')) expect(troubles.length).toBeGreaterThan(0)
      // What is still part of a history is missing only if nothing was asked after it was lost.
      for (const { lines } of kept.all) {
        for (const { parentUuid } of lines) {
          if (parentUuid !== null) expect(lines.some(({ uuid }) => uuid === parentUuid)).toBe(true)
        }
      }
    })
    await fc.assert(property, runs(60))
  })
})

const ask = (turns: ModelRequest['turns'], more: Partial<ModelRequest> = {}): ModelRequest => ({
  api: 'messages',
  provider: 'anthropic',
  model: 'scripted',
  system: 'a system',
  turns,
  stream: true,
  ...more,
})
const said = (role: 'user' | 'assistant', text: string): ModelRequest['turns'][number] => ({
  role,
  content: [{ type: 'text', text }],
})
const heard = (
  text: string,
  id: string,
): Parameters<ReturnType<ReturnType<typeof createConversations>['begin']>['answered']>[0] => ({
  provider: 'anthropic',
  outcome: 'whole',
  message: { id, content: [{ type: 'text', text }] },
})

function open(): {
  kept: ReturnType<typeof createKeptRecordings>
  conversations: ReturnType<typeof createConversations>
} {
  const kept = createKeptRecordings()
  const { open: openKept, readLines } = kept
  return { kept, conversations: createConversations({ open: openKept, readLines, onTrouble: () => {} }) }
}

describe('what belongs together', () => {
  test('[PRX4] a subagent that the client names has a file of its own below the main recording', async () => {
    const { kept, conversations } = open()
    const main = conversations.begin(ask([said('user', 'begin')]), { clientSessionId: 's' })
    await main.answered(heard('I send somebody.', 'm1'))
    const sub = conversations.begin(ask([said('user', 'look')], { system: 'a subagent' }), {
      clientSessionId: 's',
      agentId: 'x1',
    })
    await sub.answered(heard('I looked.', 'm2'))
    await conversations
      .begin(ask([said('user', 'begin'), said('assistant', 'I send somebody.'), said('user', 'and?')]), {
        clientSessionId: 's',
      })
      .answered(undefined)
    await conversations.end()
    expect(
      kept.all.map(({ facts, lines }) => [
        facts.subagentOf,
        lines.flatMap(({ content }) => content.flatMap(toWords)),
      ]),
    ).toEqual([
      [undefined, ['begin', 'I send somebody.', 'and?']],
      [{ sessionId: 's0', agentId: 'x1' }, ['look', 'I looked.']],
    ])
  })

  test('[PRX5] a title is kept beside the conversation, also when it is asked for first', async () => {
    const { kept, conversations } = open()
    const title = conversations.begin(ask([said('user', 'begin')], { system: 'make a title' }), {
      clientSessionId: 's',
      purpose: 'aside',
    })
    const main = conversations.begin(ask([said('user', 'begin')]), { clientSessionId: 's' })
    await main.begun
    await title.answered(heard('A title', 'm1'))
    await main.answered(heard('Hello.', 'm2'))
    await conversations.end()
    expect(
      kept.all.map(({ facts, lines }) => [
        facts.subagentOf?.agentId,
        lines.flatMap(({ content }) => content.flatMap(toWords)),
      ]),
    ).toEqual([
      [undefined, ['begin', 'Hello.']],
      ['aside-1', ['begin', 'A title']],
    ])
  })

  test('[PRX5] who never offers a tool is recorded as a conversation like any other', async () => {
    const { kept, conversations } = open()
    const hint = { clientSessionId: 's', purpose: 'aside' } as const
    await conversations.begin(ask([said('user', 'one')]), hint).answered(heard('1', 'm1'))
    await conversations
      .begin(ask([said('user', 'one'), said('assistant', '1'), said('user', 'two')]), hint)
      .answered(heard('2', 'm2'))
    await conversations.end()
    const full = kept.all.filter(({ lines }) => lines.length > 0)
    expect(
      full.map(({ facts, lines }) => [
        facts.subagentOf,
        lines.flatMap(({ content }) => content.flatMap(toWords)),
      ]),
    ).toEqual([[undefined, ['one', '1', 'two', '2']]])
  })

  test('[PRX6] a request that names the answer it follows goes on behind it', async () => {
    const { kept, conversations } = open()
    await conversations.begin(ask([said('user', 'one')])).answered(heard('1', 'resp_1'))
    await conversations
      .begin(ask([said('user', 'two')], { follows: 'resp_1' }))
      .answered(heard('2', 'resp_2'))
    await conversations
      .begin(ask([said('user', 'other')], { follows: 'resp_1' }))
      .answered(heard('3', 'resp_3'))
    await conversations.end()
    const [{ lines } = { lines: [] }] = kept.all
    expect(kept.all).toHaveLength(1)
    expect(chainTo(lines, lines[3]?.uuid ?? '')).toEqual(['one', '1', 'two', '2'])
    expect(chainTo(lines, lines[5]?.uuid ?? '')).toEqual(['one', '1', 'other', '3'])
  })

  test('[PRX7] a session that a client goes on with later goes on in its recording', async () => {
    const { kept, conversations } = open()
    const hint = { clientSessionId: 's' }
    const results = [
      { type: 'tool_result', tool_use_id: 't1', content: 'x' },
      { type: 'text', text: '<system-reminder>be nice</system-reminder>' },
    ]
    await conversations.begin(ask([said('user', 'one')]), hint).answered({
      provider: 'anthropic',
      outcome: 'whole',
      message: { id: 'm1', content: [{ type: 'tool_use', id: 't1', name: 'n', input: {} }] },
    })
    const before = [
      said('user', 'one'),
      { role: 'assistant' as const, content: [{ type: 'tool_use', id: 't1', name: 'n', input: {} }] },
      { role: 'user' as const, content: results },
    ]
    await conversations.begin(ask(before), hint).answered(heard('1', 'm2'))
    await conversations.end()
    const again = createConversations({ open: kept.open, readLines: kept.readLines, onTrouble: () => {} })
    await again
      .begin(ask([...before, said('assistant', '1'), said('user', 'two')]), hint)
      .answered(heard('2', 'm3'))
    await again.end()
    const [{ lines } = { lines: [] }] = kept.all
    expect(kept.all).toHaveLength(1)
    expect(chainTo(lines, lines.at(-1)?.uuid ?? '')).toEqual([
      'one',
      'call t1',
      'result t1',
      '<system-reminder>be nice</system-reminder>',
      '1',
      'two',
      '2',
    ])
    expect(lines).toHaveLength(7)
  })

  test('[PRX3] a list that begins anew under one session is a new beginning in its recording, and says what came before', async () => {
    const { kept, conversations } = open()
    const hint = { clientSessionId: 's' }
    await conversations.begin(ask([said('user', 'one')]), hint).answered(heard('1', 'm1'))
    await conversations.begin(ask([said('user', 'a summary')]), hint).answered(heard('2', 'm2'))
    await conversations.end()
    const [{ lines } = { lines: [] }] = kept.all
    expect(lines[2]).toMatchObject({ parentUuid: null, extra: { logicalParentUuid: lines[1]?.uuid } })
  })

  test('[PRX9] what is quiet for longest is let go when there are too many', async () => {
    const kept = createKeptRecordings()
    const conversations = createConversations({ open: kept.open, onTrouble: () => {}, limit: 3 })
    for (let at = 0; at < 6; at++)
      await conversations
        .begin(ask([said('user', `n${String(at)}`)]))
        .answered(heard(`a${String(at)}`, `m${String(at)}`))
    expect(conversations.list().map(({ sessionId }) => sessionId)).toEqual(['s3', 's4', 's5'])
    await conversations.end()
    expect(kept.all.every(({ ended }) => ended)).toBe(true)
  })

  test('[PRX1] what a person wrote while Claude Code worked is a turn, and what it tells the model beside it is none', () => {
    const meanwhile =
      'The user sent a new message while you were working:\nAnd the tests?\n\nThis is how it goes.'
    const messages = [
      { role: 'user', content: 'begin' },
      { role: 'system', content: [{ type: 'text', text: '# Environment' }] },
      { role: 'assistant', content: 'I work.' },
      { role: 'system', content: meanwhile },
    ]
    const request = readModelRequest('messages', { messages }, '/v1/messages')
    expect(request?.turns).toEqual([
      said('user', 'begin'),
      said('assistant', 'I work.'),
      said('user', 'And the tests?'),
    ])
  })

  test('[PRX1] a client that goes on before its answer is over has it written once, as it was heard', async () => {
    const { kept, conversations } = open()
    const hint = { clientSessionId: 's' }
    const first = conversations.begin(ask([said('user', 'one')]), hint)
    const second = conversations.begin(
      ask([said('user', 'one'), said('assistant', '1'), said('user', 'two')]),
      hint,
    )
    await first.answered(heard('1', 'm1'))
    await second.answered(heard('2', 'm2'))
    await conversations.end()
    const [{ lines } = { lines: [] }] = kept.all
    expect(lines.map(({ messageId, content }) => [messageId, ...content.flatMap(toWords)])).toEqual([
      [undefined, 'one'],
      ['m1', '1'],
      [undefined, 'two'],
      ['m2', '2'],
    ])
  })
})
