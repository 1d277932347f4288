import * as fc from 'fast-check'
import { isObject, list, parseJson, string, type JsonObject } from '#base'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { readOperation } from './operations.ts'
import { createGeminiTranscriber } from './transcribe.ts'

const HEADER = { sessionId: 's1', projectHash: 'h', startTime: '2026-11-15T07:00:00.000Z', kind: 'main' }
const CONTEXT = {
  id: 'ctx',
  type: 'user',
  content: [{ text: '<session_context>\nhere\n</session_context>' }],
}

function user(id: string, text: string, timestamp = `2026-11-15T07:00:00.${id}Z`): JsonObject {
  return { id, timestamp, type: 'user', content: [{ text }] }
}

function answer(id: string, text: string, more: JsonObject = {}): JsonObject {
  const tokens = { input: 100, output: 5, cached: 40, thoughts: 2, tool: 0, total: 107 }
  const timestamp = `2026-11-15T07:00:00.${id}Z`
  return { id, timestamp, type: 'gemini', content: text, thoughts: [], tokens, model: 'g', ...more }
}

function transcribe(operations: readonly unknown[]): readonly JsonObject[] {
  const transcriber = createGeminiTranscriber({ id: 's1', cwd: '/w' })
  return operations
    .flatMap((each) => {
      const operation = readOperation(typeof each === 'string' ? each : JSON.stringify(each))
      return operation === undefined ? [] : transcriber.take(operation)
    })
    .flatMap((line) => {
      const read = parseJson(line)
      return isObject(read) ? [read] : [{ type: 'damage', text: line }]
    })
}

function blocksOf(line: JsonObject): readonly unknown[] {
  return list(line['message'], 'content')
}

/** The texts on the way from the last spoken line to the beginning: what the model sees. */
function seen(lines: readonly JsonObject[]): readonly string[] {
  const byId = new Map(lines.map((line) => [string(line, 'uuid'), line]))
  const texts: string[] = []
  let at = lines.findLast(({ type, isMeta }) => (type === 'user' || type === 'assistant') && isMeta !== true)
  while (at !== undefined) {
    if (at['isMeta'] !== true) texts.unshift(...blocksOf(at).flatMap((block) => string(block, 'text') ?? []))
    at = byId.get(string(at, 'parentUuid'))
  }
  return texts
}

const CALL = {
  id: 'c1',
  name: 'run_shell_command',
  args: { command: 'ls' },
  status: 'success',
  result: [{ functionResponse: { id: 'c1', name: 'run_shell_command', response: { output: 'a.txt' } } }],
}

test('[GEM2] an answer that is written again adds what is new in it, and is counted once', () => {
  const lines = transcribe([
    HEADER,
    user('1', 'go'),
    answer('2', 'one moment'),
    answer('2', 'one moment', { toolCalls: [CALL] }),
    { id: '3', type: 'user', content: CALL.result },
    answer('4', 'done'),
  ])
  expect(lines.map(({ type, uuid, parentUuid }) => [type, uuid, parentUuid])).toEqual([
    ['transcribed', 's1:1', undefined],
    ['user', '1', null],
    ['assistant', '2', '1'],
    ['assistant', '2:1', '2'],
    ['user', '2:2', '2:1'],
    ['assistant', '4', '2:2'],
  ])
  expect(lines.slice(2, 5).map((line) => blocksOf(line))).toEqual([
    [{ type: 'text', text: 'one moment' }],
    [{ type: 'tool_use', id: 'c1', name: 'run_shell_command', input: { command: 'ls' } }],
    [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'a.txt' }], is_error: false }],
  ])
  const usage = {
    input_tokens: 60,
    output_tokens: 7,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 0,
  }
  expect(lines[3]).toMatchObject({ message: { id: '2', model: 'g', stop_reason: 'tool_use', usage } })
})

test('[GEM3] what the rewriting of a resumed session leaves out stays: times, tokens, models, thoughts', () => {
  const thoughts = [{ subject: 'Plan', description: 'first this', timestamp: 't' }]
  const before = [
    HEADER,
    { $set: { messages: [CONTEXT] } },
    user('1', 'go'),
    answer('2', 'well', { thoughts }),
  ]
  const late = '2026-11-16T00:00:00.000Z'
  const rewritten = [
    { ...CONTEXT, timestamp: late },
    user('1', 'go', late),
    {
      id: '2',
      timestamp: late,
      type: 'gemini',
      content: [{ text: '**Plan** first this', thought: true }, { text: 'well' }],
    },
  ]
  const resumed = [HEADER, { $set: { messages: [CONTEXT] } }, { $set: { messages: rewritten } }]
  const lines = transcribe([...before, ...resumed, user('3', 'and now?')])
  expect(transcribe([...before, ...resumed])).toEqual(transcribe(before))
  expect(seen(lines)).toEqual(['go', 'well', 'and now?'])
  expect(lines.find(({ uuid }) => uuid === '2')).toMatchObject({
    timestamp: '2026-11-15T07:00:00.2Z',
    message: {
      model: 'g',
      content: [{ type: 'thinking', thinking: '**Plan** first this' }, { text: 'well' }],
    },
  })
})

test('[GEM4] a session that was emptied by a second start still has what was in it', () => {
  const emptied = [HEADER, user('1', 'go'), answer('2', 'well'), HEADER, { $set: { messages: [CONTEXT] } }]
  expect(seen(transcribe(emptied))).toEqual(['go', 'well'])
  const lines = transcribe([...emptied, user('3', 'who are you?')])
  expect(seen(lines)).toEqual(['who are you?'])
  expect(lines.flatMap((line) => blocksOf(line).map((block) => string(block, 'text')))).toContain('well')
})

test('[GEM5] what a rewind takes away is a branch', () => {
  const lines = transcribe([
    HEADER,
    user('1', 'go'),
    answer('2', 'left'),
    user('3', 'no'),
    { $rewindTo: '3' },
    user('4', 'yes'),
    { $rewindTo: 'nobody-knows' },
    user('5', 'anew'),
  ])
  expect(
    lines.flatMap(({ type, uuid, parentUuid }) => (type === 'transcribed' ? [] : [[uuid, parentUuid]])),
  ).toEqual([
    ['1', null],
    ['2', '1'],
    ['3', '2'],
    ['4', '2'],
    ['5', null],
  ])
})

test('[GEM6] a compaction is recognised by the conversation that takes the place of the other', () => {
  const kept = [
    CONTEXT,
    user('20', '<state_snapshot>we did this</state_snapshot>'),
    {
      id: '21',
      timestamp: 't',
      type: 'gemini',
      content: [{ text: 'Got it. Thanks for the additional context!' }],
    },
    user('22', 'the last prompt'),
  ]
  const lines = transcribe([
    HEADER,
    user('1', 'go'),
    answer('2', 'well'),
    { $set: { messages: kept } },
    answer('30', 'on'),
  ])
  const boundary = lines.find(({ subtype }) => subtype === 'compact_boundary')
  expect(boundary).toMatchObject({ type: 'system', parentUuid: null, logicalParentUuid: '2' })
  expect(lines.find(({ isCompactSummary }) => isCompactSummary === true)).toMatchObject({ uuid: '20' })
  expect(seen(lines).slice(1)).toEqual([
    'Got it. Thanks for the additional context!',
    'the last prompt',
    'on',
  ])
})

test('[GEM7] what the client says to the person is a notice, what it puts in the place of the person an injection', () => {
  const lines = transcribe([
    { $set: { messages: [CONTEXT] } },
    { id: '1', type: 'user', content: [{ text: '<hook_context>x</hook_context>' }, { text: 'go' }] },
    { id: '2', type: 'error', content: 'API said no', timestamp: 't' },
    { id: '3', type: 'info', content: [{ text: 'Update available' }] },
    { $set: { summary: 'A title' } },
    { id: '4', type: 'of-tomorrow', content: 'x' },
    'not {json',
  ])
  expect(
    lines.map(({ type, isMeta, level, content, aiTitle }) => [type, isMeta ?? level ?? aiTitle, content]),
  ).toEqual([
    ['transcribed', undefined, undefined],
    ['user', true, undefined],
    ['user', true, undefined],
    ['user', undefined, undefined],
    ['system', 'error', 'API said no'],
    ['system', 'info', 'Update available'],
    ['ai-title', 'A title', undefined],
    ['transcribed', undefined, undefined],
    ['damage', undefined, undefined],
  ])
})

/** What happens to a session, one thing after the other; ids and texts come from the position. */
type Step = 'prompt' | 'answer' | 'call' | 'again' | 'resume' | 'empty' | 'rewind'
const step = fc.constantFrom<Step>(
  'prompt',
  'prompt',
  'answer',
  'answer',
  'call',
  'again',
  'resume',
  'empty',
  'rewind',
)

/** Gemini's own reading of its log: a map of messages by id. */
function toOperations(steps: readonly Step[]): {
  readonly operations: readonly unknown[]
  readonly effective: readonly string[]
} {
  const operations: unknown[] = [HEADER, { $set: { messages: [CONTEXT] } }]
  let effective = new Map<string, JsonObject>()
  const put = (message: JsonObject): void => {
    effective.set(string(message, 'id') ?? '', message)
    operations.push(message, { $set: { lastUpdated: 'now' } })
  }
  for (const [index, each] of steps.entries()) {
    const id = `m${String(index)}`
    const ids = [...effective.keys()]
    const last = [...effective.values()].at(-1)
    if (each === 'prompt') put(user(id, `said ${id}`))
    if (each === 'answer') put(answer(id, `answered ${id}`))
    if (each === 'call')
      put(
        answer(id, `called ${id}`, {
          toolCalls: [{ ...CALL, id: `c${id}`, result: undefined, resultDisplay: 'ok' }],
        }),
      )
    if (each === 'again' && last !== undefined) put(last)
    if (each === 'resume') {
      const messages = [...effective.values()].map(({ tokens: _t, model: _m, ...rest }) => ({
        ...rest,
        timestamp: 'late',
      }))
      operations.push(
        HEADER,
        { $set: { messages: [CONTEXT] } },
        { $set: { messages: [CONTEXT, ...messages] } },
      )
    }
    if (each === 'empty') {
      operations.push(HEADER, { $set: { messages: [CONTEXT] } })
      effective = new Map()
    }
    if (each === 'rewind' && ids.length > 0) {
      const to = ids[index % ids.length] ?? ''
      operations.push({ $rewindTo: to })
      effective = new Map([...effective].slice(0, ids.indexOf(to)))
    }
  }
  put(user('end', 'said end'))
  const texts = [...effective.values()].map(
    (message) => string(message, 'content') ?? string(list(message, 'content')[0], 'text') ?? '',
  )
  return { operations, effective: texts }
}

test('[GEM8] whatever happens to a session: nothing is lost, nothing is told twice, and the model sees what Gemini has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, cut) => {
      const { operations, effective } = toOperations(steps)
      const lines = transcribe(operations)
      const texts = lines.flatMap((line) =>
        line['isMeta'] === true ? [] : blocksOf(line).flatMap((block) => string(block, 'text') ?? []),
      )
      const said = operations.flatMap(
        (each) => string(each, 'content') ?? string(list(each, 'content')[0], 'text') ?? [],
      )
      expect(texts.toSorted()).toEqual([...new Set(said)].toSorted())
      expect(seen(lines)).toEqual(effective)
      const uuids = lines.map(({ uuid }) => uuid)
      expect(new Set(uuids).size).toBe(uuids.length)
      // Any beginning of a log gives a beginning of its lines.
      const some = transcribe(operations.slice(0, cut % (operations.length + 1)))
      expect(lines.slice(0, some.length)).toEqual(some)
    }),
    runs(30),
  )
})

test('[GEM8] nothing in a line makes it throw', () => {
  const key = fc.constantFrom(
    'id',
    'type',
    'content',
    '$set',
    '$rewindTo',
    'messages',
    'toolCalls',
    'thoughts',
    'tokens',
    'functionResponse',
    'parts',
    'text',
    'sessionId',
    'projectHash',
  )
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>('user', 'gemini', 'info', '', null, 1, true, '\u2028\ud800'),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(key, tie('node'), { maxKeys: 4 }),
    ),
  })).node
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (operations) => {
      for (const line of transcribe(operations)) expect(line).toBeTypeOf('object')
    }),
    runs(100),
  )
})
