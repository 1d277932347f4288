import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSurvey, toMessages, type Entry } from '#model'
import { createRollout, openTempDir, readAll, ROLLOUT, runs, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isFailure } from './outcome.ts'

let dir: TempDir
let path: string
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, `rollout-2026-11-15T07-25-13-${ROLLOUT}.jsonl`)
})
afterEach(() => dir.remove())

async function read(...lines: readonly string[]): Promise<readonly Entry[]> {
  await writeFile(path, lines.join(''))
  const readings = await readAll(path)
  return readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

const anyLine = fc.oneof(
  fc.record({ type: fc.string(), payload: fc.jsonValue(), timestamp: fc.string() }),
  fc.record({
    type: fc.constantFrom('response_item', 'event_msg', 'compacted', 'token_usage_record', 'turn_context'),
    payload: fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom('message', 'reasoning', 'function_call', 'function_call_output', 'nobody'),
        role: fc.constantFrom('user', 'assistant', 'developer', 7),
        content: fc.jsonValue(),
        call_id: fc.oneof(fc.string(), fc.constant(null)),
        arguments: fc.string(),
        output: fc.jsonValue(),
        summary: fc.jsonValue(),
        replacement_history: fc.jsonValue(),
      }),
    ),
    metadata: fc.jsonValue(),
  }),
)

describe('lines of a rollout', () => {
  test('[CDX2] [READ3] whatever a line holds, it is one entry with its bytes, wherever pieces begin', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        fc.nat({ max: 40 }),
        async (lines, chunk, cut) => {
          const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
          const bytes = Buffer.from(text).subarray(0, Math.max(0, Buffer.byteLength(text) - cut))
          await writeFile(path, bytes)
          const readings = await readAll(path, { chunk })
          expect(readings).toEqual(await readAll(path))
          const told = readings.map((reading) =>
            reading.kind === 'entry'
              ? Buffer.from(reading.entry.raw).toString()
              : bytes.toString('utf8', reading.damage.offset, reading.damage.offset + reading.damage.length),
          )
          expect(told).toEqual(
            bytes
              .toString()
              .split('\n')
              .filter((line) => line.trim() !== ''),
          )
          if (cut === 0) expect(readings.every(({ kind }) => kind === 'entry')).toBe(true)
        },
      ),
      runs(60),
    )
  })

  test('[CDX2] a line or an item of a type that nobody knows is kept and named, and a line behind a broken one is read', async () => {
    const rollout = createRollout()
    const entries = await read(
      rollout.line('of_tomorrow', { a: 1 }),
      rollout.item({ type: 'item_of_tomorrow' }),
      '{"timestamp":"2026-11-15T00:00:00Z","type":"response_item","payl\n',
      `{"timestamp":"2026-11-1${rollout.prompt('said')}`,
    )
    expect(entries.map(({ kind, type }) => `${kind} ${type}`)).toEqual([
      'unknown of_tomorrow',
      'unknown response_item/item_of_tomorrow',
      'prompt response_item/message',
    ])
  })

  test('[CDX3] [READ12] what a person said is told from what was put in beside it, by its kind or by its first words', async () => {
    const rollout = createRollout()
    const user = (text: string, kinds?: readonly string[]): string =>
      rollout.item({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text }],
        ...(kinds && { internal_chat_message_metadata_passthrough: { content_item_kinds: kinds } }),
      })
    const entries = await read(
      user('<environment_context> is what I ask about', ['user.text']),
      user('anything', ['environments.environment_context']),
      user('words', ['unknown']),
      user('words'),
      user('<environment_context>\n  <cwd>/w</cwd>'),
      user('<turn_aborted>\nThe user interrupted'),
      user('# AGENTS.md instructions for /w'),
      user('<skill>\n<name>x</name>'),
      rollout.item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] }),
      rollout.item(
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'of the parent' }] },
        { inherited_user_message: true },
      ),
    )
    expect(entries.map(({ kind }) => kind)).toEqual([
      'prompt',
      'injection',
      'prompt',
      'prompt',
      ...Array.from({ length: 6 }, () => 'injection'),
    ])
  })

  test('[CDX4] [READ9] the lines of a response are one message, with what it cost, and the next response is another', async () => {
    const rollout = createRollout()
    const usage = { input_tokens: 100, cached_input_tokens: 60, output_tokens: 9, reasoning_output_tokens: 5 }
    const entries = await read(
      rollout.prompt('go'),
      rollout.item({ type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'hm' }] }),
      rollout.event({ type: 'item_completed', item: { type: 'AgentMessage' } }),
      rollout.reply('I run it'),
      rollout.call('c1', { cmd: 'a' }),
      rollout.call('c2', { cmd: 'b' }),
      rollout.bill('r1', usage),
      rollout.output('c1', 'Chunk ID: 1\nProcess exited with code 0\nOutput:\nfine'),
      rollout.output('c2', 'Chunk ID: 2\nProcess exited with code 3\nOutput:\nbad'),
      rollout.reply('Done'),
      rollout.event({ type: 'task_complete', last_agent_message: 'Done' }),
    )
    const replies = toMessages(entries).filter((message) => message.kind === 'reply')
    expect(replies).toMatchObject([
      {
        blocks: [{ kind: 'thinking' }, { kind: 'text' }, { kind: 'tool-use' }, { kind: 'tool-use' }],
        calls: [{ state: 'done' }, { state: 'failed' }],
        usage: { input: 40, cacheRead: 60, output: 9 },
        stopReason: 'tool_use',
      },
      { blocks: [{ text: 'Done' }], stopReason: 'end_turn' },
    ])
  })

  test('[CDX5] [E1.1] calls have their arguments parsed and keep their exact text; free text stays text; pictures are pictures', async () => {
    const rollout = createRollout()
    const entries = await read(
      rollout.item({ type: 'function_call', name: 'f', arguments: '{"a":1}', call_id: 'c1', namespace: 'n' }),
      rollout.item({ type: 'function_call', name: 'f', arguments: '{ "a": 1.0 }', call_id: 'c2' }),
      rollout.item({ type: 'function_call', name: 'f', arguments: 'no JSON', call_id: 'c3' }),
      rollout.item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'c4' }),
      rollout.item({
        type: 'local_shell_call',
        call_id: 'c5',
        status: 'completed',
        action: { command: ['ls'] },
      }),
      rollout.item({ type: 'web_search_call', id: 'ws', action: { query: 'q' } }),
      rollout.output('c1', [
        { type: 'input_text', text: 'Script failed\nOutput:' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
      ]),
    )
    expect(entries.map((entry) => ('blocks' in entry ? entry.blocks[0] : undefined))).toMatchObject([
      {
        kind: 'tool-use',
        id: 'c1',
        input: { a: 1 },
        extra: { openai: { type: 'function_call', namespace: 'n' } },
      },
      { id: 'c2', input: { a: 1 }, extra: { openai: { arguments: '{ "a": 1.0 }' } } },
      { id: 'c3', input: 'no JSON', extra: { openai: { arguments: 'no JSON' } } },
      { id: 'c4', name: 'apply_patch', input: { input: '*** Begin' } },
      { id: 'c5', name: 'local_shell', input: { command: ['ls'] } },
      { kind: 'unknown', value: { type: 'web_search_call', id: 'ws' } },
      {
        kind: 'tool-result',
        isError: true,
        content: [
          { kind: 'text' },
          { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
        ],
      },
    ])
  })

  test.each([
    ['Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 3\nOutput:\n', true],
    ['Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 3', false],
    ['Exit code: 1\nWall time: 0 seconds\nOutput:\n', true],
    ['{"output":"x","metadata":{"exit_code":2}}', true],
    ['{"output":"x","metadata":{"exit_code":0}}', false],
    ['aborted by user after 2.1s', true],
    ['unsupported call: f', true],
    ['The file says:\nExit code: 1', false],
    ['all is well', false],
  ])('[CDX5] %j: failed %s', (output, failed) => {
    expect(isFailure(output)).toBe(failed)
  })

  test('[CDX6] [E1.2] reasoning is read as far as it can be, and keeps its id and its encrypted form', async () => {
    const rollout = createRollout()
    const item = { type: 'reasoning', id: 'rs1', content: null, encrypted_content: 'gAAA' }
    const [readable, hidden] = await read(
      rollout.item({
        ...item,
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
      }),
      rollout.item({ ...item, summary: [], internal_chat_message_metadata_passthrough: { turn_id: 't' } }),
    )
    expect(readable).toMatchObject({
      provider: 'openai',
      blocks: [
        {
          kind: 'thinking',
          thinking: 'one\n\ntwo',
          extra: { openai: { id: 'rs1', encrypted_content: 'gAAA' } },
        },
      ],
    })
    expect(hidden).toMatchObject({
      blocks: [
        {
          kind: 'redacted-thinking',
          data: 'gAAA',
          extra: { openai: { ...item, summary: [] }, codex: { turn_id: 't' } },
        },
      ],
    })
  })

  test('[CDX7] [E4.1] each response is billed once, by its id; sums that Codex writes beside it are not', async () => {
    const rollout = createRollout()
    const usage = {
      input_tokens: 1040,
      cached_input_tokens: 400,
      output_tokens: 27,
      reasoning_output_tokens: 7,
    }
    const entries = await read(
      rollout.prompt('go'),
      rollout.reply('a'),
      rollout.bill('r1', usage),
      rollout.event({ type: 'token_count', info: { total_token_usage: { input_tokens: 9e9 } } }),
      rollout.bill('r1', usage),
      rollout.event({ type: 'token_count', info: { total_token_usage: { input_tokens: 9e9 } } }),
    )
    const survey = createSurvey('s')
    for (const entry of entries) survey.addEntry(entry)
    const { facts } = survey.finish()
    expect(facts).toMatchObject({
      replies: 1,
      usage: { input: 640, cacheRead: 400, output: 27 },
      contextTokens: 1067,
    })
  })

  test('[CDX11] a stopped turn, a failed one and one that nobody ended are told apart', async () => {
    const rollout = createRollout()
    const entries = await read(
      rollout.event({ type: 'turn_aborted', reason: 'interrupted' }),
      rollout.event({ type: 'task_complete', error: { message: 'high demand' } }),
      rollout.event({ type: 'error', message: 'of an old version' }),
      rollout.event({ type: 'task_started', turn_id: 't' }),
    )
    expect(entries).toMatchObject([
      { kind: 'interruption', text: 'The turn was stopped: interrupted' },
      { kind: 'notice', level: 'error', text: 'high demand' },
      { kind: 'notice', level: 'error', text: 'of an old version' },
      { kind: 'record', type: 'event_msg/task_started' },
    ])
  })
})
