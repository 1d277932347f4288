import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTokens } from '#memory'
import { createLines, findAnthropicFaults, findResponsesFaults, runs, SESSION, readLines } from '#testing'
import { toAnthropic } from './anthropic.ts'
import { needsCompaction, toCompactedSaid, toCompaction } from './compact.ts'
import { toOpenAIResponses } from './openai-responses.ts'
import { restore } from './restore.ts'
import { toSaid } from './said.ts'
import { toTrimmed } from './trim.ts'

interface SessionShape {
  readonly turns: number
  readonly words: number
  readonly window: number
}

/** A session of so many turns whose last answer says how full the window is. */
function toSession({ turns, words, window }: SessionShape): readonly object[] {
  const make = createLines()
  return Array.from({ length: turns }, (_none, at) => {
    const share = Math.round((window * (at + 1)) / turns)
    const usage = { input_tokens: share - 100, output_tokens: 100 }
    const answer = {
      id: `msg_turn_${at}`,
      role: 'assistant',
      model: 'claude-opus-5-5',
      stop_reason: 'end_turn',
      usage,
      content: [{ type: 'text', text: `Answer ${at + 1}. ${'word '.repeat(words)}` }],
    }
    return [
      make.prompt(`Question ${at + 1}: what is in file-${at + 1}.ts?`),
      make.reply([
        { type: 'tool_use', id: `toolu_${at}`, name: 'Read', input: { file_path: `/w/file-${at + 1}.ts` } },
      ]),
      make.result(
        `toolu_${at}`,
        at === 4 ? 'no such file' : `contents of ${at + 1}`,
        at === 4
          ? {
              message: {
                role: 'user',
                content: [
                  { type: 'tool_result', tool_use_id: 'toolu_4', content: 'no such file', is_error: true },
                ],
              },
            }
          : {},
      ),
      make.reply([], { message: answer }),
    ]
  }).flat()
}

const OPTIONS = { id: 'c1', sessionId: SESSION, at: '2026-11-16T12:00:00.000Z', countTokens }

describe('compaction', () => {
  test('[E5.1] [E8.1] of fifty restored turns and 150,000 tokens forty are summarised and ten stay word by word', async () => {
    const entries = await readLines(toSession({ turns: 50, words: 2_900, window: 150_000 }))
    const { tokens, turns } = restore(entries, 'anthropic')
    expect([turns.length, tokens.context]).toEqual([50, 150_000])
    expect(needsCompaction(tokens.context, 200_000)).toBe(true)
    const early = await readLines(toSession({ turns: 49, words: 10, window: 149_000 }))
    expect(needsCompaction(restore(early, 'anthropic').tokens.context, 200_000)).toBe(false)

    const record = await toCompaction(entries, OPTIONS)
    if (record === undefined) throw new Error('there is something to compact')
    expect(record.turns).toEqual({ summarised: 40, kept: 10 })
    expect(record.by).toBe('extract')
    expect(record.tokens.after).toBeLessThan(60_000)
    for (const turn of [1, 17, 40]) expect(record.text).toContain(`Question ${turn}:`)
    expect(record.text).not.toContain('Question 41:')
    expect(record.text).toContain('turn 5: Read /w/file-5.ts: no such file')
    expect(record.text).toContain('/w/file-3.ts')

    const { messages } = toAnthropic(toCompactedSaid(record, entries))
    expect(findAnthropicFaults(messages)).toEqual([])
    // What stays is what a request without a compaction ends with, to the byte.
    const whole = toAnthropic(toSaid(entries)).messages
    const [first, ...kept] = messages
    expect(JSON.stringify(first)).toContain(JSON.stringify(record.text).slice(1, -1))
    expect(kept).toEqual(whole.slice(-kept.length))
    expect(JSON.stringify(kept)).toContain('Answer 41.')
    expect(JSON.stringify(kept).includes('Answer 40.')).toBe(false)
  })

  test('[E5.1] taken back, the conversation is exactly what it was; gone on with, what came since is there', async () => {
    const lines = toSession({ turns: 14, words: 20, window: 150_000 })
    const entries = await readLines(lines)
    const before = restore(entries, 'anthropic')
    const record = await toCompaction(entries, { ...OPTIONS, goal: 0 })
    if (record === undefined) throw new Error('there is something to compact')
    // The record is all that a compaction is: the entries are not touched.
    expect(restore(entries, 'anthropic')).toEqual(before)
    const later = await readLines([
      ...lines,
      createLines().prompt('And now?', { uuid: 'later', parentUuid: lastId(lines) }),
    ])
    const { messages } = toAnthropic(toCompactedSaid(record, later))
    expect(findAnthropicFaults(messages)).toEqual([])
    expect(JSON.stringify(messages.at(-1))).toContain('And now?')
  })

  test('[E5.1] shortening alone is enough where results are long, and says where the rest is', async () => {
    const make = createLines()
    const lines = Array.from({ length: 12 }, (_none, at) => [
      make.prompt(`Question ${at}`),
      make.reply([
        {
          type: 'tool_use',
          id: `toolu_${at}`,
          name: 'Write',
          input: { file_path: '/w/a.ts', content: 'x'.repeat(900) },
        },
      ]),
      make.result(`toolu_${at}`, `${'début '.repeat(400)}${'🧵'.repeat(3_000)} fin`),
      make.reply([{ type: 'text', text: `Answer ${at}` }]),
    ]).flat()
    const entries = await readLines(lines)
    const record = await toCompaction(entries, OPTIONS)
    expect(record?.by).toBe('trim')
    expect(record?.trims.map(({ what }) => what)).toEqual(['body', 'output', 'body', 'output'])
    if (record === undefined) return
    const said = toCompactedSaid(record, entries)
    const text = JSON.stringify(toAnthropic(said).messages)
    expect(findAnthropicFaults(toAnthropic(said).messages)).toEqual([])
    expect(text).toContain(`entry \\"${entries[2]?.id ?? ''}\\", whole \\"turn\\" has them`)
    expect(text).toContain(' fin')
    for (const at of [0, 11]) expect(text).toContain(`Answer ${at}`)
    // Shortened twice is shortened once.
    const again = toTrimmed(said, record)
    expect(again.trims).toEqual([])
    expect(again.said).toEqual(said)
  })

  test('[E5.1] items of OpenAI are shortened too, though they go back as they were otherwise', async () => {
    const make = createLines()
    const lines = Array.from({ length: 12 }, (_none, at) => {
      const input = { file_path: '/w/a.ts', content: `${String(at)} ${'x'.repeat(900)}` }
      const openai = { type: 'function_call', id: `fc_${at}`, arguments: JSON.stringify(input, undefined, 1) }
      return [
        make.prompt(`Question ${at}`),
        make.reply([{ type: 'tool_use', id: `call_${at}`, name: 'write', input, openai }], {
          provider: 'codex',
        }),
        make.result(`call_${at}`, 'ok'),
        make.reply([{ type: 'text', text: `Answer ${at}` }], { provider: 'codex' }),
      ]
    }).flat()
    const entries = await readLines(lines)
    const record = await toCompaction(entries, OPTIONS)
    if (record === undefined) throw new Error('there is something to compact')
    const { input } = toOpenAIResponses(toCompactedSaid(record, entries))
    expect(findResponsesFaults(input)).toEqual([])
    const calls = input.filter((item) => 'arguments' in item).map((item) => JSON.stringify(item).length)
    expect(calls.slice(0, 2).every((length) => length < 600)).toBe(true)
    expect(calls.slice(2).every((length) => length > 900)).toBe(true)
    expect(JSON.stringify(input)).toContain('fc_0')
  })

  test('[RST9] a summary that somebody else wrote says where each turn is', async () => {
    const entries = await readLines(toSession({ turns: 14, words: 20, window: 150_000 }))
    const summarise = async (): Promise<string> => 'It was about files.'
    const record = await toCompaction(entries, { ...OPTIONS, goal: 0, summarise })
    expect(record?.by).toBe('agent')
    expect(record?.text).toMatch(/^It was about files\.\n\n## Where each turn is\n\n- Turn 1 \(entry /u)
    expect(record?.text.match(/entry [0-9a-f-]{36}/gu)).toHaveLength(4)
  })

  test('[RST9] turns that stay and would not fit are shortened, and then fewer', async () => {
    const make = createLines()
    const long = (at: number): string => `${String(at)} ${'a word of a long answer '.repeat(9_000)}`
    const lines = Array.from({ length: 14 }, (_none, at) => [
      make.prompt(`Question ${at + 1}`),
      make.reply([{ type: 'tool_use', id: `toolu_${at}`, name: 'Bash', input: { command: 'ls' } }]),
      make.result(`toolu_${at}`, long(at)),
      make.reply([{ type: 'text', text: at < 11 ? `Answer ${at + 1}` : long(at) }]),
    ]).flat()
    const entries = await readLines(lines)
    const record = await toCompaction(entries, OPTIONS)
    if (record === undefined) throw new Error('there is something to compact')
    expect(record.turns).toEqual({ summarised: 13, kept: 1 })
    expect(record.tokens.after).toBeLessThan(100_000)
    const { messages } = toAnthropic(toCompactedSaid(record, entries))
    expect(findAnthropicFaults(messages)).toEqual([])
    expect(countTokens(JSON.stringify(messages))).toBeLessThan(110_000)
    for (const turn of [1, 13]) expect(record.text).toContain(`Turn ${turn} (entry`)
  })

  test('[E5.1] what stays is asked, decided, done, changed, failed, left to do and remembered', async () => {
    const make = createLines()
    const entries = await readLines([
      make.prompt('Fix the clock.'),
      make.reply([
        { type: 'text', text: 'I will use UTC instead of local time, because CI runs everywhere.' },
        {
          type: 'tool_use',
          id: 't1',
          name: 'Edit',
          input: { file_path: '/w/clock.ts', old_string: 'a', new_string: 'b' },
        },
        { type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'npm test', description: 'Run' } },
        { type: 'tool_use', id: 't3', name: 'Read', input: { file_path: '/w/readme.md' } },
        {
          type: 'tool_use',
          id: 't4',
          name: 'TodoWrite',
          input: { todos: [{ content: 'Add a test', status: 'pending' }] },
        },
        {
          type: 'tool_use',
          id: 't5',
          name: 'apply_patch',
          input: { input: '*** Begin Patch\n*** Update File: b.ts\n+x' },
        },
      ]),
      make.result('t1', 'ok'),
      make.result('t2', '', {
        message: {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't2',
              is_error: true,
              content: 'start\nTypeError: x is not\n  at y',
            },
          ],
        },
      }),
      ...['t3', 't4', 't5'].map((id) => make.result(id, 'ok')),
      make.reply([{ type: 'text', text: 'Done.\n[REMEMBER] {"content": "clocks are UTC"}' }]),
      make.prompt('Next.'),
      make.reply([{ type: 'text', text: 'Yes.' }]),
    ])
    const record = await toCompaction(entries, { ...OPTIONS, keepTurns: 1, goal: 0 })
    for (const words of [
      'Asked: Fix the clock.',
      'Decided: I will use UTC instead of local time, because CI runs everywhere.',
      'Did: Edit /w/clock.ts; Bash npm test; apply_patch b.ts',
      'Came to: Done.',
      '## To be remembered\n\n- clocks are UTC',
      '## Files that were changed, the last one first\n\n- b.ts\n- /w/clock.ts',
      '## Files that were only read\n\n- /w/readme.md',
      '- turn 1: Bash npm test: TypeError: x is not',
      '- Add a test (pending)',
    ])
      expect(record?.text).toContain(words)
  })

  test('[E5.1] wherever the border falls, calls and results stay together and every request is taken', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 1, max: 14 }),
        fc.constantFrom(0, 1_000_000),
        async (turns, keepTurns, goal) => {
          const entries = await readLines(toSession({ turns, words: 3, window: 1_000 }))
          const record = await toCompaction(entries, { ...OPTIONS, keepTurns, goal })
          if (record === undefined) {
            expect(keepTurns).toBeGreaterThanOrEqual(turns)
            return
          }
          expect(findAnthropicFaults(toAnthropic(toCompactedSaid(record, entries)).messages)).toEqual([])
          expect(await toCompaction(entries, { ...OPTIONS, keepTurns, goal })).toEqual(record)
        },
      ),
      runs(40),
    )
  })
})

function lastId(lines: readonly object[]): string {
  const last = lines.at(-1)
  return last !== undefined && 'uuid' in last && typeof last.uuid === 'string' ? last.uuid : ''
}
