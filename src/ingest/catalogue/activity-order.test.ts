import { byActivity } from '#model'
import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createActivityOrder } from './activity-order.ts'
import { createTurns } from './turns.ts'

interface Listed {
  readonly id: string
  readonly lastActivityAt: string | undefined
}

function session(id: number, at: number | undefined): Listed {
  return {
    id: `session-${String(id).padStart(6, '0')}`,
    lastActivityAt: at === undefined ? undefined : new Date(at).toISOString(),
  }
}

test('[ING30] whatever changed since the last list, the next one is the one that is sorted anew', () => {
  const step = fc.oneof(
    fc.record({ id: fc.nat(30), at: fc.option(fc.nat(20), { nil: undefined }), kind: fc.constant('set') }),
    fc.record({ id: fc.nat(30), kind: fc.constant('remove') }),
    fc.record({ kind: fc.constant('list') }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const order = createActivityOrder<Listed>()
      const now = new Map<number, Listed>()
      const check = (): void => {
        expect(order.list()).toEqual([...now.values()].toSorted(byActivity))
      }
      for (const each of steps) {
        if ('at' in each) {
          const after = session(each.id, each.at)
          order.change(now.get(each.id), after)
          now.set(each.id, after)
        } else if ('id' in each) {
          order.change(now.get(each.id), undefined)
          now.delete(each.id)
        } else check()
      }
      check()
    }),
    runs(300),
  )
})

test('[ING30] counts that arrive for every one of 20,000 sessions sort nothing until the list is asked for, and then once', () => {
  const N = 20_000
  let comparisons = 0
  const order = createActivityOrder<Listed>((a, b) => {
    comparisons++
    return byActivity(a, b)
  })
  const sessions = Array.from({ length: N }, (_, id) => session(id, id * 1000))
  for (const each of sessions) order.change(undefined, each)
  const first = order.list()
  comparisons = 0
  for (const each of sessions) order.change(each, { ...each })
  expect(comparisons).toBe(0)
  const second = order.list()
  expect(comparisons).toBeLessThan(20 * N)
  expect(second).toEqual(first)

  comparisons = 0
  const [newest] = second
  order.change(newest, session(N, N * 1000))
  order.list()
  expect(comparisons).toBeLessThan(20)
  expect(order.list()).toBe(order.list())
})

test('[ING30] work on many sessions leaves other work its turn, and is done for each once', async () => {
  const done: string[] = []
  const turns = createTurns((id) => {
    for (const until = performance.now() + 1; performance.now() < until;);
    done.push(id)
  })
  const ids = Array.from({ length: 200 }, (_, n) => `session-${n}`)
  turns.add(ids)
  turns.add(ids)
  let others = 0
  const waiting = (): void => {
    others++
    if (done.length < ids.length) setImmediate(waiting)
  }
  setImmediate(waiting)
  await Promise.all(turns.busy())
  expect(done).toEqual(ids)
  expect(others).toBeGreaterThan(10)

  turns.add(['one'])
  expect(done.at(-1)).toBe('one')
  turns.add(ids)
  turns.close()
  await Promise.all(turns.busy())
  expect(done.length).toBe(ids.length + 1)
})
