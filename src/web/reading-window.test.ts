import * as fc from 'fast-check'
import { placeOf, type Reading } from '#model'
import { runs } from '#testing'
import type { LiveEvent, Page } from '#wire'
import { expect, test } from 'vitest'
import { createReadingWindow, PAGE, type ReadingWindow } from './reading-window.ts'

function entryAt(number: number, offset: number): Reading {
  const place = { offset, length: 10 }
  return {
    kind: 'entry',
    entry: { kind: 'unknown', id: `e${number}`, type: 'x', raw: new Uint8Array(0), place },
  }
}

/** A session of so many entries, each ten bytes long: cursors are offsets. */
function createFile(count: number): {
  window: ReadingWindow
  append: (more: number) => void
  size: () => number
  asked: () => number
} {
  let size = count
  let asked = 0
  let listener: { from: number; onEvent: (event: LiveEvent) => void } | undefined
  const reading = (at: number): Reading => entryAt(at, at * 10)
  const range = (from: number, to: number): Reading[] => {
    const out: Reading[] = []
    for (let at = from; at < to; at++) out.push(reading(at))
    return out
  }
  const page = (from: number, to: number): Page => ({
    readings: range(from, to),
    start: String(from),
    end: String(to),
    atStart: from === 0,
    atEnd: to === size,
  })
  const window = createReadingWindow({
    async page({ limit, before, after, around }) {
      asked++
      await Promise.resolve()
      if (around !== undefined) {
        const at = Math.min(size, 'offset' in around ? around.offset / 10 : 0)
        const from = Math.max(0, Math.floor(at - limit / 2))
        return page(from, Math.min(size, from + limit))
      }
      if (after !== undefined) return page(Number(after), Math.min(size, Number(after) + limit))
      const to = before === undefined ? size : Number(before)
      return page(Math.max(0, to - limit), to)
    },
    follow(cursor, onEvent) {
      const mine = { from: Number(cursor), onEvent }
      listener = mine
      return {
        cursor,
        close() {
          if (listener === mine) listener = undefined
        },
      }
    },
  })
  return {
    window,
    append(more) {
      size += more
      if (listener === undefined) return
      const { from, onEvent } = listener
      listener.from = size
      onEvent({ kind: 'entry.added', session: 's', readings: range(from, size), cursor: String(size) })
    },
    size: () => size,
    asked: () => asked,
  }
}

const offsets = (window: ReadingWindow): readonly number[] =>
  window.state.value.readings.map((reading) => placeOf(reading).offset / 10)

test('[WEB5] a long session opens at its end with one page, whatever its size', async () => {
  const { window, asked } = createFile(1_000_000)
  await window.openEnd()
  expect(asked()).toBe(1)
  expect(offsets(window)).toEqual(Array.from({ length: PAGE }, (_, n) => 1_000_000 - PAGE + n))
  expect(window.state.value).toMatchObject({ atStart: false, atEnd: true, loading: undefined })
})

test('[WEB5] [WEB6] [C7.1] however one scrolls while entries come, the window has no gap, no repetition and an end', async () => {
  const step = fc.oneof(
    fc.constant('before' as const),
    fc.constant('after' as const),
    fc.constant('end' as const),
    fc.record({ around: fc.nat(2000) }),
    fc.record({ append: fc.integer({ min: 1, max: 30 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(1500), fc.array(step, { maxLength: 60 }), async (count, steps) => {
      const { window, append, size } = createFile(count)
      await window.openEnd()
      for (const one of steps) {
        if (one === 'before') await window.loadBefore()
        else if (one === 'after') await window.loadAfter()
        else if (one === 'end') await window.openEnd()
        else if ('around' in one) await window.openAround({ offset: one.around * 10 })
        else append(one.append)
        const held = offsets(window)
        const first = held[0] ?? 0
        expect(held).toEqual(held.map((_, n) => first + n))
        expect(held.length).toBeLessThanOrEqual(400 + 2 * PAGE + 30)
        const { atStart, atEnd } = window.state.value
        if (held.length > 0) expect(atStart).toBe(first === 0)
        if (atEnd) expect(first + held.length).toBe(size())
      }
      for (let n = 0; n < 100 && !window.state.value.atEnd; n++) await window.loadAfter()
      expect(offsets(window).at(-1) ?? size() - 1).toBe(size() - 1)
    }),
    runs(100),
  )
})

test('[WEB6] a line that was half there is shown once when it is whole', async () => {
  const half: Reading = { kind: 'damage', damage: { offset: 20, length: 4, reason: 'torn' } }
  const whole = (at: number): Reading => entryAt(at, at)
  let tell: ((event: LiveEvent) => void) | undefined
  const window = createReadingWindow({
    page: () =>
      Promise.resolve({
        readings: [whole(0), whole(10), half],
        start: '0',
        end: '20',
        atStart: true,
        atEnd: true,
      }),
    follow(cursor, onEvent) {
      tell = onEvent
      return { cursor, close() {} }
    },
  })
  await window.openEnd()
  tell?.({ kind: 'entry.added', session: 's', readings: [whole(20)], cursor: '30' })
  expect(window.state.value.readings).toEqual([whole(0), whole(10), whole(20)])
})

test('[WEB7] what fails is said, and can be tried again', async () => {
  let isBroken = true
  const window = createReadingWindow({
    page: () =>
      isBroken
        ? Promise.reject(new Error('no daemon'))
        : Promise.resolve({ readings: [], start: '0', end: '0', atStart: true, atEnd: true }),
    follow: (cursor) => ({ cursor, close() {} }),
  })
  await window.openEnd()
  expect(window.state.value.error?.message).toBe('no daemon')
  isBroken = false
  await window.openEnd()
  expect(window.state.value).toMatchObject({ error: undefined, atEnd: true })
})

test('[WEB7] what could not be loaded is said until it can be, and what is shown stays', async () => {
  let isBroken = false
  const reading = (at: number): Reading => ({
    kind: 'damage',
    damage: { offset: at, length: 1, reason: 'torn' },
  })
  const window = createReadingWindow({
    page: ({ before }) =>
      isBroken
        ? Promise.reject(new Error('no daemon'))
        : Promise.resolve({
            readings: [reading(Number(before ?? 9))],
            start: '5',
            end: '9',
            atStart: before !== undefined,
            atEnd: before === undefined,
          }),
    follow: (cursor) => ({ cursor, close() {} }),
  })
  await window.openEnd()
  isBroken = true
  await window.loadBefore()
  expect(window.state.value).toMatchObject({ error: { message: 'no daemon' }, readings: [reading(9)] })
  isBroken = false
  await window.loadBefore()
  expect(window.state.value).toMatchObject({ error: undefined, readings: [reading(5), reading(9)] })
  isBroken = true
  await window.openAround({ entry: 'nowhere' })
  expect(window.state.value).toMatchObject({ error: { message: 'no daemon' }, readings: [] })
})
