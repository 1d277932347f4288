// oxlint-disable no-control-regex, no-misleading-character-class -- these tests look for control characters
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject } from '#base'
import type { PermissionAsk } from '#model'
import { HIDING_COMMANDS, readExact, runs } from '#testing'
import { textsOfAsk, toAskParts, type AskPart } from './ask-parts.ts'
import { exactLine, exactText, splitExact, warnOfHidden } from './exact-text.ts'
import { safeLine, safeText } from './safe-text.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '\u001b[',
          '\u001b]8;',
          '\u0007',
          '\r',
          '\n',
          '\t',
          '\u202e',
          '\u200b',
          '\ufe0f',
          '\ud800',
        ),
        fc.constantFrom('<U+001B>', '<U+', '<', 'U+0041>', '<U+003C>', '\u0301', 'а', 'p', '∕', ' ', 'א'),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => pieces.join('')),
)

describe('[REND40] text that a person decides on', () => {
  test('holds every code point of what will be used, and none that is invisible', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readExact(exactText(text))).toBe(text)
        expect(readExact(exactLine(text))).toBe(text)
        expect(exactLine(text)).not.toMatch(/[\n\t]/)
        expect(exactText(text)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufe00-\ufe0f\ufeff]|\p{Cs}/u,
        )
        expect(
          splitExact(text)
            .map((part) => part.text)
            .join(''),
        ).toBe(exactText(text))
        // Behind it, making text safe changes nothing.
        expect(safeText(exactText(text))).toBe(exactText(text))
      }),
      runs(1000),
    )
  })

  test.each(HIDING_COMMANDS)('can be read back from what is shown of %j', (command) => {
    expect(readExact(exactText(command))).toBe(command)
    if (/pwned/.test(command)) expect(exactText(command)).toContain('pwned')
  })

  test.each([
    ['ls -la \u001b]8; touch pwned #\u0007', 'ls -la <U+001B>]8; touch pwned #<U+0007>'],
    ['cat notes.txt \u001b[|sh', 'cat notes.txt <U+001B>[|sh'],
    ['a\u202eb\u200bc\u00a0d', 'a<U+202E>b<U+200B>c<U+00A0>d'],
    ['true \rrm -rf ~', 'true <U+000D>rm -rf ~'],
    ['echo \u{e0041}\u3164\u2800', 'echo <U+E0041><U+3164><U+2800>'],
    ['curl https://p\u0430ypal.com', 'curl https://p<U+0430>ypal.com'],
    ['https://github.com\u2215a.evil.test', 'https://github.com<U+2215>a.evil.test'],
    ['echo <U+001B>', 'echo <U+003C>U+001B>'],
    ['git commit -m "привет, 世界, é, שלום"', 'git commit -m "привет, 世界, é, שלום"'],
    ['x\u0301\u0302\u0303\u0304', 'x\u0301\u0302\u0303<U+0304>'],
    ['-\u0336rf', '-<U+0336>rf'],
    ['a\n\tb', 'a\n\tb'],
  ])('shows %j as %s', (text, shown) => {
    expect(exactText(text)).toBe(shown)
  })

  test('comes with a warning that names what is hidden, and without one when nothing is', () => {
    expect(warnOfHidden(['npm test', 'привет'])).toBeUndefined()
    expect(warnOfHidden(['a\u001bb', 'c\u001b\u200b'])).toBe(
      'Contains 3 characters that are invisible or look like others, shown by their code points: U+001B (escape) ×2, U+200B (zero-width space).',
    )
    expect(warnOfHidden(['a\rb'])).toContain(
      'Contains 1 character that is invisible or looks like another one',
    )
    expect(warnOfHidden(['rm א/1'])).toBe('Right-to-left letters may be displayed in another order.')
  })
})

function toAsk(tool: string, input: unknown): PermissionAsk {
  return { kind: 'permission', tool, input, workdir: '/w', rules: [], canEdit: false }
}

/** What a person who reads the parts knows of the input. */
function readParts(parts: readonly AskPart[]): unknown {
  const found: Record<string, unknown> = {}
  const edits: Record<string, unknown>[] = []
  for (const part of parts) {
    const at = edits.at(-1)
    if (part.kind === 'value') return JSON.parse(part.text)
    if (part.kind === 'command') found['command'] = part.text
    if (part.kind === 'plan') found['plan'] = part.text
    if (part.kind === 'path') found['file_path'] = part.text
    if (part.kind === 'diff') edits.push({ ...toSides(part.lines) })
    if (part.kind === 'no-newline' && at !== undefined) at['isOpen'] = true
    if (part.kind === 'field') found[part.name] = part.text
  }
  return { found, edits }
}

function toSides(lines: Extract<AskPart, { kind: 'diff' }>['lines']): { before: string; after: string } {
  const side = (kind: string): string =>
    lines
      .filter((line) => line.kind === 'same' || line.kind === kind)
      .map(({ text }) => text)
      .join('\n')
  return { before: side('removed'), after: side('added') }
}

describe('[REND41] what is asked for', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\u001b', ' '), maxLength: 12 })

  test('is whole: command, change, content and every other field can be read back from its parts', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.boolean(),
        fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()),
        (a, b, all, rest) => {
          const others = Object.fromEntries(
            Object.entries(rest).filter(
              ([key]) =>
                !/^(?:command|file_path|old_string|new_string|content|edits|plan|__proto__)$/.test(key),
            ),
          )
          const plain = Object.fromEntries(
            Object.entries(others).map(([key, value]) => [
              key,
              typeof value === 'string' ? value : JSON.stringify(value, undefined, 2),
            ]),
          )
          expect(readParts(toAskParts(toAsk('Bash', { command: a, ...others })))).toEqual({
            found: { command: a, ...plain },
            edits: [],
          })
          expect(
            readParts(toAskParts(toAsk('Edit', { file_path: 'f', old_string: a, new_string: b, ...others }))),
          ).toEqual({ found: { file_path: 'f', ...plain }, edits: [{ before: a, after: b }] })
          expect(
            readParts(
              toAskParts(
                toAsk('MultiEdit', {
                  file_path: 'f',
                  edits: [{ old_string: a, new_string: b, replace_all: all }],
                  ...others,
                }),
              ),
            ),
          ).toMatchObject({
            found: { file_path: 'f', replace_all: String(all) },
            edits: [{ before: a, after: b }],
          })
          const written = readParts(toAskParts(toAsk('Write', { file_path: 'f', content: a, ...others })))
          const end = a === '' || !a.endsWith('\n') ? a : a.slice(0, -1)
          expect(written).toEqual({
            found: { file_path: 'f', ...plain },
            edits: [{ before: '', after: end, ...(/[^\n]$/.test(a) ? { isOpen: true } : {}) }],
          })
        },
      ),
    )
  })

  test('is shown as fields when it is not of the usual form, so that nothing hides behind a name', () => {
    for (const [tool, input] of [
      ['Bash', { command: ['rm', '-rf'] }],
      ['Edit', { file_path: 7, old_string: 'a', new_string: 'b' }],
      ['MultiEdit', { file_path: 'f', edits: [{ old_string: 'a' }] }],
      ['Write', { file_path: 'f', content: { raw: 'x' } }],
      ['Read', { file_path: '/etc/passwd', limit: 3 }],
      ['mcp__a__b', 'text'],
    ] as const) {
      const shown = JSON.stringify(toAskParts(toAsk(tool, input)))
      const leaves = isObject(input) ? JSON.stringify(Object.values(input)).match(/[\w/-]+/g) : ['text']
      for (const leaf of leaves ?? []) expect([tool, leaf, shown.includes(leaf)]).toEqual([tool, leaf, true])
    }
  })

  test('is warned of wherever something is hidden: tool, folder, reason, rule, field name, question', () => {
    const hidden = 'x\u001b[8mx'
    const rule = { id: 'r', scope: 'always', words: hidden, value: null } as const
    const asks = [
      toAsk(hidden, {}),
      { ...toAsk('A', {}), workdir: hidden },
      { ...toAsk('A', {}), reason: hidden },
      { ...toAsk('A', {}), rules: [rule] },
      toAsk('A', { [hidden]: 1 }),
      toAsk('Edit', { file_path: 'f', old_string: 'a', new_string: hidden }),
    ]
    for (const ask of asks) expect(warnOfHidden(textsOfAsk(ask))).toContain('U+001B')
    const question = { question: 'q', options: [{ label: hidden }], multiple: false, free: false }
    expect(warnOfHidden(textsOfAsk({ kind: 'question', workdir: '/', questions: [question] }))).toContain(
      'U+001B',
    )
  })
})

test('[REND40] what is only read drops a sequence with its text; what is decided on keeps it', () => {
  const command = 'ls -la \u001b]8; touch pwned #\u0007'
  expect(safeLine(command)).toBe('ls -la')
  expect(exactLine(command)).toContain('touch pwned')
})
