import type { IndexedFile } from '#store'
import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIndexed, type IndexTask } from '../index-task.ts'
import { createKnownFiles } from './known-files.ts'
import { createPastTasks } from './past-tasks.ts'

test('[ING30] how far the index is, is known without a look at every file, whatever happens to them', () => {
  const step = fc.oneof(
    fc.record({ path: fc.nat(5), session: fc.nat(3), offset: fc.nat(90) }),
    fc.record({ path: fc.nat(5), size: fc.option(fc.nat(90), { nil: undefined }) }),
    fc.record({ path: fc.nat(5) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const known = createKnownFiles()
      const files = new Map<string, IndexedFile>()
      const sizes = new Map<string, number>()
      for (const each of steps) {
        const path = `/${each.path}`
        if ('session' in each) {
          const task = { path, agent: 'claude', session: `s${each.session}`, createdAt: '' }
          const file = { ...toIndexed(task, 'here'), offset: each.offset }
          known.put(file)
          files.set(path, file)
        } else if ('size' in each) {
          known.size(path, each.size)
          if (each.size === undefined) sizes.delete(path)
          else sizes.set(path, each.size)
        } else {
          known.drop(path)
          files.delete(path)
        }
      }
      const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0)
      expect(known.total).toEqual({
        files: sizes.size,
        bytes: sum([...sizes.values()]),
        done: sum([...sizes].map(([path, size]) => Math.min(size, files.get(path)?.offset ?? 0))),
      })
      for (const session of ['s0', 's1', 's2', 's3'])
        expect(new Set(known.ofSession(session))).toEqual(
          new Set([...files.values()].filter((file) => file.session === session)),
        )
    }),
    runs(200),
  )
})

test('[ING5] what waits to be read is taken in order, once, as what it was told last', () => {
  const taskOf = (name: string, createdAt = ''): IndexTask => ({
    path: `/${name}`,
    agent: 'claude',
    session: name,
    createdAt,
  })
  const past = createPastTasks(['a', 'b', 'c', 'd'].map((name) => taskOf(name)))
  past.drop('/b')
  past.replace(taskOf('c', 'later'))
  past.replace(taskOf('x'))
  expect([past.size, past.has('/c'), past.has('/b'), past.has('/x')]).toEqual([3, true, false, false])
  expect([past.take(), past.take(), past.take(), past.take()]).toEqual([
    taskOf('a'),
    taskOf('c', 'later'),
    taskOf('d'),
    undefined,
  ])
  past.replace(taskOf('a'))
  expect([past.size, past.take()]).toEqual([0, undefined])
})
