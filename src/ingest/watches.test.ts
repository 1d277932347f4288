import { expect, test } from 'vitest'
import { createWatches } from './watches.ts'

test('[ING10] a look that failed costs who waits for hits nothing: the next one tells them', async () => {
  let isBroken = true
  const told: string[] = []
  const watches = createWatches({
    async search(_query, newerThan) {
      if (isBroken) throw new Error('the disk is away')
      return [2, 3].filter((number) => number > newerThan).map((number) => ({ ...FOUND, number }))
    },
    show: async (found) => found.map(({ number }) => ({ ...HIT, number })),
    now: () => 0,
  })
  watches.open('epoch', 1)
  watches.add('word', { onHit: (_hit, at) => told.push(at), onReset: () => {}, onCaughtUp: () => {} })
  await expect(watches.committed(2)).rejects.toThrow('the disk is away')
  isBroken = false
  await watches.committed(3)
  expect(told).toEqual(['epoch.2', 'epoch.3'])
})

test('[ING10] whoever comes back with the newest cursor hears at once that nothing was missed', () => {
  const watches = createWatches({ search: async () => [], show: async () => [], now: () => 0 })
  watches.open('epoch', 7)
  const listen = (cursor: string): readonly string[] => {
    const told: string[] = []
    watches.add('word', {
      cursor,
      onHit: () => {},
      onReset: (at) => told.push(`reset ${at}`),
      onCaughtUp: (at) => told.push(`caught-up ${at}`),
    })
    return told
  }
  expect(listen('epoch.7')).toEqual(['caught-up epoch.7'])
  // A cursor of another index, or from beyond its end, is none.
  for (const other of ['before.7', 'epoch.8', 'epoch.x'])
    expect(listen(other)).toEqual(['reset epoch.7', 'caught-up epoch.7'])
})

const FOUND = {
  number: 0,
  path: '/a.jsonl',
  agent: 'claude',
  session: 'a',
  subagent: undefined,
  offset: 0,
  length: 1,
  at: undefined,
  kind: 'prompt',
  where: 'said',
  tool: undefined,
  isError: false,
} as const
const HIT = {
  path: '/a.jsonl',
  number: 0,
  subagent: undefined,
  entry: { id: 'e', kind: 'prompt', at: undefined, place: { offset: 0, length: 1 }, cursor: '1' },
  where: 'said',
  tool: undefined,
  isError: false,
  weight: 1,
  snippet: { text: '', marks: [] },
} as const
