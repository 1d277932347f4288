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
    ].map((piece) => [JSON.stringify(piece), piece]),
  )('[RED5] a megabyte of %s takes steps in proportion to its length', (_, piece) => {
    // It throws when it takes more: 400 steps for each character.
    const started = performance.now()
    findSecrets(fill(piece))
    expect(performance.now() - started).toBeLessThan(30_000)
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
})
