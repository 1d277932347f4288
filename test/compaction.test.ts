import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Throughline } from '#app'
import { TARGETS, type Target } from '#model'
import { openRecording } from '#recorder'
import {
  createLines,
  findAiSdkFaults,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  runs,
  toJsonl,
  writeTranscript,
} from '#testing'
import { describe, expect, test } from 'vitest'
import { openMcpPlace, type McpPlace } from './mcp-place.ts'

type Find = (messages: readonly object[]) => readonly string[] | Promise<readonly string[]>

const FAULTS: Readonly<Record<Target, Find>> = {
  anthropic: findAnthropicFaults,
  'openai-responses': findResponsesFaults,
  'openai-chat': findChatFaults,
  gemini: findGeminiFaults,
  'ai-sdk': findAiSdkFaults,
}

async function expectTaken(throughline: Throughline, id: string): Promise<void> {
  for (const target of TARGETS) {
    const { messages } = await throughline.restoring.restore(id, target)
    expect.soft(await FAULTS[target](messages), target).toEqual([])
  }
}

const WORDS = 'a quick brown fox of the parser jumps over lazy tokens and explains itself at length '

interface Recorder {
  readonly id: string
  /** Records turns, the last of which leaves the window so full. */
  readonly record: (turns: readonly number[], full: (turn: number) => number) => Promise<void>
  readonly prompt: (text: string) => Promise<void>
}

/** An agent that keeps no files of its own: it records, stops, and goes on later with what was restored. */
async function openRecorder(place: McpPlace): Promise<Recorder> {
  const cwd = join(place.root, 'work')
  mkdirSync(cwd, { recursive: true })
  const options = { cwd, agent: 'forgeflare', version: '1', register: join(place.root, 'home') }
  const begun = await openRecording(options)
  const id = begun.sessionId
  await begun.end()
  let isBegun = false
  const open = async (): ReturnType<typeof openRecording> => {
    const again = await openRecording({ ...options, sessionId: id })
    isBegun = true
    return again
  }
  return {
    id,
    async record(turns, full) {
      const recording = isBegun
        ? await open()
        : await openRecording({ ...options, sessionId: id }).catch(open)
      isBegun = true
      for (const turn of turns) {
        const answer = (
          content: readonly object[],
          output: number,
        ): Parameters<typeof recording.assistant>[0] => ({
          id: `msg_${String(turn)}_${String(output)}`,
          model: 'claude-opus-5-5',
          content,
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: full(turn) - 10 - output,
            cache_creation_input_tokens: 0,
            output_tokens: output,
          },
        })
        await recording.user(`Question ${turn}: what does file-${turn}.ts do?`)
        await recording.assistant(
          answer(
            [
              { type: 'thinking', thinking: `Look at ${turn}.`, signature: `sig${turn}=` },
              {
                type: 'tool_use',
                id: `toolu_${turn}`,
                name: 'Read',
                input: { file_path: `/w/file-${turn}.ts` },
              },
            ],
            20,
          ),
          { provider: 'anthropic' },
        )
        await recording.toolResult({
          tool_use_id: `toolu_${turn}`,
          content: `export const file${turn} = ${turn}`,
        })
        const text = `Answer ${turn}. ${WORDS.repeat(170)}End of ${turn}.`
        await recording.assistant(answer([{ type: 'text', text }], 30), { provider: 'anthropic' })
      }
      await recording.end()
    },
    async prompt(text) {
      const recording = await open()
      await recording.user(text)
      await recording.end()
    },
  }
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_none, at) => from + at)

test('[E5.1] [E8.1] [RST7] [RST9] fifty turns and 150,000 tokens: recorded, restored, compacted when it is time, gone on with, compacted again, taken back', async () => {
  const place = await openMcpPlace()
  const { throughline } = place
  const { id, record, prompt } = await openRecorder(place)
  await record(range(1, 49), (turn) => turn * 3_000)
  // Millions were billed by now. What counts is what is in the window.
  const early = await throughline.restoring.preflight(id)
  expect(early.tokens.billed.cacheRead).toBeGreaterThan(7_000_000)
  expect([early.tokens.context, early.isFull, early.troubles]).toEqual([147_000, false, []])
  await record([50], (turn) => turn * 3_000)
  const full = await throughline.restoring.preflight(id)
  expect([full.tokens.context, full.window, full.isFull]).toEqual([150_000, 200_000, true])

  const whole = await throughline.restoring.restore(id, 'anthropic')
  expect([whole.turns.length, whole.losses]).toEqual([50, []])
  const first = await throughline.restoring.compact(id)
  expect([first.turns, first.by]).toEqual([{ summarised: 40, kept: 10 }, 'extract'])
  const compacted = await throughline.restoring.restore(id, 'anthropic')
  const text = JSON.stringify(compacted.messages)
  for (const turn of range(1, 40)) {
    expect(first.text).toContain(`Question ${turn}:`)
    expect(text).not.toContain(`End of ${turn}.`)
  }
  // From the 41st turn on it is what it was, to the byte, but for the summary that stands before it.
  const [opening, ...rest] = compacted.messages
  expect(JSON.stringify(rest)).toBe(JSON.stringify(whole.messages.slice(-rest.length)))
  expect(JSON.stringify(opening)).toContain('Question 41:')
  for (const turn of range(41, 50)) expect(text).toContain(`End of ${turn}.`)
  await expectTaken(throughline, id)

  const after = await throughline.restoring.preflight(id)
  expect([after.isFull, after.tokens.context]).toEqual([false, first.tokens.after])
  // Gone on with: a prompt that nobody answered yet is no reason to compact again.
  await prompt('And now?')
  const asked = await throughline.restoring.preflight(id)
  expect(asked.isFull).toBe(false)
  expect(asked.tokens.context).toBeGreaterThan(first.tokens.after)
  await expectTaken(throughline, id)

  // Every turn of the summary is one call away, in full.
  for (const turn of [1, 7, 40]) {
    const [, entry = ''] = new RegExp(`Turn ${turn} \\(entry ([^)]+)\\)`, 'u').exec(first.text) ?? []
    const [, tool = '', session = ''] = /tool (\w+) with session "([^"]+)"/u.exec(first.text) ?? []
    const { text: read, isError } = await place.call(tool, { session, entry, whole: 'turn' })
    expect(isError).toBe(false)
    for (const words of [
      `Question ${turn}:`,
      `export const file${turn} =`,
      `Answer ${turn}. ${WORDS}`,
      `End of ${turn}.`,
    ])
      expect(read).toContain(words)
    expect(read).not.toContain(`Question ${turn + 1}:`)
  }

  // The window fills again, now from what the compaction left.
  await record(range(51, 62), (turn) => 40_000 + (turn - 50) * 10_000)
  const again = await throughline.restoring.preflight(id)
  expect([again.tokens.context, again.isFull]).toEqual([160_000, true])
  const before = await throughline.restoring.restore(id, 'anthropic')
  const second = await throughline.restoring.compact(id)
  expect(second.turns).toEqual({ summarised: 53, kept: 10 })
  expect(second.text).toContain('Question 1:')
  await expectTaken(throughline, id)

  // Taken back, one after the other, each time it is exactly what it was.
  expect((await throughline.restoring.undoCompaction(id)).active?.id).toBe(first.id)
  expect(await throughline.restoring.restore(id, 'anthropic')).toEqual(before)
  expect((await throughline.restoring.undoCompaction(id)).active).toBeUndefined()
  const last = await throughline.restoring.restore(id, 'anthropic')
  expect(
    JSON.stringify(last.messages).startsWith(JSON.stringify(whole.messages.slice(0, -1)).slice(0, -1)),
  ).toBe(true)
  expect(last.turns).toHaveLength(63)
})

const SESSION = '0c0ffee0-0000-4000-8000-00000000000d'

test('[RST9] [MCP4] what was shortened is one call away in full, and a long turn is read on with a cursor', async () => {
  const output = Array.from({ length: 9_000 }, (_none, line) => `line ${line} of the log`).join('\n')
  const place = await openMcpPlace({
    sessions: {
      [SESSION]: (make) =>
        range(1, 12).flatMap((turn) => [
          make.prompt(`Question ${turn}`),
          make.reply([
            { type: 'tool_use', id: `toolu_${turn}`, name: 'Bash', input: { command: `make ${turn}` } },
          ]),
          make.result(`toolu_${turn}`, turn === 1 ? output : 'ok'),
          make.reply([{ type: 'text', text: `Answer ${turn}` }]),
        ]),
    },
  })
  const { by } = await place.throughline.restoring.compact(SESSION)
  expect(by).toBe('trim')
  const { messages } = await place.throughline.restoring.restore(SESSION, 'anthropic')
  const text = JSON.stringify(messages)
  expect(text).not.toContain('line 4500 of the log')
  const [, session = '', entry = ''] =
    /read_entries with session \\"([^"\\]+)\\", entry \\"([^"\\]+)\\"/u.exec(text) ?? []
  let read = ''
  let given: object = { session, entry, whole: 'turn' }
  for (let pages = 0; pages < 10; pages++) {
    const answer = await place.call('read_entries', given)
    read += answer.text
    const [, cursor] = /read_entries with cursor "([^"]+)"/u.exec(answer.text) ?? []
    if (cursor === undefined) break
    given = { session, cursor }
  }
  for (const line of [0, 4_500, 8_999]) expect(read).toContain(`line ${line} of the log`)
  expect(read).toContain('Question 1')
  expect(read).toContain('Answer 1')
  expect(read).not.toContain('Question 2')
})

/** What Claude Code writes where its provider refuses a request for its length. */
const REFUSED = {
  isApiErrorMessage: true,
  message: {
    id: 'refused',
    role: 'assistant',
    model: '<synthetic>',
    content: [{ type: 'text', text: 'Prompt is too long' }],
  },
}

test('[P11] a history of 21 MB is refused as too long, and taken once it was compacted', async () => {
  const output = 'a line of what a tool gave back, as tools do\n'.repeat(2_400)
  const place = await openMcpPlace({
    sessions: {
      [SESSION]: (make) =>
        range(1, 200).flatMap((turn) => [
          make.prompt(`Question ${turn}`),
          make.reply([
            { type: 'tool_use', id: `toolu_${turn}`, name: 'Bash', input: { command: `make ${turn}` } },
          ]),
          make.result(`toolu_${turn}`, output),
          make.reply([], {
            message: {
              id: `msg_end_${turn}`,
              role: 'assistant',
              model: 'claude-opus-5-5',
              content: [{ type: 'text', text: `Answer ${turn}` }],
              usage: { input_tokens: Math.min(turn * 25_000, 195_000), output_tokens: 10 },
            },
          }),
          ...(turn === 200 ? [make.prompt('And now?'), make.reply([], REFUSED)] : []),
        ]),
    },
  })
  const { restoring } = place.throughline
  const tooLong = async (): Promise<readonly string[]> =>
    (await restoring.preflight(SESSION)).troubles
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'workdir-gone')
  expect(await tooLong()).toEqual(['context-too-long'])
  expect(JSON.stringify((await restoring.restore(SESSION, 'anthropic')).messages).length).toBeGreaterThan(
    20_000_000,
  )
  await restoring.compact(SESSION)
  expect(await tooLong()).toEqual([])
  const { messages } = await restoring.restore(SESSION, 'anthropic')
  expect(JSON.stringify(messages).length).toBeLessThan(400_000)
  expect(findAnthropicFaults(messages)).toEqual([])
})

describe('a compaction that is broken off', () => {
  const lines = (cwd: string): readonly object[] => {
    const make = createLines({ sessionId: SESSION, cwd })
    return range(1, 15).flatMap((turn) => [
      make.prompt(`Question ${turn}`),
      make.reply([{ type: 'text', text: `Answer ${turn}. ${WORDS.repeat(150)}` }]),
    ])
  }

  test('[P12] [RST4] cut off anywhere in its line it is none, and the session is what it was', async () => {
    const place = await openMcpPlace({ sessions: { [SESSION]: () => [] } })
    const { throughline, root } = place
    await writeTranscript(join(root, 'config'), toJsonl(lines(root)), { id: SESSION })
    const whole = await throughline.restoring.restore(SESSION, 'anthropic')
    await throughline.restoring.compact(SESSION, { keepTurns: 3 })
    const log = join(root, 'home', 'compactions', `${SESSION}.jsonl`)
    const bytes = readFileSync(log)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 2), async (cut) => {
        writeFileSync(log, bytes)
        truncateSync(log, cut)
        expect(await throughline.restoring.restore(SESSION, 'anthropic')).toEqual(whole)
        // And the next one holds.
        const { id } = await throughline.restoring.compact(SESSION, { keepTurns: 4 })
        expect((await throughline.restoring.compactions(SESSION)).active?.id).toBe(id)
      }),
      runs(8),
    )
    appendFileSync(log, '{"undone":{"id":')
    expect((await throughline.restoring.compactions(SESSION)).active).toBeDefined()
  })

  test('[P12] [RST4] killed at any moment, it holds whole or not at all', async () => {
    const place = await openMcpPlace({ sessions: { [SESSION]: () => [] } })
    const { throughline, root } = place
    await writeTranscript(join(root, 'config'), toJsonl(lines(root)), { id: SESSION })
    const whole = await throughline.restoring.restore(SESSION, 'anthropic')
    const program = join(import.meta.dirname, '../dist/bin/throughline.js')
    const env = {
      ...process.env,
      THROUGHLINE_HOME: join(root, 'home'),
      CLAUDE_CONFIG_DIR: join(root, 'config'),
      HOME: root,
    }
    let held = 0
    for (const delay of [150, 300, 400, 500, 650, 60_000]) {
      const child = spawn(process.execPath, [program, 'compact', SESSION, '--keep', '3'], {
        env,
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      await Promise.race([ended, sleep(delay)])
      child.kill('SIGKILL')
      await ended
      const { active, records } = await throughline.restoring.compactions(SESSION)
      const restored = await throughline.restoring.restore(SESSION, 'anthropic')
      if (active === undefined) expect(restored).toEqual(whole)
      else {
        held++
        expect(active.text).toContain('Question 12')
        expect(findAnthropicFaults(restored.messages)).toEqual([])
        await throughline.restoring.undoCompaction(SESSION)
        expect(await throughline.restoring.restore(SESSION, 'anthropic')).toEqual(whole)
      }
      expect(records.every(({ text }) => text.includes('Question 12'))).toBe(true)
    }
    expect(held).toBeGreaterThan(0)
  })
})
