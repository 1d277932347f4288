import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toMessages } from './assemble.ts'
import type { Entry } from './entry.ts'
import type { Message } from './message.ts'
import { toTurns } from './turn.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

async function entriesOf(lines: readonly object[]): Promise<readonly Entry[]> {
  const path = join(dir.path, 'transcript.jsonl')
  await writeFile(path, toJsonl(lines))
  return (await readAll(path)).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

async function messagesOf(lines: readonly object[]): Promise<readonly Message[]> {
  return toMessages(await entriesOf(lines))
}

const say = (text: string): object[] => [{ type: 'text', text }]
const call = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } })

describe('messages', () => {
  test('[READ9] one message from several lines keeps every block in order and the last usage', async () => {
    const lines = createLines()
    const message = (content: object[], output: number): object => ({
      message: {
        id: 'msg_1',
        model: 'm',
        content,
        stop_reason: 'tool_use',
        usage: { output_tokens: output },
      },
    })
    const [prompt, reply] = await messagesOf([
      lines.prompt('go'),
      lines.reply([], message([{ type: 'thinking', thinking: 'hm', signature: 's' }], 1)),
      lines.reply([], message(say('looking'), 1)),
      lines.attachment('date'),
      lines.reply([], message([call('toolu_1')], 512)),
    ])
    expect(prompt?.kind).toBe('prompt')
    expect(reply).toMatchObject({
      kind: 'reply',
      messageId: 'msg_1',
      blocks: [{ kind: 'thinking' }, { kind: 'text' }, { kind: 'tool-use' }],
      usage: { output: 512 },
    })
  })

  test('[READ10] parallel results sit with their calls, in whatever order they came', async () => {
    const lines = createLines()
    const [reply] = await messagesOf([
      lines.reply([call('a'), call('b'), call('c')]),
      lines.result('c', 'third'),
      lines.result('a', 'first', { permissionDecision: { decision: 'accept', source: 'user_temporary' } }),
      lines.result('b', 'no', { toolDenialKind: 'user-rejected' }),
    ])
    expect(reply).toMatchObject({
      calls: [
        { use: { id: 'a' }, state: 'done', result: { content: [{ text: 'first' }] } },
        { use: { id: 'b' }, state: 'refused' },
        { use: { id: 'c' }, state: 'done', result: { content: [{ text: 'third' }] } },
      ],
    })
  })

  test('[READ10] a call without a result is pending, and a result without a call is shown as what it is', async () => {
    const lines = createLines()
    const messages = await messagesOf([lines.result('gone', 'whose?'), lines.reply([call('a')])])
    expect(messages).toMatchObject([
      { kind: 'orphan', toolUseId: 'gone' },
      { kind: 'reply', calls: [{ state: 'pending' }] },
    ])
  })

  test('[READ10] of one line with two results, the one whose call is missing is shown too', async () => {
    const lines = createLines()
    const results = ['a', 'gone'].map((id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: `result of ${id}`,
    }))
    const messages = await messagesOf([
      lines.reply([call('a')]),
      lines.result('a', '', { message: { role: 'user', content: results } }),
    ])
    expect(messages).toMatchObject([
      { kind: 'reply', calls: [{ state: 'done' }] },
      { kind: 'orphan', toolUseId: 'gone', answer: { content: [{ text: 'result of gone' }] } },
    ])
  })

  test('[READ11] a prompt sent while a turn runs stands in its place and belongs to that turn', async () => {
    const lines = createLines()
    const queued = {
      type: 'queued_command',
      prompt: 'also this',
      source_uuid: 'minted-by-the-client',
      commandMode: 'prompt',
    }
    const messages = await messagesOf([
      lines.prompt('first'),
      lines.reply([call('a')]),
      lines.result('a', 'ok'),
      lines.attachment('queued_command', { attachment: queued }),
      lines.reply(say('both done')),
      lines.prompt('second'),
    ])
    expect(messages.map(({ kind }) => kind)).toEqual(['prompt', 'reply', 'prompt', 'reply', 'prompt'])
    expect(messages[2]).toMatchObject({ midTurn: true, entries: [{ sentAs: 'minted-by-the-client' }] })
    expect(toTurns(messages).map((turn) => turn.messages.length)).toEqual([4, 1])
  })

  test('[READ12] a command comes with its output, a compaction with its summary', async () => {
    const lines = createLines()
    const messages = await messagesOf([
      lines.prompt('<command-name>/context</command-name>'),
      { type: 'mode', mode: 'normal', sessionId: 's' },
      lines.prompt('<local-command-stdout>lots</local-command-stdout>'),
      lines.system('compact_boundary', { compactMetadata: { trigger: 'manual' } }),
      lines.prompt('what came before', { isCompactSummary: true }),
    ])
    expect(messages.filter(({ kind }) => kind !== 'aside')).toMatchObject([
      { kind: 'command', command: '/context', output: 'lots' },
      { kind: 'compaction', compaction: { trigger: 'manual' }, summary: [{ text: 'what came before' }] },
    ])
  })

  test('[READ9] whatever the entries, each is in exactly one message', async () => {
    const step = fc.constantFrom(
      'prompt',
      'reply',
      'call',
      'result',
      'attachment',
      'system',
      'meta',
      'command',
      'output',
      'boundary',
      'summary',
      'unknown',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const lines = createLines()
        const made = steps.map((kind, index): object => {
          switch (kind) {
            case 'prompt':
              return lines.prompt('x')
            case 'reply':
              return lines.reply(
                say('y'),
                index % 2 === 0 ? { message: { id: 'same', content: say('z') } } : {},
              )
            case 'call':
              return lines.reply([call(`t${index % 3}`)])
            case 'result':
              return lines.result(`t${index % 4}`, 'r')
            case 'attachment':
              return lines.attachment('date')
            case 'system':
              return lines.system('api_error', { level: 'error', content: 'oh' })
            case 'meta':
              return lines.prompt('m', { isMeta: true })
            case 'command':
              return lines.prompt('<command-name>/x</command-name>')
            case 'output':
              return lines.prompt('<local-command-stdout>o</local-command-stdout>')
            case 'boundary':
              return lines.system('compact_boundary')
            case 'summary':
              return lines.prompt('s', { isCompactSummary: true })
            default:
              return { type: 'from-the-future', n: index }
          }
        })
        const entries = await entriesOf(made)
        const placed = toMessages(entries).flatMap((message) =>
          message.entries.map(({ place }) => place.offset),
        )
        expect(placed.toSorted((a, b) => a - b)).toEqual(entries.map(({ place }) => place.offset))
      }),
      runs(150),
    )
  })
})

describe('turns', () => {
  test('[E3.1] turns are derived from entries, and results belong to the turn that called', async () => {
    const lines = createLines()
    const messages = await messagesOf([
      lines.prompt('one'),
      lines.reply([call('a')], {
        message: {
          id: 'm1',
          content: [call('a')],
          stop_reason: 'tool_use',
          usage: { input_tokens: 3, output_tokens: 2 },
        },
      }),
      lines.prompt('[Request interrupted by user for tool use]'),
      lines.prompt('two'),
      lines.result('a', 'late'),
      lines.reply(say('done')),
      lines.prompt('three'),
      lines.reply(say('API Error: 500'), {
        isApiErrorMessage: true,
        message: { model: '<synthetic>', content: say('API Error: 500') },
      }),
      lines.prompt('four'),
    ])
    const turns = toTurns(messages)
    expect(turns.map(({ state }) => state)).toEqual(['interrupted', 'answered', 'failed', 'open'])
    expect(turns[0]).toMatchObject({ toolCalls: 1, usage: { input: 3, output: 2 } })
    expect(turns[0]?.messages.find(({ kind }) => kind === 'reply')).toMatchObject({
      calls: [{ state: 'done' }],
    })
  })
})
