import { deflateSync, gzipSync } from 'node:zlib'
import type { Block } from '#model'
import { plantSecrets, runs } from '#testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactBlocks } from './blocks.ts'
import { getEgress, guardEgress } from './egress.ts'
import { findSecrets } from './find-secrets.ts'
import { redact } from './redact.ts'

const planted = plantSecrets(5, 76)
const issued = planted.filter(({ sort }) => sort === 'issued')
const token = issued.find(({ kind }) => kind === 'github-classic')?.secret ?? ''
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** Texts in which secrets, their beginnings and whatever surrounds them come in any order. */
const fragments = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...planted.flatMap(({ text, secret }) => [text, secret, secret.slice(0, 12), encoded(text)]),
    ),
    fc.constantFrom(
      'password=',
      'token: "',
      '"',
      '\\n',
      '\\',
      '\n',
      '%2',
      '%41',
      '://u:',
      '@h',
      '-----BEGIN ',
      ' ',
    ),
    fc.string({ unit: 'binary', maxLength: 30 }),
  ),
  { maxLength: 12 },
)

describe('masking', () => {
  test('[RED2] a mask names the kind, and everything around it stays', () => {
    expect(redact(`Use ${token} for it.`)).toEqual({
      text: 'Use [redacted:github-token] for it.',
      found: [{ kind: 'github-token', start: 4, end: 4 + token.length, confidence: 'certain' }],
    })
    expect(redact('postgres://app:s3cretPw@db:5432/x').text).toBe(
      'postgres://app:[redacted:url-password]@db:5432/x',
    )
    expect(redact('export DB_PASSWORD=correct-horse\nPORT=1').text).toBe(
      'export DB_PASSWORD=[redacted:password]\nPORT=1',
    )
  })

  test('[RED2] secrets are told in order, none overlaps another, and every other character stays', () => {
    fc.assert(
      fc.property(fragments, (parts) => {
        const text = parts.join('')
        const { text: out, found } = redact(text)
        let rest = out
        let from = 0
        for (const { kind, start, end } of found) {
          expect(start).toBeGreaterThanOrEqual(from)
          expect(end).toBeGreaterThan(start)
          const kept = `${text.slice(from, start)}[redacted:${kind}]`
          expect(rest.startsWith(kept)).toBe(true)
          rest = rest.slice(kept.length)
          from = end
        }
        expect(rest).toBe(text.slice(from))
      }),
      runs(300),
    )
  })

  test('[RED2] what was redacted is not redacted again', () => {
    for (const { text } of planted) {
      const once = redact(text).text
      expect(redact(once)).toEqual({ text: once, found: [] })
    }
  })

  test('[RED3] a token without its neighbours is found wherever it stands', () => {
    fc.assert(
      fc.property(fragments, fc.constantFrom(...issued), (parts, { secret }) => {
        const { text } = redact(`${parts.join('')} ${secret} `)
        expect(text).not.toContain(secret.slice(-24))
      }),
      runs(300),
    )
  })

  test('[RED3] what is a secret in one place is one in every other, also glued to a word', () => {
    expect(redact(`id7682${token}, that is ${token}.`).text).not.toContain(token.slice(-24))
  })

  test('[RED1] whoever asks only for what is certain gets only that', () => {
    const found = findSecrets(`password: "hunter22!" and ${token}`, { least: 'certain' })
    expect(found.map(({ kind }) => kind)).toEqual(['github-token'])
  })
})

describe('what hides a token from whoever does not look closely', () => {
  const ESC = '\u001b'
  const [head, tail] = [token.slice(0, 2), token.slice(2)]
  const mask = '[redacted:github-token]'

  test.each([
    [
      'the colours of grep',
      `${ESC}[01;31m${ESC}[K${head}${ESC}[m${ESC}[K${tail} x`,
      `${ESC}[01;31m${ESC}[K${mask} x`,
    ],
    [
      'a link',
      `${head}${ESC}]8;;https://a.test/${ESC}\\${tail}${ESC}]8;;${ESC}\\`,
      `${mask}${ESC}]8;;${ESC}\\`,
    ],
    ['an escape character that is spelled out', `a ${head}\\033[1m${tail}`, `a ${mask}`],
    ['one that was escaped', JSON.stringify({ a: `${head}${ESC}[1m${tail}` }), JSON.stringify({ a: mask })],
    ['a carriage return', `${head}\r${tail} x`, `${mask} x`],
    ['a backspace', `${head}x\b${tail} x`, `${mask} x`],
    ['a zero-width space', `${head}\u200b${tail} x`, `${mask} x`],
    ['characters that are tags', `${head}\u{e0061}${tail} x`, `${mask} x`],
  ])('[RED18] %s', (_, text, masked) => {
    expect(redact(text).text).toBe(masked)
  })

  test.each([
    ['spaces', `Use ${Array.from(token).join(' ')} for it.`, `Use ${mask} for it.`],
    ['dashes', `Use ${Array.from(token).join('-')}.`, `Use ${mask}.`],
    ['a sum', `const a = "${head}" + '${tail}' + "word"`, `const a = "${mask}' + "word"`],
    ['a list that is joined', `['${head}', '${tail}', 'word'].join('')`, `['${mask}', 'word'].join('')`],
    ['empty quotes', `echo ${head}""${tail}`, `echo ${mask}`],
    ['hex', `x ${Buffer.from(`id ${token}`).toString('hex')} y`, `x 696420${mask} y`],
    ['a list of bytes', JSON.stringify(Buffer.from(token)), `{"type":"Buffer","data":[${mask}]}`],
    ['gzip', `x ${gzipSync(`id ${token}`).toString('base64')} y`, `x ${mask} y`],
    ['zlib in hex', `x ${deflateSync(`id ${token}`).toString('hex')} y`, `x ${mask} y`],
  ])('[RED19] %s', (_, text, masked) => {
    expect(redact(text).text).toBe(masked)
  })

  test.each([
    [
      'xxd',
      (offset: string, hex: string, shown: string) =>
        `${offset}: ${hex.replace(/(..)(..)?/g, '$1$2 ').padEnd(41)}${shown}`,
    ],
    [
      'hexdump -C',
      (offset: string, hex: string, shown: string) =>
        `${offset}  ${hex.replace(/../g, '$& ').padEnd(50)} |${shown}|`,
    ],
  ])('[RED19] a dump of %s, with what stands at its right', (_, write) => {
    const text = `name=value\nTOKEN=${token}\nport=80\n`
    const pieces = text.match(/[^]{1,16}/g) ?? []
    const dump = pieces.map((piece, nth) =>
      write(
        (nth * 16).toString(16).padStart(8, '0'),
        Buffer.from(piece).toString('hex'),
        piece.replaceAll('\n', '.'),
      ),
    )
    const { text: out } = redact(`$ dump .env\n${dump.join('\n')}\nok`)
    expect(out).toMatch(/^\$ dump \.env\n00000000[^]*\[redacted:github-token\]\n[^]*ok$/)
    for (let at = 4; at + 6 <= token.length; at += 1) {
      expect(out).not.toContain(token.slice(at, at + 6))
      expect(out.replaceAll(' ', '')).not.toContain(Buffer.from(token.slice(at, at + 6)).toString('hex'))
    }
  })

  test('[RED19] what would be too long when it is unpacked is masked, however little it is', () => {
    const bomb = gzipSync('0'.repeat(3_000_000)).toString('base64')
    expect(redact(`x ${bomb} ${gzipSync('a word').toString('base64')}`).text).toBe(
      'x [redacted:packed]= [redacted:packed]=',
    )
    const harmless = `x ${gzipSync('a word').toString('base64')}`
    expect(redact(harmless).text).toBe(harmless)
  })
})

describe('what is no secret', () => {
  test.each([
    'const token: string = await getToken(session)',
    '"usage": {"input_tokens": 15234, "cache_read_input_tokens": 88123}',
    'password = process.env.DB_PASSWORD',
    'Set ANTHROPIC_API_KEY=<your key> or sk-ant-your-key-goes-right-here.',
    'api_key: ${{ secrets.NPM_TOKEN }}',
    'postgres://user:password@localhost/db',
    'integrity sha512-Qm9XkZl3cC5V0b1Yx8yHn2d4e6f8g0h2i4j6k8l0m2n4o6p8q0r2s4t6u8v0w2x4y6z8A0==',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'The token 3f2504e0-4f89-41d3-9a0c-0305e82c3301 is an id in toolu_01A09q90qw90lq917835lq9',
    'secretKeyRef: name',
    '\u001b[32m✓\u001b[39m src/a.test.ts \u001b[2m(3 tests)\u001b[22m \u001b[33m12\u001b[2mms\u001b[22m',
    `x = ["token", "name", "value"].join(', ')`,
    '-----\n- - - - - - - - - - - - - - - - - -\n',
    '00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14',
    'tokens per second: 1234.5',
  ])('[RED4] %s', (text) => {
    expect(redact(text).text).toBe(text)
  })
})

describe('time', () => {
  const MEGABYTE = 1_000_000
  const fill = (piece: string): string => piece.repeat(Math.ceil(MEGABYTE / piece.length))

  test.each(
    [
      'a',
      'A9',
      ' ',
      '\n',
      ' \n',
      '" +\n"',
      '\\',
      '\\\\n',
      '%25',
      'eyJ',
      'eyJa.eyJ',
      '.',
      'sk-ant-',
      'AKIA',
      'password=',
      'token: "',
      '://a:b',
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n',
      'Bearer ',
      ':AA',
      'LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t',
      '\u001b[31m',
      '\u001b]',
      '\u009d',
      'a\b',
      '\\u001b[31mA',
      'a ',
      '67 ',
      '103,',
      '""',
      '" + "',
      '["a","b"].join("")',
      'H4sIAAAAAAAAA',
      '00000000: 6768 705f  gh\n',
      'Cookie: a=b; ',
      'Cookie: session=',
      'curl -u a:b ',
      'mysql ',
      'machine a login b ',
      'otpauth://a?',
      ':5432:',
      'a:5432:b:c:d ',
      '\tTRUE\t/\tTRUE\t1\ta',
      'password is ',
      'MIIEpAIBAAKCAQEA',
      'AAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----\n',
      'AAAAAAAAAAAAAAAAAAAA -----END PRIVATE KEY-----',
      'ghp_…',
    ].map((piece) => [JSON.stringify(piece), piece]),
  )('[RED5] a megabyte of %s takes steps in proportion to its length', (_, piece) => {
    // It throws when it takes more: 400 steps for each character.
    const started = performance.now()
    findSecrets(fill(piece))
    expect(performance.now() - started).toBeLessThan(30_000)
  })
})

describe('four times a text', () => {
  const cpuOf = (text: string): number => {
    const before = process.cpuUsage()
    findSecrets(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }

  test.each(
    [
      '67 -----END PRIVATE KEY-----',
      'AAAAAAAAAAAAAAAAAAAA -----END PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\n',
      '\u001b]8;;a',
      '\u001b[31ma',
      '\u009d',
      'Cookie: a=b; ',
      'mysql -u a ',
      'machine a login b ',
      '"a" + ',
      'a b',
    ].map((piece) => [JSON.stringify(piece), piece]),
  )('[RED5] of %s takes about four times as long, and not sixteen times', (_, piece) => {
    const short = piece.repeat(200_000 / piece.length)
    cpuOf(short)
    expect(cpuOf(short.repeat(4))).toBeLessThan(9 * Math.max(60, cpuOf(short)))
  })
})

describe('the way out', () => {
  test('[RED6] a redactor that throws lets nothing out, and does not quote what it was given', () => {
    const egress = guardEgress(() => {
      throw new TypeError(`cannot read ${token}`)
    })
    expect(egress).toEqual({ state: 'refused', reason: 'the redactor failed' })
    expect(() => getEgress(egress)).toThrow(expect.objectContaining({ code: 'redaction-failed' }))
  })

  test('[RED6] one that runs out of steps lets nothing out', () => {
    expect(guardEgress(() => redact('word '.repeat(1000), { maxSteps: 1000 }))).toEqual({
      state: 'refused',
      reason: 'looking for secrets took more steps than it may',
    })
  })

  test('[RED6] one that gives back no text lets nothing out', () => {
    const broken = (): ReturnType<typeof redact> => JSON.parse('{}')
    expect(guardEgress(broken).state).toBe('refused')
  })

  test('[RED6] what is redacted goes out', () => {
    expect(getEgress(guardEgress(() => redact(`a ${token} b`)))).toBe('a [redacted:github-token] b')
  })
})

describe('blocks', () => {
  const blob = encoded(`${token} ${issued[0]?.secret ?? ''}`)

  test('[RED7] signatures, encrypted thinking, signed thinking and bytes stay as they are', () => {
    const sealed: readonly Block[] = [
      { kind: 'thinking', thinking: `I saw ${token}`, signature: blob },
      { kind: 'redacted-thinking', data: blob },
      { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: blob } },
      { kind: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: blob } },
      { kind: 'unknown', value: { type: 'thinking', thinking: token, signature: blob } },
      { kind: 'unknown', value: { type: 'reasoning', encrypted_content: blob } },
    ]
    const { blocks, found, sealed: kept } = redactBlocks(sealed)
    expect(blocks).toEqual(sealed)
    expect(found).toEqual([])
    expect(kept.map(({ kind }) => kind)).toEqual(['github-token'])
  })

  test('[RED7] whatever is signed or encrypted, not one byte of it changes', () => {
    fc.assert(
      fc.property(fragments, (parts) => {
        const data = encoded(parts.join(''))
        const blocks: readonly Block[] = [
          { kind: 'thinking', thinking: parts.join(''), signature: data },
          { kind: 'redacted-thinking', data },
          {
            kind: 'tool-use',
            id: 'a',
            name: 'b',
            input: { deep: [{ signature: data, encrypted_content: data }] },
          },
        ]
        expect(redactBlocks(blocks).blocks).toEqual(blocks)
      }),
      runs(100),
    )
  })

  test('[RED8] every text is redacted, in calls and results too, and a key tells what its value is', () => {
    const { blocks, found } = redactBlocks([
      { kind: 'text', text: token },
      { kind: 'thinking', thinking: token },
      {
        kind: 'tool-use',
        id: 't',
        name: 'Bash',
        input: { command: `x ${token}`, env: { password: 'tr0ub4dor&3' } },
      },
      { kind: 'tool-result', toolUseId: 't', isError: false, content: [{ kind: 'text', text: token }] },
      { kind: 'document', source: { kind: 'text', mediaType: 'text/plain', text: token } },
      { kind: 'unknown', value: [token, 7, null] },
    ])
    const mask = '[redacted:github-token]'
    expect(blocks).toEqual([
      { kind: 'text', text: mask },
      { kind: 'thinking', thinking: mask },
      {
        kind: 'tool-use',
        id: 't',
        name: 'Bash',
        input: { command: `x ${mask}`, env: { password: '[redacted:password]' } },
      },
      { kind: 'tool-result', toolUseId: 't', isError: false, content: [{ kind: 'text', text: mask }] },
      { kind: 'document', source: { kind: 'text', mediaType: 'text/plain', text: mask } },
      { kind: 'unknown', value: [mask, 7, null] },
    ])
    expect(found).toHaveLength(7)
  })

  test('[RED8] a token that is the name of a tool, a key, or in what a person changed, is masked', () => {
    const mask = '[redacted:github-token]'
    const { blocks } = redactBlocks([
      {
        kind: 'tool-use',
        id: 't',
        name: `mcp__${token}__get`,
        input: { [token]: 1, [`${token} `]: { [`x ${token}`]: [] }, '[redacted:github-token] 2': 2 },
        changed: { input: { command: `echo ${token}` }, by: 'phone' },
      },
    ])
    expect(blocks).toEqual([
      {
        kind: 'tool-use',
        id: 't',
        name: expect.stringContaining(mask),
        input: { [mask]: 1, [`${mask} `]: { [`x ${mask}`]: [] }, [`${mask} 2`]: 2 },
        changed: { input: { command: `echo ${mask}` }, by: 'phone' },
      },
    ])
    expect(JSON.stringify(blocks)).not.toContain(token.slice(4))
    const [same] = redactBlocks([
      { kind: 'unknown', value: { [token]: 1, [`${token.slice(0, -1)}Q`]: 2 } },
    ]).blocks
    expect(same).toEqual({ kind: 'unknown', value: { [mask]: 1, [`${mask} 2`]: 2 } })
  })

  test('[RED21] the beginning of a token is masked where the rest was cut off, and not elsewhere', () => {
    const cut = `Use ${token.slice(0, 18)}`
    for (const end of ['…', '...', '', '\\u00…', '%4…'])
      expect(redact(cut + end).text).toMatch(/^Use \[redacted:/)
    for (const text of [`${cut} x`, 'Use ghp_… here', 'Set it to ghp_…', 'ghp_xxxx…'])
      expect(redact(text).text).toBe(text)
  })
})
