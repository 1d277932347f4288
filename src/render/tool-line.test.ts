// oxlint-disable no-control-regex -- these tests look for control characters
import { toLineDiff, type ToolCall } from '#model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toCallParts } from './call-parts.ts'
import { call } from './fixtures/session.ts'
import { toolLine } from './tool-line.ts'

const CWD = '/home/ada/shop'

test.each<[string, unknown, string]>([
  ['Read', { file_path: `${CWD}/src/a.ts` }, 'Read src/a.ts'],
  ['Read', { file_path: '/etc/hosts' }, 'Read /etc/hosts'],
  ['Read', { file_path: `${CWD}-other/a.ts` }, `Read ${CWD}-other/a.ts`],
  ['Bash', { command: 'npm test', description: 'Run tests' }, 'Bash npm test'],
  ['Bash', { command: 'cat <<EOF\na\nEOF' }, 'Bash cat <<EOF …'],
  ['Edit', { file_path: `${CWD}/a.ts`, old_string: 'a\nb', new_string: 'a\nc\nd\ne' }, 'Edit a.ts (+3 −1)'],
  [
    'MultiEdit',
    {
      file_path: `${CWD}/a.ts`,
      edits: [
        { old_string: 'a', new_string: 'b' },
        { old_string: 'c', new_string: '' },
      ],
    },
    'MultiEdit a.ts (+1 −2)',
  ],
  ['Write', { file_path: `${CWD}/a.ts`, content: 'a\nb\n' }, 'Write a.ts (2 lines)'],
  ['Grep', { pattern: 'foo', path: `${CWD}/src` }, 'Grep "foo" in src'],
  ['Glob', { pattern: '**/*.ts' }, 'Glob "**/*.ts"'],
  ['Agent', { subagent_type: 'Explore', description: 'find x', prompt: 'Find x.' }, 'Agent Explore: find x'],
  ['WebFetch', { url: 'https://example.com/a', prompt: 'Read it' }, 'WebFetch https://example.com/a'],
  ['WebSearch', { query: 'cats' }, 'WebSearch "cats"'],
  ['TodoWrite', { todos: [{ status: 'completed' }, { status: 'pending' }] }, 'TodoWrite 2 todos, 1 done'],
  ['AskUserQuestion', { questions: [{ question: 'Which one?' }] }, 'AskUserQuestion Which one?'],
  ['mcp__github__create_issue', { title: 'Broken' }, 'github · create_issue Broken'],
  ['Frobnicate', { depth: 3, target: 'the bits' }, 'Frobnicate the bits'],
  ['Frobnicate', null, 'Frobnicate'],
])('[REND5] %s %j reads as %s', (name, input, line) => {
  expect(toolLine(call(name, input, 'ok'), CWD)).toBe(line)
})

test('[REND6] a call says how it ended, unless it went well', () => {
  const bash = { command: 'npm test' }
  expect(toolLine(call('Bash', bash, 'Exit code 1\nFAIL', 'failed'))).toBe('Bash npm test → exit 1')
  expect(toolLine(call('Bash', bash, 'no such thing', 'failed'))).toBe('Bash npm test → failed')
  expect(toolLine(call('Bash', bash, 'The user said no', 'refused'))).toBe('Bash npm test → refused')
  expect(toolLine(call('Bash', bash, undefined, 'pending'))).toBe('Bash npm test → no answer')
  expect(toolLine(call('Bash', bash, 'Exit code 1 is what I printed'))).toBe('Bash npm test')
})

test('[REND6] what a person answered stands in the line', () => {
  const input = { questions: [{ question: 'Which colour?' }] }
  const said = 'Your questions have been answered: "Which colour?"="Red". You can now continue.'
  expect(toolLine(call('AskUserQuestion', input, said))).toBe('AskUserQuestion Which colour? → Red')
})

test('[REND7] whatever a call holds, its line is one short, safe line', () => {
  const names = fc.oneof(
    fc.constantFrom(
      'Bash',
      'Edit',
      'MultiEdit',
      'Write',
      'Read',
      'Grep',
      'Agent',
      'TodoWrite',
      'AskUserQuestion',
      'mcp____',
      'mcp__a__',
    ),
    fc.string({ unit: 'binary' }),
  )
  const keys = fc.constantFrom(
    'command',
    'file_path',
    'old_string',
    'new_string',
    'edits',
    'content',
    'todos',
    'questions',
    'pattern',
    'path',
    '__proto__',
  )
  const inputs = fc.oneof(
    fc.anything(),
    fc.dictionary(keys, fc.oneof(fc.anything(), fc.string({ unit: 'binary' }))),
  )
  const states = fc.constantFrom<ToolCall['state']>('done', 'failed', 'refused', 'pending')
  fc.assert(
    fc.property(names, inputs, states, fc.string(), (name, input, state, cwd) => {
      const line = toolLine(call(name, input, 'out', state), cwd)
      expect(line).not.toMatch(/[\n\t\u001b\u009b]/)
      expect(line.length).toBeLessThan(1000)
      expect(() => toCallParts(call(name, input, 'out', state))).not.toThrow()
    }),
  )
})

test('[REND10] a diff holds every line of both texts, in order', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'b', 'c', ''))
    .map((lines) => lines.map((line) => `${line}\n`).join(''))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const diff = toLineDiff(before, after)
      const without = (kind: string) =>
        diff
          .filter((line) => line.kind !== kind)
          .map(({ text }) => `${text}\n`)
          .join('')
      expect([without('added'), without('removed')]).toEqual([before, after])
    }),
  )
})
