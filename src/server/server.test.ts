import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isSessionId, type LiveEvent } from '#wire'
import type { SessionSummary } from '#model'
import { createBatch } from './batch.ts'
import { openDevices } from './devices.ts'
import { openLogFile } from './log-file.ts'
import { createOneTimeWords } from './one-time.ts'
import { matchRoute } from './router.ts'
import { createTicker } from './ticker.ts'
import { bytesCodec, listBytes } from './wire-json.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'server-'))
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

function summary(id: string): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: `/home/user/.claude/projects/-work/${id}.jsonl`,
    size: 1,
    name: 'a name of ordinary length, as sessions have',
    firstPrompt: 'words '.repeat(60),
    workdirs: ['/home/user/work'],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
  }
}

const changed = (id: string): LiveEvent => ({ kind: 'session.changed', session: summary(id), cursor: id })

test('[SRV13] of a list only the sessions that changed are written again', () => {
  let written = 0
  const counted = (id: string): SessionSummary => {
    const made = summary(id)
    return Object.defineProperty({ ...made }, 'toJSON', {
      value() {
        written++
        return made
      },
    })
  }
  const sessions = Array.from({ length: 2000 }, (_, n) => counted(`s${n}`))
  const list = { lookedIn: ['/a'], allowedRoots: [], problems: [] }
  const text = (all: readonly SessionSummary[]): unknown =>
    JSON.parse(listBytes({ ...list, sessions: all }).toString())
  expect(text(sessions)).toEqual({ ...list, sessions: sessions.map(({ id }) => summary(id)) })
  expect(written).toBe(2000)
  // Another list of the same sessions, as an app that filters gives.
  expect(text([...sessions])).toEqual(text(sessions))
  expect(written).toBe(2000)
  const other = [...sessions.slice(1), counted('new')]
  expect(text(other)).toEqual({ ...list, sessions: other.map(({ id }) => summary(id)) })
  expect(written).toBe(2001)
  expect(text([])).toEqual({ ...list, sessions: [] })
})

test('[SRV7] devices that are told the same share one message, and each is told its own', () => {
  const [first, second] = [changed('a'), changed('b')]
  const start = createBatch()
  const one = start.withEvent(1, first).withEvent(1, second)
  const two = start.withEvent(1, first).withEvent(1, second)
  const other = start.withEvent(2, first).withEvent(1, second)
  expect(one.toMessage()).toBe(two.toMessage())
  expect(other.toMessage()).not.toBe(one.toMessage())
  expect(JSON.parse(other.withFrame({ kind: 'pong' }).toMessage().toString())).toEqual([
    { kind: 'event', subscription: 2, event: first },
    { kind: 'event', subscription: 1, event: second },
    { kind: 'pong' },
  ])
})

test('[SRV7] a tick comes at once after a pause, else at its time, and nobody is forgotten', async () => {
  const ticks: string[][] = []
  const ticker = createTicker<string>({ tickMs: 20, flush: (all) => ticks.push([...all]) })
  ticker.add('a')
  ticker.add('a')
  await new Promise((resolve) => setImmediate(resolve))
  expect(ticks).toEqual([['a']])
  ticker.add('b')
  ticker.add('c')
  await new Promise((resolve) => setImmediate(resolve))
  expect(ticks).toEqual([['a']])
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(ticks).toEqual([['a'], ['b', 'c']])
  ticker.close()
})

test('[SRV14] bytes cross as they are, text or not', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const wire: unknown = JSON.parse(JSON.stringify(bytesCodec.toWire(bytes)))
        const back = typeof wire === 'string' ? wire : { base64: String(Object(wire)['base64']) }
        expect(Buffer.from(bytesCodec.fromWire(back))).toEqual(Buffer.from(bytes))
      },
    ),
  )
})

test('[ATT22] whatever stands in a path, an id that comes out is one', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('..', '%2e%2e', '%2f', '%00', '\\', 'con'), fc.webPath())
  fc.assert(
    fc.property(part, fc.constantFrom('entries', 'bytes', 'check'), (text, rest) => {
      try {
        const { name, id } = matchRoute('GET', `/api/sessions/${text}/${rest}`)
        // A question mark ends the path: what is left of it asks for a session by any text.
        expect(isSessionId(id) || (name === 'session' && text.includes('?'))).toBe(true)
      } catch (error) {
        expect(error).toMatchObject({
          status: expect.toSatisfy((status) => [400, 404].includes(Number(status))),
        })
      }
    }),
    { examples: [[' ?', 'entries']] },
  )
})

test('[SRV9] a word is good once, and not for ever', () => {
  let time = 0
  const words = createOneTimeWords<number>({ lifeMs: 100, now: () => time, ticks: () => 0 })
  const { word } = words.issue(7, 'desk')
  expect(words.redeem(`${word}x`)).toBeUndefined()
  expect([words.redeem(word), words.redeem(word)]).toEqual([7, undefined])
  const late = words.issue(8, 'desk').word
  time = 100
  expect(words.redeem(late)).toBeUndefined()
})

test('[SRV9] a wall clock that is set back does not give a word a longer life', () => {
  let time = 1_000_000
  let ticks = 0
  const words = createOneTimeWords<number>({ lifeMs: 100, now: () => time, ticks: () => ticks })
  const [timely, late] = [words.issue(1, 'desk').word, words.issue(2, 'desk').word]
  time -= 3_600_000
  ticks = 99
  expect(words.redeem(timely)).toBe(1)
  ticks = 100
  expect(words.redeem(late)).toBeUndefined()
})

test('[SRV9] a device that asks for 5,000 codes voids its own, and the code of no other', () => {
  const words = createOneTimeWords<string>({ lifeMs: 100, now: () => 0, ticks: () => 0 })
  const desk = words.issue('of the desk', 'desk').word
  const flood = Array.from({ length: 5000 }, () => words.issue('of the phone', 'phone').word)
  expect(words.redeem(desk)).toBe('of the desk')
  expect(flood.filter((word) => words.redeem(word) !== undefined)).toEqual(flood.slice(-256))
})

test('[SRV10] devices are kept by the hash of their token, and end when they are idle or revoked', async () => {
  const day = 24 * 60 * 60 * 1000
  let time = Date.UTC(2026, 0, 1)
  const revoked: string[] = []
  const options = { home, now: () => time, onRevoked: (id: string) => revoked.push(id), onTrouble: () => {} }
  const devices = await openDevices(options)
  const used = await devices.add('used')
  const idle = await devices.add('idle')
  const gone = await devices.add('gone')
  expect(await devices.revoke(gone.device.id)).toBe(true)
  expect(await devices.revoke(gone.device.id)).toBe(false)
  for (let n = 0; n < 40; n++) {
    time += day
    expect(devices.find(used.token)?.id).toBe(used.device.id)
    expect(devices.find(used.token)?.id).toBe(used.device.id)
  }
  await devices.close()
  const again = await openDevices(options)
  expect(again.find(used.token)?.label).toBe('used')
  expect([again.find(idle.token), again.find(gone.token), again.find('')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(again.list().map(({ label }) => label)).toEqual(['used'])
  await again.close()
  const text = await readFile(join(home, 'devices.jsonl'), 'utf8')
  // Three added, one revoked, and seen at most once a day.
  expect(text.trimEnd().split('\n')).toHaveLength(3 + 1 + 40)
  for (const { token } of [used, idle, gone]) expect(text).not.toContain(token)
  expect(revoked).toEqual([gone.device.id])
})

test('[SRV15] a log is kept to a few files, whatever is written', async () => {
  const path = join(home, 'logs', 'daemon.jsonl')
  const file = await openLogFile(path, { now: () => 0, mostBytes: 10_000 })
  for (let n = 0; n < 500; n++) {
    file.log('info', 'request', { n, text: 'x'.repeat(100) })
    if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await file.close()
  for (const name of ['daemon.jsonl', 'daemon.jsonl.1', 'daemon.jsonl.2']) {
    const { size, mode } = await stat(join(home, 'logs', name))
    expect(size).toBeLessThan(20_000)
    expect(mode & 0o077).toBe(0)
  }
  await expect(stat(`${path}.3`)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readFile(path, 'utf8')).toContain('"n":499')
})
