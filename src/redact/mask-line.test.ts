import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, parseJson } from '#base'
import { canBeRead, plantSecrets, runs, SECRET_FORMS, type PlantedSecret } from '#testing'
import { maskLine } from './mask-line.ts'

const planted = plantSecrets(31, 200)
const [raw] = SECRET_FORMS

/** What a value looks like without its words and numbers. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (isObject(value)) return Object.values(value).map(shapeOf)
  return typeof value
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isObject(value) ? Object.entries(value).flatMap(([key, held]) => [key, ...leavesOf(held)]) : []
}

function mask(text: string): string {
  const line = Buffer.from(text)
  const masked = maskLine(line)
  expect(masked.length).toBe(line.length)
  return masked.toString()
}

const form = { name: 'raw', write: ({ text }: PlantedSecret) => text, read: (text: string) => text }

describe('a line', () => {
  test('[TEA40] of JSON keeps its length and its shape, and has no secret in any of its texts', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary', maxLength: 800 }))
    const depth = fc.constantFrom('text', 'list', 'named', 'long', 'escaped', 'deep')
    fc.assert(
      fc.property(fc.constantFrom(...planted), anything, depth, (secret, beside, where) => {
        const text = where === 'long' ? `${'a word '.repeat(100)}${secret.text}` : secret.text
        const values = { list: [text], named: { text }, deep: { line: JSON.stringify({ text }) } }
        const value = new Map<string, unknown>(Object.entries(values)).get(where) ?? text
        const line = JSON.stringify({ type: 'user', beside, value, count: 17 })
        const written = where === 'escaped' ? line.replaceAll('_', '\\u005f') : line
        const masked = mask(`${written}\n`)
        expect(masked.endsWith('\n')).toBe(true)
        expect(shapeOf(parseJson(masked))).toEqual(shapeOf(parseJson(written)))
        const leaves = leavesOf(parseJson(masked)).join('\u0001')
        const read = where === 'deep' ? leaves.replaceAll('\\n', '\n') : leaves
        if (secret.sort === 'issued') expect(canBeRead(secret, raw ?? form, read)).toBe(false)
      }),
      runs(300),
    )
  })

  test('[TEA40] is told by the names in it too, and a number stays a number', () => {
    const masked = mask(
      '{"password":"hunter2-Tr0ub4dor","pin":4,"api_key":"0123456789abcdef0123456789abcdef"}\n',
    )
    expect(masked).toMatch(/^\{"password":"\[redacted\]","pin":4,"api_key":"\[redacted:[a-z-]+\]"\} +\n$/)
    expect(parseJson(mask('{"password": 1234567890123456}'))).toEqual({ password: expect.any(Number) })
  })

  test('[TEA40] what is certain in one text of it is masked in all of them', () => {
    const [{ secret } = { secret: '' }] = planted.filter(({ kind }) => kind === 'github-classic')
    const masked = mask(JSON.stringify({ a: `token ${secret} `, b: `x${secret}y${'-'.repeat(600)}` }))
    expect(masked).not.toContain(secret)
  })

  test('[TEA40] that is no JSON, or no text at all, is masked where it stands', () => {
    fc.assert(
      fc.property(fc.constantFrom(...planted), fc.uint8Array({ maxLength: 30 }), (secret, bytes) => {
        const line = Buffer.concat([
          Buffer.from(`{"torn": ${secret.text}`),
          Buffer.from(bytes),
          Buffer.from('\n'),
        ])
        const masked = maskLine(line)
        expect(masked.length).toBe(line.length)
        expect(masked.at(-1)).toBe(10)
        if (secret.sort === 'issued')
          expect(canBeRead(secret, raw ?? form, masked.toString('latin1'))).toBe(false)
      }),
      runs(150),
    )
  })

  test.each(
    [
      '-----BEGIN PRIVATE KEY-----\n',
      'api_key="0a1b2c3d4e5f"\n',
      '://a:b1c2d3e4@h "',
      'AAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----\n',
      '\u001b[1mpassword\u001b[m=Tr0ub4dor ',
      '\u00e9\u{1f511} password=Tr0ub4dor ',
    ].map((piece) => [JSON.stringify(piece), piece]),
  )('[RED17] 200 kB of %s is masked in steps in proportion to its length', (_, piece) => {
    // It throws when placing the masks takes more: 64 steps for each byte.
    const text = piece.repeat(200_000 / piece.length)
    for (const line of [JSON.stringify({ text }), JSON.stringify(text.split('\n')), text])
      expect(/\[redacted|\*{8}/.test(mask(`${line}\n`))).toBe(true)
  })

  test('[TEA40] without secrets comes out as it went in, byte for byte', () => {
    const root = join(import.meta.dirname, '../../test/fixtures')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.jsonl'),
    )
    let changed = 0
    let lines = 0
    for (const name of files.slice(0, 40)) {
      const bytes = readFileSync(join(root, name))
      for (let from = 0; from < bytes.length;) {
        const end = bytes.indexOf(10, from) + 1 || bytes.length
        const line = bytes.subarray(from, end)
        lines++
        if (!maskLine(line).equals(line)) changed++
        from = end
      }
    }
    expect(lines).toBeGreaterThan(500)
    expect(changed).toBeLessThan(lines * 0.01)
  })
})
