import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import type { AgentFact } from '../driver.ts'
import { createUpdateReader } from './read-update.ts'

function readAll(updates: readonly unknown[]): readonly AgentFact[] {
  const reader = createUpdateReader()
  return [...updates.flatMap((update) => reader.read(update)), ...reader.finish().facts]
}

function chunk(what: 'message' | 'thought', text: string, messageId?: string): object {
  return {
    sessionUpdate: `agent_${what}_chunk`,
    content: { type: 'text', text },
    ...(messageId === undefined ? {} : { messageId }),
  }
}

test('[DRV1] [DRV55] pieces make up their blocks, in the order in which they came', () => {
  const facts = readAll([
    chunk('thought', 'first '),
    chunk('thought', 'this'),
    chunk('message', 'then '),
    chunk('message', 'that'),
    { sessionUpdate: 'tool_call', toolCallId: 'one', title: 'ls', kind: 'execute', status: 'pending' },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'one',
      rawInput: { command: 'ls' },
      status: 'in_progress',
    },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'one',
      _meta: { terminal_output_delta: { data: 'a\n' } },
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'one', status: 'completed' },
    { sessionUpdate: 'tool_call_update', toolCallId: 'one', status: 'completed' },
    chunk('message', 'done'),
  ])
  expect(facts.flatMap((fact) => (fact.kind === 'message' ? fact.blocks : []))).toEqual([
    { kind: 'thinking', thinking: 'first this' },
    { kind: 'text', text: 'then that' },
    { kind: 'tool-use', id: 'one', name: 'execute', input: { command: 'ls' } },
    { kind: 'tool-result', toolUseId: 'one', content: [{ kind: 'text', text: 'a\n' }], isError: false },
    { kind: 'text', text: 'done' },
  ])
})

test('[DRV55] a call that is first heard of when it is asked about is told before the question', () => {
  const reader = createUpdateReader()
  reader.read(chunk('message', 'let me'))
  const { call, facts } = reader.readAsked({
    toolCallId: 'one',
    name: 'shell',
    title: 'ls',
    rawInput: { cmd: 'ls' },
  })
  expect(call).toMatchObject({ id: 'one', name: 'shell', input: { cmd: 'ls' } })
  expect(facts.map((fact) => fact.kind === 'message' && fact.blocks[0]?.kind)).toEqual(['text', 'tool-use'])
  expect(reader.readAsked({ toolCallId: 'one' }).facts).toEqual([])
})

test('[DRV18] [DRV59] a model that Codex could not ask is a failure, and what is said of it no answer', () => {
  const reader = createUpdateReader()
  const error = {
    message: 'Reconnecting... 2/5',
    additionalDetails: 'last status: 429',
    codexErrorInfo: { x: { httpStatusCode: 429 } },
  }
  expect(
    reader.read({
      sessionUpdate: 'session_info_update',
      _meta: { codex: { error: { ...error, willRetry: true } } },
    }),
  ).toEqual([
    { kind: 'retrying', message: 'last status: 429', status: 429, attempt: 2, attempts: 5, inMs: 0 },
  ])
  reader.read({
    sessionUpdate: 'session_info_update',
    _meta: { codex: { threadStatus: { type: 'systemError' } } },
  })
  expect(reader.read(chunk('message', 'It failed.'))).toEqual([])
  expect(reader.finish()).toEqual({ facts: [], failure: 'It failed.' })
  expect(reader.finish()).toEqual({ facts: [], failure: undefined })
})

const anyUpdate = fc.oneof(
  fc.record({
    sessionUpdate: fc.constantFrom(
      'agent_message_chunk',
      'agent_thought_chunk',
      'tool_call',
      'tool_call_update',
      'plan',
      'session_info_update',
    ),
    messageId: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    toolCallId: fc.constantFrom('one', 'two', ''),
    status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'odd'),
    content: fc.oneof(fc.record({ type: fc.constant('text'), text: fc.string() }), fc.jsonValue()),
    rawInput: fc.jsonValue(),
    _meta: fc.jsonValue(),
  }),
  fc.jsonValue(),
)

test('[DRV36] [DRV55] nothing that could come makes the reader fail, and pieces make up what is told', () => {
  fc.assert(
    fc.property(fc.array(anyUpdate, { maxLength: 30 }), (updates) => {
      const facts = readAll(updates)
      const pieces = new Map<string, string>()
      for (const fact of facts) {
        if (fact.kind === 'delta') {
          const key = `${fact.messageId}/${String(fact.block)}`
          pieces.set(key, (pieces.get(key) ?? '') + fact.text)
        }
        const [block] = fact.kind === 'message' ? fact.blocks : []
        if (fact.kind !== 'message' || (block?.kind !== 'text' && block?.kind !== 'thinking')) continue
        const text = block.kind === 'text' ? block.text : block.thinking
        expect(pieces.get(`${String(fact.messageId)}/${String(fact.block)}`)).toBe(text)
      }
      const results = facts.flatMap((fact) =>
        fact.kind === 'message'
          ? fact.blocks.flatMap((each) => (each.kind === 'tool-result' ? each.toolUseId : []))
          : [],
      )
      expect(new Set(results).size).toBe(results.length)
    }),
    runs(1_000),
  )
})
