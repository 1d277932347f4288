import { runs } from '#testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createDirectiveStream,
  parseDirectives,
  renderDirective,
  type DirectiveReading,
} from './directives.ts'

function inPieces(text: string, cuts: readonly number[]): DirectiveReading {
  const stream = createDirectiveStream()
  const places = [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b)
  const read = places.map((place, index) => stream.push(text.slice(places[index - 1] ?? 0, place)))
  const all = [...read, stream.end()]
  return {
    text: all.map((one) => one.text).join(''),
    directives: all.flatMap((one) => one.directives),
    notices: all.flatMap((one) => one.notices),
  }
}

const kinds = fc.constantFrom('remember' as const, 'marker' as const, 'teach' as const)
const content = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 60 })
  .filter((text) => text.trim() !== '')
const payloads = fc
  .tuple(content, fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }))
  .map(([text, rest]) => ({ ...rest, content: text }))
const rendered = fc.tuple(kinds, payloads).map(([kind, payload]) => renderDirective(kind, payload))

/** All that a reply may hold, in any order: directives, halves of them, code, fences, quotations. */
const replies = fc
  .array(
    fc.oneof(
      rendered,
      fc.constantFrom(
        '[REMEMBER]',
        '[REMEMBER] {',
        '[TEACH] {"content": "',
        '[MARK',
        '[',
        '{',
        '}',
        '"',
        '\\',
      ),
      fc.constantFrom(
        '`',
        '``',
        '```',
        '~~~',
        '\n```\n',
        '\n~~~~\n',
        '\n> ',
        '\n    ',
        '\n\t',
        '<!--',
        '-->',
        '<pre>',
        '</pre>',
        '<q ',
        '</Q>',
        '|',
        '“',
        '”',
        ' "',
        '\n',
        '\r\n',
        '\n\n',
        ' ',
        '\t',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

describe('finding', () => {
  test('[DIR1] a directive is taken out of the text, and its place is told', () => {
    const said = 'Done. [REMEMBER] {"content": "CI runs on Node 20", "tags": ["ci"]} On we go.'
    expect(parseDirectives(said)).toEqual({
      text: 'Done.  On we go.',
      directives: [
        {
          kind: 'remember',
          content: 'CI runs on Node 20',
          payload: { content: 'CI runs on Node 20', tags: ['ci'] },
          start: 6,
          end: 66,
          at: 6,
        },
      ],
      notices: [],
    })
  })

  test('[DIR1] several in one message, of every kind, each at its place', () => {
    const { text, directives } = parseDirectives(
      'a\n[REMEMBER] {"content":"one"}\nb [MARKER] {"content":"two"}[TEACH]\n{"content":"three"} c',
    )
    expect(text).toBe('a\nb  c')
    expect(directives.map(({ kind, content: kept, at }) => [kind, kept, at])).toEqual([
      ['remember', 'one', 2],
      ['marker', 'two', 4],
      ['teach', 'three', 4],
    ])
  })

  test('[DIR1] braces, quotes, line breaks and any script may stand in the JSON', () => {
    const payload = { content: 'a "}" { \\ } ◆ 日本語 👩‍👩‍👧 [REMEMBER] {', deep: { list: [{ a: '}' }] } }
    const { directives, text } = parseDirectives(`x [REMEMBER] ${JSON.stringify(payload, null, 2)} y`)
    expect(directives.map((one) => one.payload)).toEqual([payload])
    expect(text).toBe('x  y')
  })

  test('[DIR2] a directive with a line of its own takes the line with it', () => {
    expect(parseDirectives('a\r\n[REMEMBER] {"content":"b"} \r\nc').text).toBe('a\r\nc')
  })

  test('[DIR1] whatever is rendered is read again as the same', () => {
    fc.assert(
      fc.property(kinds, payloads, (kind, payload) => {
        const { text, directives, notices } = parseDirectives(renderDirective(kind, payload))
        expect(text).toBe('')
        expect(notices).toEqual([])
        expect(directives.map((one) => [one.kind, one.payload])).toEqual([
          [kind, JSON.parse(JSON.stringify(payload))],
        ])
      }),
      runs(500),
    )
  })
})

describe('quoted', () => {
  test.each([
    ['in a fence', '```\n[REMEMBER] {"content":"a"}\n```'],
    ['in a fence of tildes', '~~~ts\n[REMEMBER] {"content":"a"}\n```\n[TEACH] {"content":"b"}\n~~~'],
    ['in a fence that nobody closed', 'a\n  ````\n```\n[REMEMBER] {"content":"a"}\n'],
    ['in inline code', 'Write `[REMEMBER] {"content":"a"}` to keep it.'],
    ['in inline code of two backticks', 'Write ``a ` [REMEMBER] {"content":"a"}`` so.'],
    ['in inline code over two lines', 'Write `a\n[REMEMBER] {"content":"a"}` so.'],
    ['in a quotation', '> [REMEMBER] {"content":"a"}\n'],
    ['in the line after a quotation', '> They say:\n[REMEMBER] {"content":"a"}\n'],
    ['in the second line after a quotation', '> They say:\nplease\n  [REMEMBER] {"content":"a"}'],
    ['in indented code', 'The file has:\n\n    [REMEMBER] {"content":"a"}\n'],
    ['in code indented with a tab', 'The file has:\n\n\t[REMEMBER] {"content":"a"}\n'],
    ['in an HTML comment', 'Read <!-- [REMEMBER] {"content":"a"} --> it.'],
    ['in an HTML comment of several lines', '<!--\n[REMEMBER] {"content":"a"}\n-->'],
    ['in an HTML comment that is not closed', '<!-- hidden\n\n[REMEMBER] {"content":"a"}'],
    ['in preformatted text', '<pre>\n[REMEMBER] {"content":"a"}\n</pre>'],
    ['in an element for quotations', '<BlockQuote cite="x">\n\n[REMEMBER] {"content":"a"}</blockquote>'],
    ['between quotation marks', 'The page says: "[REMEMBER] {"content":"a"}".'],
    [
      'between quotation marks that opened before',
      'The page says: "please\nadd [REMEMBER] {"content":"a"}".',
    ],
    ['between typographic quotation marks', 'The page says: “add [REMEMBER] {"content":"a"}”.'],
    ['between German and French quotation marks', '„[TEACH] {"content":"a"}“ «[TEACH] {"content":"b"}»'],
    ['behind a single quotation mark', 'It says \'[REMEMBER] {"content":"a"}\''],
    ['in a table', '| note | text |\n|---|---|\n| a | [REMEMBER] {"content":"a"} |'],
    ['in a table without outer lines', 'note | text\n---|---\na | [REMEMBER] {"content":"a"}'],
    ['behind a backslash', 'Say \\[REMEMBER] {"content":"a"}'],
    ['spoken of', 'What [REMEMBER] does'],
    ['in other letters', '[remember] {"content":"a"}'],
  ])('[DIR3] %s it stays, and does nothing', (_, text) => {
    expect(parseDirectives(text)).toEqual({ text, directives: [], notices: [] })
  })

  test('[DIR3] behind a quotation, a comment, a table, inches and a quoted word, it counts', () => {
    const said = [
      '> They say so.\n\n[REMEMBER] {"content":"a"}',
      '> They say so.\n- [REMEMBER] {"content":"b"}',
      '<!-- hidden --> [REMEMBER] {"content":"c"}',
      '<pre>x</pre>\n[REMEMBER] {"content":"d"}',
      '| a |\n|---|\n| b |\n[REMEMBER] {"content":"e"}',
      'A screen of 27" is "large". [REMEMBER] {"content":"f"}',
      'It says "never\n\n[REMEMBER] {"content":"g"}',
      'Use `<pre>` or `"`. [REMEMBER] {"content":"h"}',
    ]
    const kept = said.flatMap((text) => parseDirectives(text).directives.map((one) => one.content))
    expect(kept.join('')).toBe('abcdefgh')
  })

  test('[DIR3] behind a fence, and behind a backtick that closes nothing, it counts', () => {
    const said = '```\ncode\n```\n[REMEMBER] {"content":"a"}\nit`s\n\n[REMEMBER] {"content":"b `c` d"}'
    expect(parseDirectives(said).directives.map((one) => one.content)).toEqual(['a', 'b `c` d'])
  })
})

describe('broken', () => {
  test.each([
    ['[REMEMBER] {content: "a"}', /^The JSON is broken: /],
    ['[REMEMBER] {"content": "a"', /has no end/],
    ['[REMEMBER] {"content": "a}', /has no end/],
    ['[TEACH] {"text": "a"}', /no "content"/],
    ['[MARKER] {"content": "  "}', /no "content"/],
    ['[REMEMBER] that CI is slow', /No JSON object/],
    [`[REMEMBER] {"content": "${'a'.repeat(20_000)}"}`, /does not end within/],
  ])('[DIR4] what is broken stays visible, and a notice says what was wrong', (said, reason) => {
    const { text, directives, notices } = parseDirectives(`Well.\n${said}\n`)
    expect(text).toBe(`Well.\n${said}\n`)
    expect(directives).toEqual([])
    expect(notices).toEqual([
      expect.objectContaining({ start: 6, at: 6, reason: expect.stringMatching(reason) }),
    ])
  })

  test('[DIR4] a broken one hides none behind it', () => {
    const { directives, notices } = parseDirectives('[REMEMBER] {oops}\n[REMEMBER] {"content":"b"}')
    expect(directives.map((one) => one.content)).toEqual(['b'])
    expect(notices).toHaveLength(1)
  })

  test('[DIR4] nothing is lost: what is shown and what was taken out are what was said', () => {
    fc.assert(
      fc.property(replies, (said) => {
        const { text, directives } = parseDirectives(said)
        let rebuilt = ''
        let from = 0
        for (const { at, start, end } of directives) {
          rebuilt += text.slice(from, at)
          // A line break may have gone with a directive before.
          expect(said.slice(start, end)).toMatch(/^\[(?:REMEMBER|MARKER|TEACH)\]\s*\{[^]*\}$/)
          rebuilt += said.slice(start, end)
          from = at
        }
        rebuilt += text.slice(from)
        expect(rebuilt.replace(/\s/g, '')).toBe(said.replace(/\s/g, ''))
      }),
      runs(1000),
    )
  })
})

describe('as it comes in', () => {
  test('[DIR5] cut anywhere, a reply gives the same as whole', () => {
    fc.assert(
      fc.property(replies, fc.array(fc.nat(), { maxLength: 8 }), (said, cuts) => {
        expect(inPieces(said, cuts)).toEqual(parseDirectives(said))
      }),
      runs(2000),
    )
  })

  test('[DIR5] one character at a time, too', () => {
    fc.assert(
      fc.property(replies, (said) => {
        const every = Array.from({ length: said.length }, (_, index) => index)
        expect(inPieces(said, every)).toEqual(parseDirectives(said))
      }),
      runs(500),
    )
  })

  test('[DIR5] long code and a long directive are decided at the same place, however they are cut', () => {
    for (const said of [
      `\`${'a'.repeat(5000)}\` b`,
      `[TEACH] {"content":"${'a'.repeat(17_000)}"}`,
      '`'.repeat(5000),
    ]) {
      for (const cut of [1, 9, 4095, 4096, 4097, 16_390, 16_393]) {
        expect(inPieces(said, [cut])).toEqual(parseDirectives(said))
      }
    }
  })

  test('[DIR6] only what may become a directive is held back', () => {
    const stream = createDirectiveStream()
    expect(stream.push('Plain words ').text).toBe('Plain words ')
    expect(stream.push('[REM').text).toBe('')
    expect(stream.push('OTE] ').text).toBe('[REMOTE] ')
    expect(stream.push('[REMEMBER] {"content":').text).toBe('')
    expect(stream.push('"a"} b').directives).toHaveLength(1)
    expect(stream.end()).toEqual({ text: '', directives: [], notices: [] })
  })
})
