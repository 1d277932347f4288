import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toLine } from '#journal'
import type { AuditVerdict } from '#model'
import { createHandClock, mountSmallDisk, openTempDir, runs } from '#testing'
import type { TempDir } from '#testing'
import { auditPath, listAudits, readAudit } from './audit-reader.ts'
import { auditOn, openAudit, readAuditState } from './audit.ts'
import { hashOf } from './canonical-json.ts'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const OTHER = 'aaaaaaaa-0000-4000-8000-000000000002'
const KILLS = process.env['RUNS'] === 'full' ? 200 : 8
const AT = '2026-01-01T00:00:00.000Z'

let dir: TempDir
let home: string
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
})
afterEach(() => dir.remove())

const open = () => openAudit(home, SESSION, { clock: createHandClock() })
const path = (): string => auditPath(home, SESSION)
const call = (id: string, input: unknown = {}) => ({
  kind: 'message' as const,
  role: 'agent' as const,
  blocks: [{ kind: 'tool-use' as const, id, name: 'Bash', input }],
})

/** A log of some calls and decisions, by one host after another. */
async function write(calls: number): Promise<Buffer> {
  const audit = await open()
  await audit.record({
    kind: 'session.started',
    at: AT,
    sessionId: SESSION,
    agent: 'scripted',
    workdir: '/work',
    mode: 'default',
    trusted: false,
    run: 'r',
    pid: 1,
  })
  for (let n = 0; n < calls; n++) void audit.see(call(`t${n}`, { command: `echo \u2028 ${n} ü` }))
  await audit.record({ kind: 'session.ended', at: AT, reason: 'ended' })
  await audit.close()
  return await readFile(path())
}

async function verdictOf(bytes: Uint8Array, sessionId = SESSION): Promise<AuditVerdict> {
  await mkdir(dirname(path()), { recursive: true })
  await writeFile(auditPath(home, sessionId), bytes)
  return (await readAudit(home, sessionId)).verdict
}

const toLines = (bytes: Buffer): readonly string[] => bytes.toString().split('\n').slice(0, -1)
const fromLines = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''))

describe('[AUD1] the log of a session', () => {
  test('is for its owner alone, whole, and gone on with by the next host', async () => {
    expect(await readAudit(home, SESSION)).toMatchObject({
      entries: [],
      verdict: { kind: 'whole', lines: 0 },
    })
    await write(2)
    await write(4)
    const { entries, verdict } = await readAudit(home, SESSION)
    expect(verdict).toMatchObject({ kind: 'whole', lines: 8 })
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(entries.map((entry) => (entry.kind === 'tool.called' ? entry.toolUseId : entry.kind))).toEqual([
      'session.started',
      't0',
      't1',
      'session.ended',
      'session.started',
      't2',
      't3',
      'session.ended',
    ])
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect((await stat(join(home, 'audit'))).mode & 0o777).toBe(0o700)
    expect(await listAudits(home)).toMatchObject([{ sessionId: SESSION }])
    await expect(readAudit(home, '../preferences')).rejects.toMatchObject({ code: 'request-invalid' })
  })

  test('has a short input whole, and of a long one its hash and how it begins', async () => {
    const audit = await open()
    const long = { content: 'é'.repeat(100_000) }
    void audit.see({ ...call('short', { b: 1, a: [2] }), parentToolUseId: 'task' })
    void audit.see(call('long', long))
    const server = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'x' } }
    void audit.see({ kind: 'message', role: 'agent', blocks: [{ kind: 'unknown', value: server }] })
    const result = { kind: 'tool-result' as const, toolUseId: 'short', content: [], isError: true }
    void audit.see({ kind: 'message', role: 'tool', blocks: [result, result] })
    await audit.close()
    const { entries } = await readAudit(home, SESSION)
    expect(entries).toMatchObject([
      {
        toolUseId: 'short',
        parentToolUseId: 'task',
        input: { hash: hashOf({ a: [2], b: 1 }), input: { a: [2], b: 1 } },
      },
      { toolUseId: 'long', input: { hash: hashOf(long), bytes: 200_014 } },
      { toolUseId: 'srv', tool: 'web_search' },
      { kind: 'tool.returned', toolUseId: 'short', isError: true },
    ])
    expect((await stat(path())).size).toBeLessThan(16_000)
  })

  test('has what was decided, by whom, on what, and what ran instead', async () => {
    const audit = await open()
    const rule = { id: 'r1', scope: 'session' as const, words: 'Bash(ls:*)', value: null }
    const ask = {
      kind: 'permission' as const,
      tool: 'Bash',
      input: { command: 'rm x' },
      workdir: '/',
      toolUseId: 't',
      rules: [rule],
      canEdit: true,
    }
    const attention = {
      id: 'a',
      sessionId: SESSION,
      openedAt: AT,
      ask,
      hash: 'shown',
      state: { state: 'open' as const },
    }
    await audit.record({ kind: 'attention.opened', at: AT, attention })
    const resolution = { kind: 'allow', rules: ['r1'], input: { command: 'ls' } } as const
    const state = { state: 'resolved', resolution, by: 'phone', at: AT } as const
    await audit.record({ kind: 'attention.settled', at: AT, id: 'a', state })
    await audit.record({ kind: 'mode.changed', at: AT, mode: 'plan', by: 'laptop' })
    await audit.close()
    const asked = { tool: 'Bash', toolUseId: 't', inputHash: hashOf(ask.input), shown: 'shown' }
    expect((await readAudit(home, SESSION)).entries).toMatchObject([
      { kind: 'attention.opened', id: 'a', asked },
      {
        kind: 'attention.settled',
        asked,
        settled: {
          end: 'allow',
          by: 'phone',
          rules: [{ id: 'r1', scope: 'session', words: 'Bash(ls:*)' }],
          edited: { hash: hashOf({ command: 'ls' }), input: { command: 'ls' } },
        },
      },
      { kind: 'mode.changed', mode: 'plan', by: 'laptop' },
    ])
  })
})

describe('[AUD2] a log that is not as it was written', () => {
  test('says which line, and what is wrong with it', async () => {
    const bytes = await write(4)
    const lines = toLines(bytes)
    const [, second = '', third = ''] = lines
    const at = (n: number, ...changed: readonly string[]): Buffer =>
      fromLines(lines.toSpliced(n - 1, changed.length === 0 ? 1 : changed.length, ...changed))
    expect(await verdictOf(bytes)).toMatchObject({ kind: 'whole', lines: 6 })
    expect(await verdictOf(at(2, second.replace('Bash', 'Ask_')))).toEqual({
      kind: 'broken',
      line: 2,
      why: 'modified',
    })
    expect(await verdictOf(at(2))).toEqual({ kind: 'broken', line: 2, why: 'removed' })
    expect(await verdictOf(at(1))).toEqual({ kind: 'broken', line: 1, why: 'removed' })
    expect(await verdictOf(at(2, third, second))).toEqual({ kind: 'broken', line: 2, why: 'reordered' })
    expect(await verdictOf(fromLines(lines.toSpliced(2, 0, second)))).toEqual({
      kind: 'broken',
      line: 3,
      why: 'repeated',
    })
    expect(await verdictOf(fromLines(lines.toSpliced(2, 0, '{"kind":"mine"}')))).toEqual({
      kind: 'broken',
      line: 3,
      why: 'unreadable',
    })
    expect(await verdictOf(bytes.subarray(0, -10))).toEqual({ kind: 'broken', line: 6, why: 'cut-at-end' })
    expect(await verdictOf(bytes, OTHER)).toEqual({ kind: 'broken', line: 1, why: 'other-session' })
  })

  test('is found out, whatever single byte or line it is', async () => {
    const bytes = await write(5)
    const lines = toLines(bytes)
    const line = fc.nat({ max: lines.length - 1 })
    const change = fc.oneof(
      fc
        .tuple(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }))
        .map(([at, by]) => Buffer.from(bytes).fill((bytes[at] ?? 0) ^ by, at, at + 1)),
      fc
        .nat({ max: bytes.length - 1 })
        .map((at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])),
      fc
        .tuple(fc.nat({ max: bytes.length }), fc.nat({ max: 255 }))
        .map(([at, byte]) => Buffer.concat([bytes.subarray(0, at), Buffer.of(byte), bytes.subarray(at)])),
      // Not the last: what is taken off the end is told by nothing but a copy of the last hash.
      fc.nat({ max: lines.length - 2 }).map((at) => fromLines(lines.toSpliced(at, 1))),
      fc.tuple(line, line).map(([from, to]) => fromLines(lines.toSpliced(to, 0, lines[from] ?? ''))),
      fc
        .tuple(line, line)
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => fromLines(lines.with(a, lines[b] ?? '').with(b, lines[a] ?? ''))),
    )
    await fc.assert(
      fc.asyncProperty(change, async (changed) => {
        expect(await verdictOf(changed)).toMatchObject({ kind: 'broken' })
      }),
      runs(600),
    )
  })

  test('is told apart from one that lost its end, by whoever kept the hash of that', async () => {
    const bytes = await write(3)
    const whole = await verdictOf(bytes)
    const cut = await verdictOf(fromLines(toLines(bytes).slice(0, -1)))
    expect(cut).toMatchObject({ kind: 'whole', lines: 4 })
    expect(whole.kind === 'whole' && cut.kind === 'whole' && whole.head !== cut.head).toBe(true)
  })
})

describe('[AUD4] a disk that takes nothing', () => {
  test('and then does: what was called meanwhile is there, and how much of it was too much to keep', async () => {
    const disk = { isFull: true }
    const lines: unknown[] = []
    const journal = {
      append(value: unknown) {
        if (disk.isFull) return Promise.reject(new Error('full'))
        lines.push(value)
        return Promise.resolve({ offset: 0, length: 0 })
      },
    }
    const audit = auditOn(journal, await readAuditState(path(), SESSION), { clock: createHandClock() })
    const blocks = Array.from({ length: 10_003 }, (_, n) => call(`t${n}`).blocks).flat()
    await expect(audit.see({ ...call(''), blocks })).rejects.toThrow('full')
    disk.isFull = false
    await audit.record({ kind: 'session.ended', at: AT, reason: 'ended' })
    expect(lines.slice(-3)).toMatchObject([
      { seq: 10_000, toolUseId: 't9999' },
      { seq: 10_001, kind: 'lines.lost', count: 3 },
      { seq: 10_002, kind: 'session.ended' },
    ])
    expect(await verdictOf(Buffer.concat(lines.map(toLine)))).toMatchObject({ kind: 'whole' })
  })

  test('for real: the chain is whole, and what was refused is not in it', async ({ skip }) => {
    home = join(dir.path, 'small')
    const disk = mountSmallDisk(home, 'size=256k')
    if (!disk) return skip()
    try {
      const audit = await open()
      const decide = async (id: string): Promise<boolean> => {
        const resolution = { kind: 'deny', words: 'x'.repeat(1_500) } as const
        const state = { state: 'resolved', resolution, by: 'me', at: AT } as const
        return await audit.record({ kind: 'attention.settled', at: AT, id, state }).then(
          () => true,
          () => false,
        )
      }
      const taken: string[] = []
      for (let n = 0; n < 300; n++) {
        if (n === 200) disk.remount('size=8m')
        void audit.see(call(`t${n}`)).catch(() => {})
        if (await decide(`a${n}`)) taken.push(`a${n}`)
      }
      await audit.close()
      const { entries, verdict } = await readAudit(home, SESSION)
      expect(verdict).toMatchObject({ kind: 'whole' })
      expect(taken.length).toBeGreaterThan(100)
      expect(taken.length).toBeLessThan(300)
      expect(entries.flatMap((one) => (one.kind === 'attention.settled' ? [one.id] : []))).toEqual(taken)
      const called = entries.flatMap((one) => (one.kind === 'tool.called' ? [one.toolUseId] : []))
      expect(called).toEqual(Array.from({ length: 300 }, (_, n) => `t${n}`))
    } finally {
      disk.remove()
    }
  })
})

describe('[AUD3] a host that died', () => {
  test('in the middle of a line: the next one goes on, and says that something was cut off', async () => {
    const bytes = await write(4)
    const lastLine = toLines(bytes).at(-1)?.length ?? 0
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: lastLine }), async (cut) => {
        await writeFile(path(), bytes)
        await truncate(path(), bytes.length - cut)
        expect((await readAudit(home, SESSION)).verdict).toMatchObject({ line: 6, why: 'cut-at-end' })
        const audit = await open()
        void audit.see(call('after'))
        await audit.close()
        const { entries, verdict } = await readAudit(home, SESSION)
        expect(verdict).toMatchObject({ kind: 'whole', lines: 7 })
        expect(entries.slice(-2)).toMatchObject([
          { kind: 'tail.recovered', seq: 6, bytes: lastLine + 1 - cut },
          { kind: 'tool.called', seq: 7 },
        ])
      }),
      runs(40),
    )
  })

  test('at any moment leaves a chain that is whole after it, with everything that was acknowledged', async () => {
    const child = join(import.meta.dirname, '..', '..', 'dist', 'testing', 'audit-appender.js')
    const acknowledged: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = spawn(process.execPath, [child, home, SESSION, String(kill * 100_000)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(writer, 'exit')
      const lines = createInterface({ input: writer.stdout })
      const closed = once(lines, 'close')
      lines.on('line', (line) => line !== 'open' && acknowledged.push(line))
      await once(lines, 'line')
      await sleep((kill * 7) % 60)
      writer.kill('SIGKILL')
      await Promise.all([exited, closed])
    }
    await (await open()).close()
    const { entries, verdict } = await readAudit(home, SESSION)
    expect(verdict).toMatchObject({ kind: 'whole' })
    const called = new Set(entries.flatMap((one) => (one.kind === 'tool.called' ? [one.toolUseId] : [])))
    const decided = new Set(entries.flatMap((one) => (one.kind === 'attention.settled' ? [one.id] : [])))
    expect(acknowledged.length).toBeGreaterThan(KILLS)
    expect(acknowledged.filter((id) => !called.has(id) || !decided.has(id))).toEqual([])
  }, 600_000)
})
