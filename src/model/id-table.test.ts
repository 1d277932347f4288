import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIdTable } from './id-table.ts'

/** Ids as files have them, and those that are nearly one of them. */
const anyId = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => id.replaceAll('-', '')),
  fc.uuid().map((id) => `${id.slice(0, -1)}g`),
  fc.nat().map((offset) => `@${offset}`),
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 250, maxLength: 260 }),
  // Halves of surrogate pairs are no text, and tell ids apart all the same.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((codes) => String.fromCharCode(...codes)),
)

test('every id has a number of its own, and gives back the same characters', () => {
  fc.assert(
    fc.property(fc.array(anyId, { maxLength: 300 }), anyId, (ids, other) => {
      const table = createIdTable()
      const numbers = new Map<string, number>()
      for (const id of [...ids, ...ids]) {
        const expected = numbers.get(id) ?? numbers.size
        expect(table.add(id)).toBe(expected)
        numbers.set(id, expected)
      }
      expect(table.size).toBe(numbers.size)
      for (const [id, number] of numbers) expect([table.find(id), table.idOf(number)]).toEqual([number, id])
      expect([table.find(other), table.has(other)]).toEqual([numbers.get(other) ?? -1, numbers.has(other)])
    }),
    runs(300),
  )
})

test('a hundred thousand ids are told apart', () => {
  const table = createIdTable()
  const toId = (n: number): string =>
    n % 2 === 0 ? `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000` : `toolu_${n}`
  for (let n = 0; n < 100_000; n++) expect(table.add(toId(n))).toBe(n)
  for (let n = 0; n < 100_000; n += 7) expect([table.find(toId(n)), table.idOf(n)]).toEqual([n, toId(n)])
  expect(table.find(toId(100_000))).toBe(-1)
})
