import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerOutcome, Ask, AttentionState, Resolution } from '#model'
import { createHandClock, runs } from '#testing'
import type { WatchGrounds } from './ask-grounds.ts'
import { createAttentions } from './attentions.ts'
import type { Attentions } from './attentions.ts'
import { hashOf, toPlain } from './canonical-json.ts'
import type { JournalFact } from './journal-fact.ts'
import { createJournalFold } from './session-journal.ts'

const ASK: Ask = {
  kind: 'permission',
  tool: 'Bash',
  input: { command: 'rm -r build', timeout: 5 },
  workdir: '/work',
  rules: [{ id: 'r1', scope: 'session', words: 'Bash(rm:*)', value: { rule: 1 } }],
  canEdit: true,
}
const ALLOW: Resolution = { kind: 'allow', rules: [] }
const DENY: Resolution = { kind: 'deny', words: 'no' }

/** A desk of attentions whose disk does what the test says. */
function setUp({ deadlineMs, watch }: { readonly deadlineMs?: number; readonly watch?: WatchGrounds } = {}) {
  const clock = createHandClock()
  const lines: JournalFact[] = []
  const told: string[] = []
  const disk: { write: (fact: JournalFact) => Promise<void> } = { write: () => Promise.resolve() }
  let minted = 0
  const attentions: Attentions = createAttentions({
    sessionId: 's',
    clock,
    mintId: () => `a${++minted}`,
    async record(fact) {
      await disk.write(fact)
      lines.push(fact)
    },
    onOpened: ({ id }) => told.push(`opened ${id}`),
    onSettled: (id, { state }) => told.push(`settled ${id} ${state}`),
    onUnrecorded: () => told.push('unrecorded'),
    deadlineMs,
    watch,
  })
  return { attentions, clock, lines, told, disk }
}

/** Asks, and gives what came of it as text: what the agent heard, or that it heard no. */
function ask(
  attentions: Attentions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Resolution | 'no'> {
  return attentions.open(ASK, signal).catch(() => 'no' as const)
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

test('[LVS35] what is too large to be shown to a person is denied, and nobody is asked', async () => {
  const { attentions, lines, told } = setUp()
  const input = { file_path: '/work/a', content: 'x'.repeat(5 * 1024 * 1024) }
  const heard = attentions.open({ ...ASK, input }, new AbortController().signal)
  await expect(heard).rejects.toMatchObject({ code: 'request-invalid' })
  expect([lines, told, attentions.list()]).toEqual([[], [], []])
})

test('[LVS1] a session that ends while an attention is on its way to the disk leaves none open', async () => {
  const { attentions, disk, lines } = setUp()
  const writing: (() => void)[] = []
  disk.write = () => new Promise((resolve) => void writing.push(resolve))
  const heard = ask(attentions)
  await settle()
  let isOver = false
  const over = attentions.lapseAll('session-ended').then(() => (isOver = true))
  await settle()
  expect(isOver).toBe(false)
  // Its own line, and then the one that says that it lapsed.
  for (const kinds of [['attention.opened'], ['attention.opened', 'attention.settled']]) {
    writing.shift()?.()
    await settle()
    expect(lines.map(({ kind }) => kind)).toEqual(kinds)
  }
  await over
  expect(await heard).toBe('no')
})

test('[LVS1] [FLT37] an attention is on disk before anybody is told, and nobody is asked when it cannot be written', async () => {
  const { attentions, told, disk, lines } = setUp()
  let written: (() => void) | undefined
  disk.write = () =>
    new Promise((resolve) => {
      written = resolve
    })
  const heard = ask(attentions)
  await settle()
  expect(told).toEqual([])
  expect(attentions.list()).toEqual([])
  written?.()
  await settle()
  expect(told).toEqual(['opened a1'])
  expect(lines.map(({ kind }) => kind)).toEqual(['attention.opened'])

  disk.write = () => Promise.reject(new Error('the disk is full'))
  expect(await ask(attentions)).toBe('no')
  expect(told).toEqual(['opened a1'])
  disk.write = () => Promise.resolve()
  await attentions.lapseAll('session-ended')
  expect(await heard).toBe('no')
})

test('[LVS2] the first answer wins, later ones are told the winner, and a repeated one that it has won', async () => {
  const { attentions, told } = setUp()
  const heard = ask(attentions)
  await settle()
  const [open] = attentions.list()
  const answer = { id: open?.id ?? '', hash: open?.hash ?? '' }
  const [first, second] = await Promise.all([
    attentions.resolve({ ...answer, resolution: DENY, by: 'laptop' }),
    attentions.resolve({ ...answer, resolution: ALLOW, by: 'phone' }),
  ])
  expect(first).toMatchObject({ kind: 'won', state: { state: 'resolved', resolution: DENY, by: 'laptop' } })
  expect(second).toEqual({ kind: 'late', state: first.state })
  expect(await attentions.resolve({ ...answer, resolution: DENY, by: 'laptop' })).toEqual(first)
  expect(await heard).toEqual(DENY)
  expect(told).toEqual(['opened a1', 'settled a1 resolved'])
})

describe('[LVS3] an answer to something else, or that was not on offer, changes nothing', () => {
  const wrong: readonly (readonly [why: string, change: object, code: string])[] = [
    ['another hash', { hash: '0'.repeat(64) }, 'attention-mismatch'],
    ['another id', { id: 'a9' }, 'attention-not-found'],
    ['a rule that was not shown', { resolution: { kind: 'allow', rules: ['r2'] } }, 'request-invalid'],
    ['the answer to a question', { resolution: { kind: 'answer', answers: [['yes']] } }, 'request-invalid'],
  ]
  test.each(wrong)('%s', async (_why, change, code) => {
    const { attentions, lines } = setUp()
    const heard = ask(attentions)
    await settle()
    const [open] = attentions.list()
    const right = { id: open?.id ?? '', hash: open?.hash ?? '', resolution: ALLOW, by: 'phone' }
    await expect(attentions.resolve({ ...right, ...change })).rejects.toMatchObject({ code })
    expect(lines).toHaveLength(1)
    expect(await attentions.resolve(right)).toMatchObject({ kind: 'won' })
    await expect(attentions.resolve({ ...right, hash: 'other' })).rejects.toMatchObject({
      code: 'attention-mismatch',
    })
    expect(await heard).toEqual(ALLOW)
  })
})

test('[LVS7] what changed is asked again before anything is allowed, and nothing is when that cannot be written', async () => {
  let change: string | undefined
  const { attentions, lines, told, disk } = setUp({ watch: async () => async () => change })
  const heard = ask(attentions)
  await settle()
  const [first] = attentions.list()
  const yes = (open = attentions.list()[0]) => ({
    id: open?.id ?? '',
    hash: open?.hash ?? '',
    resolution: ALLOW,
    by: 'phone',
  })
  change = 'the folder is gone'
  disk.write = () => Promise.reject(new Error('the disk is full'))
  await expect(attentions.resolve(yes())).rejects.toThrow('the disk is full')
  expect(attentions.list()).toEqual([first])
  disk.write = () => Promise.resolve()
  await expect(attentions.resolve(yes())).rejects.toMatchObject({ code: 'attention-changed' })
  expect(told).toEqual(['opened a1', 'settled a1 lapsed', 'opened a2'])
  expect(await attentions.resolve(yes(first))).toMatchObject({ kind: 'late' })
  change = undefined
  expect(await attentions.resolve(yes())).toMatchObject({ kind: 'won' })
  expect(await heard).toEqual(ALLOW)
  expect(lines.map(({ kind }) => kind.slice('attention.'.length))).toEqual([
    'opened',
    'settled',
    'opened',
    'settled',
  ])
})

test('[LVS3] an agent that takes no other input gets none, and a question only what it offers', async () => {
  const { attentions } = setUp()
  const question: Ask = {
    kind: 'question',
    workdir: '/work',
    questions: [
      { question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }], multiple: false, free: false },
    ],
  }
  void attentions.open({ ...ASK, canEdit: false }, new AbortController().signal).catch(() => {})
  void attentions.open(question, new AbortController().signal).catch(() => {})
  await settle()
  const [permission, asked] = attentions.list()
  const edited: Resolution = { kind: 'allow', rules: [], input: { command: 'ls' } }
  const tell = (
    id: string | undefined,
    hash: string | undefined,
    resolution: Resolution,
  ): Promise<AnswerOutcome> => attentions.resolve({ id: id ?? '', hash: hash ?? '', resolution, by: 'phone' })
  const invalid = { code: 'request-invalid' }
  await expect(tell(permission?.id, permission?.hash, edited)).rejects.toMatchObject(invalid)
  for (const answers of [[], [['Green']], [['Red', 'Blue']], [['Red'], ['Red']]]) {
    await expect(tell(asked?.id, asked?.hash, { kind: 'answer', answers })).rejects.toMatchObject(invalid)
  }
  await expect(tell(asked?.id, asked?.hash, ALLOW)).rejects.toMatchObject(invalid)
  expect(await tell(asked?.id, asked?.hash, { kind: 'answer', answers: [['Blue']] })).toMatchObject({
    kind: 'won',
  })
})

test('[LVS4] [FLT37] an answer that cannot be written was not given', async () => {
  const { attentions, disk, told } = setUp()
  const heard = ask(attentions)
  await settle()
  const [open] = attentions.list()
  const answer = { id: open?.id ?? '', hash: open?.hash ?? '' }
  disk.write = () => Promise.reject(new Error('the disk is full'))
  await expect(attentions.resolve({ ...answer, resolution: ALLOW, by: 'phone' })).rejects.toThrow('full')
  expect(attentions.list()).toHaveLength(1)
  disk.write = () => Promise.resolve()
  await attentions.resolve({ ...answer, resolution: DENY, by: 'laptop' })
  expect(await heard).toEqual(DENY)
  expect(told).toEqual(['opened a1', 'settled a1 resolved'])
})

test('[LVS5] [FLT33] a deadline is no consent, and without one an attention stays open', async () => {
  const timed = setUp({ deadlineMs: 60_000 })
  const heard = ask(timed.attentions)
  await settle()
  timed.clock.pass(59_999)
  await settle()
  expect(timed.attentions.list()).toHaveLength(1)
  timed.clock.pass(1)
  expect(await heard).toBe('no')
  expect(timed.lines.at(-1)).toMatchObject({ state: { state: 'lapsed', reason: 'deadline' } })

  const patient = setUp()
  const answered = ask(patient.attentions)
  await settle()
  patient.clock.pass(24 * 3_600_000)
  const [open] = patient.attentions.list()
  await patient.attentions.resolve({
    id: open?.id ?? '',
    hash: open?.hash ?? '',
    resolution: ALLOW,
    by: 'phone',
  })
  expect(await answered).toEqual(ALLOW)
})

type Step =
  | { readonly do: 'allow' | 'deny'; readonly by: string }
  | { readonly do: 'abort' | 'end' | 'turn' }
  | { readonly do: 'disk'; readonly works: boolean; readonly turns: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('allow' as const, 'deny' as const),
    by: fc.constantFrom('laptop', 'phone'),
  }),
  fc.record({ do: fc.constantFrom('abort' as const, 'end' as const, 'turn' as const) }),
  fc.record({ do: fc.constant('disk' as const), works: fc.boolean(), turns: fc.nat(3) }),
)

test('[LVS2] [LVS4] [LVS5] whatever happens in whatever order: one end, on disk first, and no consent without it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { attentions, lines, disk, told } = setUp()
      const abort = new AbortController()
      const heard = ask(attentions, abort.signal)
      let heardBefore: number | undefined
      void heard.then(() => (heardBefore = lines.length))
      await settle()
      const [open] = attentions.list()
      const outcomes: Promise<AnswerOutcome | undefined>[] = []
      for (const one of steps) {
        if ('by' in one) {
          const resolution = one.do === 'allow' ? ALLOW : DENY
          const answer = { id: open?.id ?? '', hash: open?.hash ?? '', resolution, by: one.by }
          outcomes.push(attentions.resolve(answer).catch(() => undefined))
        } else if (one.do === 'abort') abort.abort()
        else if (one.do === 'end') void attentions.lapseAll('session-ended')
        else if (!('works' in one)) await Promise.resolve()
        else {
          disk.write = async () => {
            for (let turn = 0; turn < one.turns; turn++) await Promise.resolve()
            if (!one.works) throw new Error('the disk is full')
          }
        }
      }
      await settle()
      disk.write = () => Promise.resolve()
      await attentions.lapseAll('session-ended')
      const end = await heard
      const said = (await Promise.all(outcomes)).flatMap((outcome) => outcome ?? [])
      await settle()

      const settled = lines.flatMap((line) => (line.kind === 'attention.settled' ? [line.state] : []))
      expect(settled.length).toBeLessThanOrEqual(1)
      expect(told.filter((words) => words.startsWith('settled'))).toHaveLength(1)
      const [state] = settled
      if (end !== 'no') {
        expect(state).toMatchObject({ state: 'resolved', resolution: end })
        expect(heardBefore).toBe(2)
      }
      if (state?.state === 'resolved' && !abort.signal.aborted) expect(end).toEqual(state.resolution)
      // Everybody was told the same, and it is what is on disk.
      for (const outcome of said) if (state) expect(outcome.state).toEqual(state)
      if (said.some(({ kind }) => kind === 'won')) expect(state).toMatchObject({ state: 'resolved' })
      const fold = createJournalFold()
      for (const line of lines) fold.add(line)
      expect(fold.read().open).toHaveLength(state ? 0 : 1)
    }),
    runs(500),
  )
})

test('[LVS2] two devices answer at once, a thousand times: one wins, both see the same', async () => {
  for (let round = 0; round < 1_000; round++) {
    const { attentions, lines } = setUp()
    const heard = ask(attentions)
    await settle()
    const [open] = attentions.list()
    const answer = { id: open?.id ?? '', hash: open?.hash ?? '' }
    const both = await Promise.all([
      attentions.resolve({ ...answer, resolution: ALLOW, by: 'a' }),
      attentions.resolve({ ...answer, resolution: DENY, by: 'b' }),
    ])
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['late', 'won'])
    expect(both[0].state).toEqual(both[1].state)
    expect(lines).toHaveLength(2)
    expect(await heard).toEqual(resolutionOf(both[0].state))
  }
})

function resolutionOf(state: AttentionState): Resolution | undefined {
  return state.state === 'resolved' ? state.resolution : undefined
}

test('[LVS6] the hash is of the content, in any order of keys and after any number of writings', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(hashOf(toPlain(shuffled(a)))).toBe(hashOf(toPlain(a)))
      expect(hashOf(toPlain(a)) === hashOf(toPlain(b))).toBe(sameJson(toPlain(a), toPlain(b)))
    }),
    runs(300),
  )
})

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(
    ([key, held]) => `${JSON.stringify(key)}:${JSON.stringify(shuffled(held))}`,
  )
  return JSON.parse(`{${fields.toReversed().join(',')}}`)
}

function sameJson(a: unknown, b: unknown): boolean {
  try {
    expect(a).toStrictEqual(b)
    return true
  } catch {
    return false
  }
}
