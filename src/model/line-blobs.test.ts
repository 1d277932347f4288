import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isObject, parseJson, string } from '#base'
import { runs } from '#testing'
import { blobsOf, putBlobsBack, takeBlobsOut } from './line-blobs.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Any text, lone halves of characters included, and a few that are longer than the limit of these tests. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', 'blobs', '[70 bytes in blobs/0]'),
)
const tree = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(text, fc.constantFrom('text', 'content', '__proto__')), tie('value'), {
    maxKeys: 4,
  }),
}))
const line = fc
  .record({ type: text, message: tree.object, toolUseResult: tree.value, extra: tree.value })
  .map((value) => {
    const plain = parseJson(JSON.stringify(value))
    return isObject(plain) ? plain : {}
  })

test('[E7.1] [REC19] what was taken out of any line is put back as it was', () => {
  fc.assert(
    fc.property(
      line,
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom('texts', 'wholes'),
      (made, limit, grain) => {
        const { line: left, texts } = takeBlobsOut(made, {
          limit,
          hash,
          grain: grain === 'texts' ? 'texts' : 'wholes',
        })
        for (const [sha256, blob] of texts) {
          // What is written in UTF-8 and read again is the same text.
          expect(Buffer.from(blob).toString()).toBe(blob)
          expect(hash(blob)).toBe(sha256)
        }
        const stored = parseJson(JSON.stringify(left))
        const back = putBlobsBack(isObject(stored) ? stored : {}, ({ sha256 }) => texts.get(sha256))
        expect(back.missing).toEqual([])
        expect(JSON.stringify(back.line)).toBe(JSON.stringify(made))
      },
    ),
    runs(300),
  )
})

test('[REC19] words that look like a reference are words, and only what a line says was taken is put back', () => {
  const long = 'x'.repeat(20_000)
  const { line: left } = takeBlobsOut(
    { type: 'user', message: { role: 'user', content: long } },
    { limit: 10_240, hash },
  )
  const [reference] = blobsOf(left)
  const words = string(left['message'], 'content')
  const quoting = { type: 'user', message: { role: 'user', content: words } }
  expect(putBlobsBack(quoting, () => long)).toEqual({ line: quoting, missing: [] })
  const elsewhere = { ...left, blobs: [{ ...reference, path: ['type'] }] }
  expect(putBlobsBack(elsewhere, () => long).line).toMatchObject({ type: 'user' })
})

test('[REC19] text of 10 KB stays, one byte more does not, in whatever letters', () => {
  for (const [content, isTaken] of [
    ['x'.repeat(10_240), false],
    ['x'.repeat(10_241), true],
    ['ä'.repeat(5_120), false],
    ['😀'.repeat(2_561), true],
  ] as const) {
    const { texts } = takeBlobsOut(
      { message: { content: [{ type: 'text', text: content }] } },
      { limit: 10_240, hash },
    )
    expect([content.slice(0, 2), texts.size]).toEqual([content.slice(0, 2), isTaken ? 1 : 0])
  }
})

test('[REC21] what is missing is told, and the line still refers to it', () => {
  const made = { message: { content: ['a'.repeat(100), 'b'.repeat(100)] } }
  const { line: left, texts } = takeBlobsOut(made, { limit: 50, hash })
  const b = hash('b'.repeat(100))
  const back = putBlobsBack(left, ({ sha256 }) => (sha256 === b ? undefined : texts.get(sha256)))
  expect(back.missing.map(({ sha256 }) => sha256)).toEqual([b])
  expect(putBlobsBack(back.line, ({ sha256 }) => texts.get(sha256)).line).toEqual(made)
})
