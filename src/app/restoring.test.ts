import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SessionSummary } from '#model'
import { createClaudeSource } from '#sources'
import {
  createLines,
  expectError,
  findAnthropicFaults,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import type { RestoreCalls } from '#wire'
import { createRestoring } from './restoring.ts'

let temp: TempDir
let claudeDir: string
let workdir: string
let restoring: RestoreCalls

beforeEach(async () => {
  temp = await openTempDir()
  claudeDir = join(temp.path, 'claude')
  workdir = join(temp.path, 'work')
  mkdirSync(workdir)
  restoring = createRestoring({
    home: join(temp.path, 'home'),
    get: async (id) => find(id),
    roots: { claude: claudeDir, codex: join(temp.path, 'codex'), gemini: join(temp.path, 'gemini') },
    run: async () => undefined,
    onWritten: async () => undefined,
    mintId: randomUUID,
    now: () => Date.UTC(2026, 10, 16),
  })
})
afterEach(() => temp.remove())

async function find(id: string): Promise<SessionSummary> {
  const { sessions } = await createClaudeSource(claudeDir).list()
  const found = sessions.find((session) => session.id === id)
  if (found === undefined) throw new Error(`no session ${id}`)
  return found
}

const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

function toTurns(count: number): readonly object[] {
  const make = createLines({ cwd: workdir })
  return Array.from({ length: count }, (_none, at) => [
    make.prompt(`Question ${at + 1}`),
    make.reply([{ type: 'tool_use', id: `toolu_${at}`, name: 'Bash', input: { command: 'ls' } }]),
    make.result(`toolu_${at}`, 'listed'),
    make.reply([{ type: 'text', text: `Answer ${at + 1}` }]),
  ]).flat()
}

test('[RST3] a mended copy is a new session beside the old one, which stays as it was', async () => {
  const make = createLines({ cwd: workdir })
  const path = await writeTranscript(
    claudeDir,
    toJsonl([make.prompt('go'), make.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }])]),
  )
  const before = hash(path)
  const { troubles } = await restoring.preflight(SESSION)
  expect(troubles.map(({ kind }) => kind)).toEqual(['call-unanswered'])
  const { sessionId = '', mended, left, command } = await restoring.repair(SESSION)
  expect([mended.length, left.length, command?.[0]]).toEqual([1, 0, 'claude'])
  expect(hash(path)).toBe(before)
  expect(readdirSync(dirname(path)).toSorted()).toEqual([`${SESSION}.jsonl`, `${sessionId}.jsonl`].toSorted())
  expect((await restoring.preflight(sessionId)).troubles).toEqual([])
  expect((await restoring.lineage(sessionId)).from).toMatchObject({ sessionId: SESSION, kind: 'repaired' })
  expect((await restoring.lineage(SESSION)).to).toMatchObject([{ sessionId }])
  // Nothing is wrong with the copy, so nothing is written for it.
  expect(await restoring.repair(sessionId)).toEqual({ mended: [], left: [] })
})

test('[RST4] [RST16] [P12] a compaction is a line of ours: it holds at once, in tokens and turns too, is taken back exactly, and half a line is none', async () => {
  const path = await writeTranscript(claudeDir, toJsonl(toTurns(15)))
  const whole = await restoring.restore(SESSION, 'anthropic')
  const before = hash(path)
  const record = await restoring.compact(SESSION, { keepTurns: 4 })
  expect(record.turns).toEqual({ summarised: 11, kept: 4 })
  const log = join(temp.path, 'home', 'compactions', `${SESSION}.jsonl`)
  expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1)
  const compacted = await restoring.restore(SESSION, 'anthropic')
  expect(compacted.compaction?.id).toBe(record.id)
  expect(compacted.turns).toHaveLength(4)
  const { tokens } = await restoring.preflight(SESSION)
  expect(compacted.tokens).toEqual(tokens)
  expect(findAnthropicFaults(compacted.messages)).toEqual([])

  appendFileSync(log, '{"compacted":{"id":"half')
  expect((await restoring.compactions(SESSION)).active?.id).toBe(record.id)
  const state = await restoring.undoCompaction(SESSION)
  expect(state.active).toBeUndefined()
  expect(state.records.map(({ undoneAt }) => undoneAt)).toEqual(['2026-11-16T00:00:00.000Z'])
  expect(await restoring.restore(SESSION, 'anthropic')).toEqual(whole)
  expect(hash(path)).toBe(before)
  await expectError(restoring.undoCompaction(SESSION), 'nothing-to-undo')
  await expectError(restoring.compact(SESSION, { keepTurns: 30 }), 'nothing-to-compact')
})

test('[RST5] [P11] a session too large to be held is compacted from the file, turn by turn', async () => {
  const lines = toTurns(40).map((line, at) =>
    at % 4 === 2
      ? {
          ...line,
          message: {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: `toolu_${(at - 2) / 4}`, content: 'x'.repeat(1_700_000) },
            ],
          },
        }
      : line,
  )
  const path = await writeTranscript(claudeDir, '')
  for (const line of lines) appendFileSync(path, `${JSON.stringify(line)}\n`)
  const record = await restoring.compact(SESSION)
  expect(record.turns).toEqual({ summarised: 30, kept: 10 })
  expect(record.text).toContain('Question 1')
  const { messages } = await restoring.restore(SESSION, 'anthropic')
  expect(findAnthropicFaults(messages)).toEqual([])
  // What stays is shortened, or the next request would be refused.
  expect(JSON.stringify(messages).length).toBeLessThan(400_000)
})

test('[RST6] a session is written for another agent once, with what it loses told before', async () => {
  await writeTranscript(claudeDir, toJsonl(toTurns(2)))
  const dry = await restoring.convert(SESSION, { to: 'codex', dryRun: true })
  expect(dry.isWritten).toBe(false)
  expect(readdirSync(temp.path)).not.toContain('codex')
  const first = await restoring.convert(SESSION, { to: 'codex' })
  expect(first).toMatchObject({ ...dry, isWritten: true })
  expect(await restoring.convert(SESSION, { to: 'codex' })).toEqual(first)
  expect((await restoring.lineage(SESSION)).to).toMatchObject([
    { sessionId: first.sessionId, agent: 'codex' },
  ])
  await expectError(
    restoring.convert(SESSION, { to: 'codex', workdir: join(temp.path, 'gone') }),
    'folder-not-found',
  )
})

test('[RST7] a session whose window is full says so, and one that was compacted here does not', async () => {
  const lines = toTurns(12)
  const usage = { input_tokens: 10, cache_read_input_tokens: 190_000, output_tokens: 10 }
  const make = createLines({ cwd: workdir })
  const last = make.reply([], {
    uuid: 'last',
    parentUuid: '00000000-0000-4000-8000-000000000048',
    message: {
      id: 'last',
      role: 'assistant',
      model: 'claude-opus-5-5',
      usage,
      content: [{ type: 'text', text: 'end' }],
    },
  })
  writeFileSync(await writeTranscript(claudeDir, ''), toJsonl([...lines, last]))
  const full = await restoring.preflight(SESSION)
  expect([full.isFull, full.window, full.tokens.context]).toEqual([true, 200_000, 190_020])
  await restoring.compact(SESSION)
  const after = await restoring.preflight(SESSION)
  expect(after.isFull).toBe(false)
  expect(after.tokens.context).toBeLessThan(5_000)
})
