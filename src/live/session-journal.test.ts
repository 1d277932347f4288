import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openJournal } from '#journal'
import { openTempDir, runs } from '#testing'
import { hashOf } from './canonical-json.ts'
import type { JournalFact } from './journal-fact.ts'
import {
  createJournalFold,
  findSessionJournal,
  readSessionJournal,
  sessionJournalPath,
} from './session-journal.ts'

const at = '2026-01-01T00:00:00.000Z'
const STARTED: JournalFact = {
  kind: 'session.started',
  at,
  sessionId: 's',
  agent: 'scripted',
  workdir: '/work',
  mode: 'default',
  run: 'r',
  pid: 1,
}

function attentionOf(id: string): JournalFact {
  const ask = { kind: 'question', workdir: '/work', questions: [] } as const
  const attention = {
    id,
    sessionId: 's',
    openedAt: at,
    ask,
    hash: hashOf(ask),
    state: { state: 'open' },
  } as const
  return { kind: 'attention.opened', at, attention }
}

const id = fc.constantFrom('1', '2', '3')
const fact: fc.Arbitrary<JournalFact> = fc.oneof(
  fc.constant(STARTED),
  id.map((name) => ({
    kind: 'prompt.admitted' as const,
    at,
    id: name,
    blocks: [{ kind: 'text' as const, text: `words ${name}` }],
    by: 'phone',
  })),
  id.map((name) => ({ kind: 'prompt.sent' as const, at, id: name })),
  id.map((name) => ({ kind: 'prompt.delivered' as const, at, id: name })),
  id.map(attentionOf),
  fc.record({ name: id, by: fc.constantFrom('laptop', 'phone') }).map(({ name, by }) => ({
    kind: 'attention.settled' as const,
    at,
    id: name,
    state: { state: 'resolved' as const, resolution: { kind: 'allow' as const, rules: [] }, by, at },
  })),
  id.map((name) => ({
    kind: 'attention.settled' as const,
    at,
    id: name,
    state: { state: 'lapsed' as const, reason: 'agent-gone' as const, at },
  })),
  fc.constant({ kind: 'turn.started' as const, at, promptId: '1' }),
  fc.constant({ kind: 'turn.ended' as const, at, outcome: 'answered' }),
  fc.constant({ kind: 'mode.changed' as const, at, mode: 'plan' as const, by: 'phone' }),
  fc.constant({ kind: 'session.ended' as const, at, reason: 'idle' as const }),
)

test('[LVS10] cut anywhere, a journal gives the state of its whole lines, and goes on from there', async () => {
  await using dir = await disposable()
  let file = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fact, { minLength: 1, maxLength: 12 }), fc.nat(), async (facts, cut) => {
      const path = join(dir.path, `${++file}.jsonl`)
      const bytes = Buffer.from(facts.map((one) => `${JSON.stringify(one)}\n`).join(''))
      await writeFile(path, bytes)
      const length = cut % (bytes.length + 1)
      await truncate(path, length)
      const whole = bytes.subarray(0, length).toString('utf8').split('\n').length - 1
      const fold = createJournalFold()
      for (const one of facts.slice(0, whole)) fold.add(one)
      expect(await readSessionJournal(path)).toEqual(fold.read())

      const journal = await openJournal(path)
      await journal.append(STARTED)
      await journal.close()
      fold.add(STARTED)
      expect(await readSessionJournal(path)).toEqual(fold.read())
    }),
    runs(100),
  )
})

test('[LVS11] [LVS12] whatever the lines are: prompts only move on, and the first end of an attention counts', () => {
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 30 }), (facts) => {
      const fold = createJournalFold()
      const order = ['undelivered', 'in-doubt', 'delivered']
      let before = fold.read()
      for (const one of facts) {
        fold.add(one)
        const now = fold.read()
        for (const prompt of before.prompts) {
          const after = now.prompts.find((other) => other.id === prompt.id)
          expect(order.indexOf(after?.state ?? '')).toBeGreaterThanOrEqual(order.indexOf(prompt.state))
          if (after?.state !== 'delivered') expect(after?.blocks).toEqual(prompt.blocks)
        }
        for (const [name, state] of before.settled) {
          expect(now.settled.get(name)).toEqual(state)
          expect(now.open.map((attention) => attention.id)).not.toContain(name)
        }
        before = { ...now, settled: new Map(now.settled) }
      }
      const admitted = new Set(facts.flatMap((one) => (one.kind === 'prompt.admitted' ? [one.id] : [])))
      expect(new Set(before.prompts.map((prompt) => prompt.id))).toEqual(admitted)
    }),
    runs(300),
  )
})

test('[LVS10] lines that nobody knows, and damage, change nothing', async () => {
  await using dir = await disposable()
  const path = join(dir.path, 's.jsonl')
  const lines = [
    STARTED,
    { kind: 'prompt.admitted', at, id: '1', blocks: [{ kind: 'text', text: 'hi' }], by: 'me' },
  ]
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const before = await readSessionJournal(path)
  await appendFile(path, '{"kind":"prompt.admitted","at":"x","id":"2","blocks":[{"kind":"later"}]}\n')
  await appendFile(
    path,
    'no json\n42\n[]\n{"kind":"__proto__","at":"x"}\n{"kind":"attention.settled","at":"x","id":"a"}\n',
  )
  expect(await readSessionJournal(path)).toEqual(before)
  expect(await readSessionJournal(join(dir.path, 'none.jsonl'))).toEqual(createJournalFold().read())
})

test('[LVS10] a session has one journal, in the month in which it was begun here', async () => {
  await using dir = await disposable()
  const first = await sessionJournalPath(dir.path, 's', Date.UTC(2026, 0, 31, 23))
  expect(first).toBe(join(dir.path, 'journal', '2026', '01', 's.jsonl'))
  expect(await findSessionJournal(dir.path, 's')).toBeUndefined()
  await mkdir(dirname(first), { recursive: true })
  await writeFile(first, '')
  expect(await sessionJournalPath(dir.path, 's', Date.UTC(2027, 5))).toBe(first)
  expect(await readFile(first, 'utf8')).toBe('')
})

async function disposable(): Promise<{ readonly path: string } & AsyncDisposable> {
  const dir = await openTempDir()
  return { path: dir.path, [Symbol.asyncDispose]: () => dir.remove() }
}
