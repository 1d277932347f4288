import { field } from '#base'
import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ObjectAutomaton } from './object-automaton.ts'
import { MAX_DEPTH } from './json-walk.ts'
import { ObjectScanner } from './object-scanner.ts'

const KEYS = ['a', 'type', 'uuid', 'message', 'ключ']

/** JSON texts of objects, valid and spoiled: what a disk may give us. */
const text = fc.oneof(
  fc.json({ maxDepth: 5 }),
  fc
    .dictionary(fc.constantFrom(...KEYS, 'b', '"', '\\', '__proto__'), fc.jsonValue())
    .map((value) => JSON.stringify(value)),
  fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue()).map((value) => JSON.stringify(value, null, 2)),
)
const spoiled = fc
  .tuple(
    text,
    fc.nat(),
    fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 'u', '\u0001', ' ', 't', ''),
  )
  .map(([whole, at, letter]) => {
    const cut = at % (whole.length + 1)
    return whole.slice(0, cut) + letter + whole.slice(cut + 1)
  })

test('[READ3] the scanner takes exactly the objects that JSON.parse takes, and finds the same values', () => {
  const scanner = new ObjectScanner(KEYS)
  fc.assert(
    fc.property(fc.oneof(text, spoiled), (json) => {
      const bytes = Buffer.from(json)
      const end = scanner.scan(bytes, 0, bytes.length)
      const whole = end > 0 && /^\s*$/.test(json.slice(bytes.subarray(0, end).toString().length))
      const parsed = parse(json)
      const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      expect(whole).toBe(isObject)
      if (isObject) expect(valuesOf(scanner, bytes)).toEqual(pick(parsed))
    }),
    runs(2000),
  )
})

test('[READ5] the automaton says the same as the scanner, wherever the bytes are divided', () => {
  const scanner = new ObjectScanner(KEYS)
  const automaton = new ObjectAutomaton(KEYS)
  fc.assert(
    fc.property(fc.oneof(text, spoiled), fc.array(fc.nat(), { maxLength: 6 }), (json, cuts) => {
      const bytes = Buffer.from(json)
      const end = scanner.scan(bytes, 0, bytes.length)
      automaton.begin()
      let verdict: ReturnType<ObjectAutomaton['feed']> = { kind: 'incomplete' }
      const points = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
        (a, b) => a - b,
      )
      for (const [index, point] of points.entries()) {
        const next = points[index + 1] ?? bytes.length
        if (verdict.kind === 'incomplete')
          verdict = automaton.feed(bytes.subarray(point, next), 0, next - point, point)
      }
      expect(verdict.kind).toBe(
        end > 0 ? 'whole' : scanner.failedAt >= bytes.length ? 'incomplete' : 'garbage',
      )
      if (verdict.kind === 'whole') {
        expect(verdict.length).toBe(end)
        expect(Array.from(automaton.starts)).toEqual(Array.from(scanner.starts))
        expect(Array.from(automaton.ends)).toEqual(Array.from(scanner.ends))
      }
    }),
    runs(2000),
  )
})

test('[READ3] a long value that is parsed on the way gives the same verdict and the same values', () => {
  const scanner = new ObjectScanner(['type', 'message', 'uuid'], {
    under: 'message',
    keys: ['id', 'content'],
    parse: 'content',
  })
  // Nested in ways that look like the end of the value.
  const tricky = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(
      '},"uuid":"',
      { a: {}, uuid: 'x' },
      [{ content: [] }],
      { message: { content: 'x' }, uuid: 'y' },
      '"]},"uuid":"',
      '\\',
    ),
  )
  const line = fc
    .tuple(
      fc.array(tricky, { maxLength: 6 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.constantFrom('string', 'list', 'number', 'null'),
    )
    .map(([values, size, shape]) => {
      const content = {
        string: `${JSON.stringify(values)}${'x'.repeat(size)}`,
        list: [...values, 'x'.repeat(size)],
        number: 7,
        null: null,
      }[shape]
      return JSON.stringify({ type: 'user', message: { role: 'user', content }, uuid: 'u', rest: values })
    })
  const lines = fc.array(fc.tuple(line, fc.option(fc.nat(), { freq: 3, nil: undefined })), { maxLength: 8 })
  fc.assert(
    fc.property(lines, (all) => {
      for (const [whole, cut] of all) {
        const json =
          cut === undefined
            ? whole
            : whole.slice(0, cut % whole.length) + whole.slice((cut % whole.length) + 1)
        const bytes = Buffer.from(json)
        const parsed = parse(json)
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
        expect(scanner.scan(bytes, 0, bytes.length) === bytes.length).toBe(isObject)
        const content = field(field(parsed, 'message'), 'content')
        if (isObject && scanner.inner?.parsed !== undefined)
          expect(scanner.inner.parsed.value).toEqual(content)
        const [start, end] = [scanner.inner?.starts[1] ?? -1, scanner.inner?.ends[1]]
        if (isObject && start >= 0) expect(JSON.parse(bytes.toString('utf8', start, end))).toEqual(content)
      }
    }),
    runs(500),
  )
})

test('[READ3] a record nested 100,000 deep is refused, neither hanging nor overflowing', () => {
  const scanner = new ObjectScanner(KEYS)
  const deep = Buffer.from(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
  expect(scanner.scan(deep, 0, deep.length)).toBe(-1)
  expect(scanner.tooDeep).toBe(true)
  const nested = MAX_DEPTH - 1
  const fine = Buffer.from(`{"a":${'['.repeat(nested)}${']'.repeat(nested)}}`)
  expect(scanner.scan(fine, 0, fine.length)).toBe(fine.length)
})

test('[READ3] of a key that occurs twice the last value counts, as with JSON.parse', () => {
  const scanner = new ObjectScanner(KEYS)
  const bytes = Buffer.from('{"a":1,"a":{"a":2},"b":3}')
  expect(scanner.scan(bytes, 0, bytes.length)).toBe(bytes.length)
  expect(valuesOf(scanner, bytes)).toEqual({ a: { a: 2 } })
  const inner = { under: 'm', keys: ['c'], parse: 'c' }
  const parsing = new ObjectScanner(['m'], inner)
  const long = JSON.stringify('x'.repeat(3000))
  for (const twice of [`{"m":{"c":${long},"c":${long}},"z":0000}`, `{"m":{"c":${long},"c":1},"z":1}`]) {
    const line = Buffer.from(twice)
    parsing.scan(line, 0, line.length)
  }
  expect(parsing.inner?.parsed).toBeUndefined()
})

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function valuesOf(scanner: ObjectScanner, bytes: Buffer): object {
  return Object.fromEntries(
    KEYS.flatMap((key, index) => {
      const start = scanner.starts[index] ?? -1
      return start < 0 ? [] : [[key, JSON.parse(bytes.toString('utf8', start, scanner.ends[index]))]]
    }),
  )
}

function pick(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => KEYS.includes(key)))
}
