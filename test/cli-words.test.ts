import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { list, parseJson, string } from '#base'
import { createLines, toJsonl, writeTranscript } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openUserPlace, type UserPlace } from './user-place.ts'

const ID = 'b5d57748-0000-4000-8000-000000000001'

let place: UserPlace
beforeEach(async () => {
  place = await openUserPlace()
  const make = createLines()
  const lines = [make.prompt('one word'), make.reply([{ type: 'text', text: 'yes' }])]
  await writeTranscript(join(place.home, '.claude'), toJsonl(lines), { id: ID })
})
afterEach(() => place.remove())

test('[CLI61] what other programs call a command, and swapped letters, lead to the right one', async () => {
  for (const [args, next] of [
    [['list'], 'Use `throughline ls`.'],
    [['ps'], 'Use `throughline board` for what runs, or `throughline ls` for all sessions.'],
    [['doctor'], 'Use `throughline check` for sessions, or `throughline status` for the daemon.'],
    [['config'], 'Settings are in `config.json` of the home folder'],
    [['serach', 'x'], 'Did you mean `throughline search`?'],
    [['ls', '--agnet', 'claude'], 'Did you mean `--agent`?'],
  ] as const) {
    const { code, out, err } = await place.run(args)
    expect([args, code, out, err]).toEqual([args, 2, '', expect.stringContaining(`next: ${next}`)])
  }
})

test('[CLI61] an agent that nobody knows is said where nothing was found', async () => {
  for (const args of [
    ['ls', '--agent', 'cluade'],
    ['search', 'agent:cluade word'],
  ])
    expect((await place.run(args)).err).toContain('note: no agent is called "cluade"; did you mean claude?')
  expect((await place.run(['ls', '--agent', 'codex'])).err).not.toContain('no agent is called')
  expect((await place.run(['ls', '--agent', 'claude'])).out).toContain('b5d57748')
})

test('[CLI32] usage takes an age where it takes a day', async () => {
  const whole = await place.json(['usage', '--utc'])
  const [row] = list(whole, 'rows')
  const day = string(row, 'key') ?? ''
  expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
  const age = Math.round((Date.now() - Date.parse(day)) / 86_400_000)
  const of = async (...args: readonly string[]): Promise<number> =>
    list(await place.json(['usage', '--utc', ...args]), 'rows').length
  expect(await of('--since', `${age + 2}d`)).toBe(1)
  expect(await of('--until', `${age + 2}d`)).toBe(0)
  const wrong = await place.run(['usage', '--since', '4m'])
  expect(wrong).toMatchObject({
    code: 2,
    err: expect.stringContaining('next: For months write mo: --since 4mo'),
  })
})

test('[CLI62] export --out --json prints what was written, where, and how much', async () => {
  mkdirSync(join(place.home, 'out'))
  const out = join(place.home, 'out/page.md')
  const { code, out: told, err } = await place.run(['export', ID, '--out', out, '--json'])
  expect([code, err]).toEqual([0, ''])
  expect(parseJson(told)).toEqual({ sessionId: ID, out, bytes: expect.any(Number), format: 'md' })
})
