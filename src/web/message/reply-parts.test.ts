import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Block, ReplyMessage, SessionSummary, ToolCall } from '#model'
import { runs } from '#testing'
import { describeCalls, findStarted, toReplyParts, toToolIcon } from './reply-parts.ts'
import { findTodos } from './todos.ts'

function reply(blocks: readonly Block[]): ReplyMessage {
  const calls = blocks.flatMap((block): ToolCall[] =>
    block.kind === 'tool-use' ? [{ use: block, state: 'done' }] : [],
  )
  return { kind: 'reply', id: 'r', entries: [], blocks, calls, synthetic: false, apiError: false }
}

const block = fc.oneof(
  fc.constantFrom('', ' \n', 'words').map((text): Block => ({ kind: 'text', text })),
  fc.constantFrom('', 'thought').map((thinking): Block => ({ kind: 'thinking', thinking })),
  fc.nat(50).map((id): Block => ({ kind: 'tool-use', id: `t${id}`, name: 'Read', input: {} })),
)

test('[WEB30] calls that follow each other stand together, in order, and nothing that was said is lost', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 30 }), (blocks) => {
      const parts = toReplyParts(reply(blocks))
      const shown = parts.flatMap((part): Block[] =>
        part.kind === 'calls' ? part.calls.map(({ use }) => use) : [part.block],
      )
      const said = blocks.filter(
        (one) => one.kind === 'tool-use' || JSON.stringify(one).match(/words|thought/) !== null,
      )
      expect(shown.map((one) => (one.kind === 'tool-use' ? one.id : one))).toEqual(
        said.map((one) => (one.kind === 'tool-use' ? one.id : one)),
      )
      for (const [index, part] of parts.entries())
        expect(part.kind === 'calls' && parts[index + 1]?.kind === 'calls').toBe(false)
    }),
    runs(200),
  )
})

test('[WEB30] many calls are told in one line', () => {
  const names = ['Read', 'Read', 'Bash', 'Read', 'Edit']
  const calls = names.map((name, id): ToolCall => ({
    use: { kind: 'tool-use', id: `${id}`, name, input: {} },
    state: 'done',
  }))
  expect(describeCalls(calls)).toEqual({ count: '5 tool calls', tools: 'Read × 3, Bash, Edit' })
  expect(['Bash', 'mcp__a__b', 'Unheard', 'constructor'].map(toToolIcon)).toEqual([
    'terminal',
    'link',
    'more',
    'more',
  ])
})

test('[WEB31] a subagent is found by its call, or by what the answer says', () => {
  const session: SessionSummary = {
    id: 's',
    agent: 'claude',
    path: '',
    size: 0,
    workdirs: [],
    workdirsComplete: true,
    toolResults: [],
    archived: false,
    state: 'ok',
    subagents: [
      { id: 'a1', path: '', size: 1, agentType: 'explorer', description: 'Look around', toolUseId: 't1' },
    ],
  }
  const use = (id: string): ToolCall['use'] => ({
    kind: 'tool-use',
    id,
    name: 'Task',
    input: { description: 'Do it', subagent_type: 'worker' },
  })
  const found = { id: 'a1', type: 'explorer', description: 'Look around' }
  expect(findStarted(session, { use: use('t1'), state: 'pending' })).toEqual(found)
  const result = { entryId: 'e', content: [], isError: false }
  expect(
    findStarted(session, { use: use('t2'), state: 'done', result: { ...result, startedAgentId: 'a1' } }),
  ).toEqual(found)
  expect(
    findStarted(session, { use: use('t2'), state: 'done', result: { ...result, startedAgentId: 'a9' } }),
  ).toEqual({ id: 'a9', type: 'worker', description: 'Do it' })
  expect(findStarted(session, { use: use('t2'), state: 'done', result })).toBeUndefined()
  // What it did stands with the call only where it has no file of its own.
  expect(findStarted(session, { use: use('t2'), state: 'pending', work: [] })).toEqual({
    id: 't2',
    work: [],
    type: 'worker',
    description: 'Do it',
  })
  expect(findStarted(session, { use: use('t1'), state: 'pending', work: [] })).toEqual(found)
})

test('[REND43] a plan of Codex is a list of things to do, and its commands have the picture of commands', () => {
  const input = {
    plan: [
      { step: 'Read', status: 'completed' },
      { step: 'Write', status: 'pending' },
    ],
  }
  const call = { use: { kind: 'tool-use', id: 'c', name: 'update_plan', input }, state: 'done' } as const
  expect(findTodos(call)).toEqual([
    { text: 'Read', state: 'completed' },
    { text: 'Write', state: 'pending' },
  ])
  expect(toToolIcon('exec_command')).toBe(toToolIcon('Bash'))
  expect(toToolIcon('apply_patch')).toBe(toToolIcon('Edit'))
})
