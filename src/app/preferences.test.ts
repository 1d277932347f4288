import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseJson } from '#base'
import { openTempDir, runs, type TempDir } from '#testing'
import { openPreferences, type Preferences } from './preferences.ts'

let home: TempDir
let path: string
const opened: Preferences[] = []

beforeEach(async () => {
  home = await openTempDir()
  path = join(home.path, 'preferences.jsonl')
})
afterEach(async () => {
  for (const preferences of opened.splice(0)) await preferences.close()
  await home.remove()
})

async function open(at = path): Promise<Preferences> {
  const preferences = await openPreferences(at, () => 1_794_727_991_561)
  opened.push(preferences)
  return preferences
}

test('[C2.3] [PREF2] a name and a star stay, each on its own, and can be taken back', async () => {
  const first = await open()
  expect(first.get('a')).toEqual({ starred: false })
  expect(await first.rename('a', '  The big refactoring ')).toEqual({
    name: 'The big refactoring',
    starred: false,
  })
  await first.star('a', true)
  await first.star('b', true)
  await first.rename('c', 'gone soon')
  await first.rename('c', undefined)
  await first.close()

  const second = await open()
  expect(new Map(second.all())).toEqual(
    new Map([
      ['a', { name: 'The big refactoring', starred: true }],
      ['b', { starred: true }],
    ]),
  )
  expect(await second.star('a', false)).toEqual({ name: 'The big refactoring', starred: false })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('[PREF2] one line per decision, with its time', async () => {
  const preferences = await open()
  await preferences.rename('a', 'Größe 🧵')
  await preferences.rename('a', undefined)
  await preferences.star('a', true)
  const at = '2026-11-15T07:33:11.561Z'
  expect(linesOf(path)).toEqual([
    { kind: 'session.named', session: 'a', name: 'Größe 🧵', at },
    { kind: 'session.named', session: 'a', name: null, at },
    { kind: 'session.starred', session: 'a', starred: true, at },
  ])
})

test('[PREF2] whatever the order of calls, what is reopened is what was last said', async () => {
  const decision = fc.record({
    session: fc.constantFrom('a', 'b', '__proto__'),
    to: fc.oneof(fc.boolean(), fc.constant(undefined), fc.string({ minLength: 1, maxLength: 9 }).map(toFit)),
  })
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(decision, { maxLength: 12 }), async (decisions) => {
      const at = join(home.path, `${n++}.jsonl`)
      const expected = new Map<string, { name: string | undefined; starred: boolean }>()
      const preferences = await open(at)
      await Promise.all(
        decisions.map(({ session, to }) => {
          const before = expected.get(session) ?? { name: undefined, starred: false }
          expected.set(
            session,
            typeof to === 'boolean' ? { ...before, starred: to } : { ...before, name: to },
          )
          return typeof to === 'boolean' ? preferences.star(session, to) : preferences.rename(session, to)
        }),
      )
      await preferences.close()
      const reopened = await open(at)
      for (const [session, { name, starred }] of expected) {
        const wanted = name === undefined ? { starred } : { name, starred }
        expect(preferences.get(session)).toEqual(wanted)
        expect(reopened.get(session)).toEqual(wanted)
      }
    }),
    runs(40),
  )
})

test.each([
  ['', 'is empty'],
  [' \t ', 'is empty'],
  ['x'.repeat(201), 'is longer than 200'],
  ['🧵'.repeat(201), 'is longer than 200'],
  ['a\u001B[31mb', 'control character'],
  ['two\nlines', 'line break'],
  ['two\u2028lines', 'line break'],
  ['abc\u202Egpj.exe', 'control character'],
  ['half \uD83E', 'control character'],
])('[PREF1] the name %j is refused', async (name, problem) => {
  const preferences = await open()
  await expect(preferences.rename('a', name)).rejects.toMatchObject({
    code: 'request-invalid',
    message: expect.stringContaining(problem),
  })
  expect(existsSync(path)).toBe(false)
})

test('[PREF1] 200 characters are a name, whatever their size', async () => {
  const preferences = await open()
  await preferences.rename('a', '🧵'.repeat(200))
  expect(preferences.get('a').name).toBe('🧵'.repeat(200))
})

test('[PREF3] lines of a later version and garbage are ignored, and stay', async () => {
  const foreign = [
    '{"kind":"session.painted","session":"a","colour":"red"}',
    '{"kind":"session.named","session":"a","name":"before"}',
    '{"kind":"session.named","session":"a","name":"two\\nlines"}',
    '{"kind":"session.named","session":"a","name":7}',
    '{"kind":"session.starred","session":"a","starred":"yes"}',
    '{"kind":"session.starred"}',
    'not json',
    '[]',
  ]
  writeFileSync(path, `${foreign.join('\n')}\n{"kind":"session.starred","session":"a","starred":true}\n`)
  const preferences = await open()
  expect(preferences.get('a')).toEqual({ name: 'before', starred: true })
  await preferences.rename('a', 'after')
  expect(readFileSync(path, 'utf8')).toContain(foreign.join('\n'))
  expect((await open()).get('a')).toEqual({ name: 'after', starred: true })
})

test('[PREF2] [J3] a torn tail is set aside, and what stands before it counts', async () => {
  const first = await open()
  await first.rename('a', 'whole')
  await first.close()
  appendFileSync(path, '{"kind":"session.named","session":"a","name":"to')
  const second = await open()
  expect(second.get('a').name).toBe('whole')
  await second.star('a', true)
  expect(linesOf(path)).toHaveLength(2)
  expect((await open()).get('a')).toEqual({ name: 'whole', starred: true })
})

test('[PREF4] reading takes no lock and makes no file; a second writer is refused and takes over later', async () => {
  const [first, second] = [await open(), await open()]
  expect(existsSync(path)).toBe(false)
  await first.rename('a', 'first')
  await expect(second.rename('a', 'second')).rejects.toMatchObject({ code: 'journal-locked' })
  expect(second.get('a')).toEqual({ starred: false })
  await second.refresh()
  expect(second.get('a').name).toBe('first')
  await first.star('a', true)
  await first.close()
  expect(await second.rename('a', 'second')).toEqual({ name: 'second', starred: true })
  await expect(first.rename('a', 'late')).rejects.toMatchObject({ code: 'journal-closed' })
})

function linesOf(file: string): readonly unknown[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n').map(parseJson)
}

function toFit(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu, '').trim() || 'x'
}
