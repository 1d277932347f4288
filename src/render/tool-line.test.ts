// oxlint-disable no-control-regex -- these tests look for control characters
import { toLineDiff, type ToolCall } from '#model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { toCallParts } from './call-parts.ts'
import { call } from './fixtures/session.ts'
import { toolLine } from './tool-line.ts'

const CWD = '/home/ada/shop'

const CANNED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)."

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

test('[REND42] a call that a person changed reads as what ran, with what the agent had asked for', () => {
  const asked = call('Bash', { command: 'npm publish' }, 'packed')
  const changed = { input: { command: 'npm pack' }, by: 'phone' }
  const ran: ToolCall = { ...asked, use: { ...asked.use, changed } }
  expect(toolLine(ran, CWD)).toBe('Bash npm pack (changed from: npm publish)')
  expect(toCallParts(ran)).toMatchObject([
    { kind: 'note', text: 'Changed by phone before it ran:' },
    {
      kind: 'diff',
      lines: [
        { kind: 'removed', text: 'npm publish' },
        { kind: 'added', text: 'npm pack' },
      ],
    },
    { kind: 'input', text: '$ npm pack' },
    { kind: 'output' },
  ])
})

test('[REND10] of several edits each says whether it changes every place', () => {
  const edits = [
    { old_string: 'a', new_string: 'b', replace_all: true },
    { old_string: 'c', new_string: 'd', replace_all: false },
    'no edit',
  ]
  expect(toCallParts(call('MultiEdit', { file_path: '/a', edits }, 'ok'))).toMatchObject([
    { kind: 'diff' },
    { kind: 'input', text: '{\n  "replace_all": true\n}' },
    { kind: 'diff' },
    { kind: 'diff', lines: [] },
    { kind: 'input', text: '"no edit"' },
    { kind: 'output' },
  ])
})

test('[REND6] a call says how it ended, unless it went well', () => {
  const bash = { command: 'npm test' }
  expect(toolLine(call('Bash', bash, 'Exit code 1\nFAIL', 'failed'))).toBe('Bash npm test → exit 1')
  expect(toolLine(call('Bash', bash, 'no such thing', 'failed'))).toBe('Bash npm test → failed')
  expect(toolLine(call('Bash', bash, undefined, 'pending'))).toBe('Bash npm test → no answer')
  expect(toolLine(call('Bash', bash, 'Exit code 1 is what I printed'))).toBe('Bash npm test')
})

test.each([
  ['user-rejected', CANNED, 'declined by you'],
  [
    'user-rejected',
    `${CANNED} To tell you how to proceed, the user said:\nUse pnpm`,
    'declined by you: Use pnpm',
  ],
  // Newer clients give the model the words alone.
  ['user-rejected', 'Not on this branch', 'declined by you: Not on this branch'],
  ['user-rejected', 'exec command rejected by user', 'declined by you'],
  ['interrupted', '[Request interrupted by user for tool use]', 'stopped by you'],
  ['permission-rule', 'Permission to use Bash has been denied', 'denied by a rule'],
  ['unanswered', 'Nobody answered, so this was not allowed.', 'not answered'],
  ['of-tomorrow', 'words', 'denied'],
])('[REND6] a call that was denied (%s) says by whom: %#', (denial, words, outcome) => {
  const refused = call('Bash', { command: 'npm test' }, words, 'refused')
  const { result } = refused
  if (result === undefined) throw new Error('the call has a result')
  const decided = { ...refused, result: { ...result, decision: { outcome: 'rejected', denial } as const } }
  expect(toolLine(decided)).toBe(`Bash npm test → ${outcome}`)
})

test('[REND33] a plan is Markdown under a line that says whether it was approved', () => {
  const plan = '# Move the clock\n\n1. **Inject** it'
  const input = { plan, allowedPrompts: [] }
  expect(toolLine(call('ExitPlanMode', input, 'ok'))).toBe('Plan Move the clock → approved')
  expect(toolLine(call('ExitPlanMode', input, undefined, 'pending'))).toBe('Plan Move the clock → no answer')
  expect(toCallParts(call('ExitPlanMode', input, undefined, 'pending'))).toEqual([
    { kind: 'plan', text: plan },
    { kind: 'input', text: '{\n  "allowedPrompts": []\n}' },
  ])
  // Clients that keep the plan in a file say it in the answer; a plan that was edited says what changed.
  const approved = (text: string): string => `User has approved your plan.\n\n## Approved Plan:\n${text}`
  const output = {
    kind: 'output',
    blocks: [{ kind: 'text', text: 'User has approved your plan.\n' }],
    failed: false,
  }
  expect(toCallParts(call('ExitPlanMode', {}, approved(plan)))).toEqual([
    { kind: 'plan', text: plan },
    output,
  ])
  expect(toCallParts(call('ExitPlanMode', { plan }, approved('# Move it')))).toEqual([
    { kind: 'plan', text: '# Move it' },
    { kind: 'diff', lines: toLineDiff(plan, '# Move it') },
    output,
  ])
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

const PATCH =
  '*** Begin Patch\n*** Update File: /home/ada/shop/a.ts\n@@\n same\n-old\n+new\n+more\n*** Add File: b.ts\n+b\n*** End Patch'

test.each<[string, unknown, string, string]>([
  [
    'exec_command',
    { cmd: 'cat <<X\na "b"\nX', workdir: '/w' },
    'exec_command cat <<X …',
    '$ cat <<X\na "b"\nX {\n  "workdir": "/w"\n}',
  ],
  ['shell', { command: ['bash', '-lc', 'npm test\nls'] }, 'shell npm test …', '$ npm test\nls'],
  [
    'shell',
    { command: ['rm', '-r', 'a b', "it's"] },
    String.raw`shell rm -r 'a b' 'it'\''s'`,
    String.raw`$ rm -r 'a b' 'it'\''s'`,
  ],
  ['local_shell', { command: ['ls'] }, 'local_shell ls', '$ ls'],
  ['run_shell_command', { command: 'ls', description: 'List' }, 'run_shell_command ls', '# List\n$ ls'],
  ['bash', { command: 'npm test', description: 'Test' }, 'bash npm test', '# Test\n$ npm test'],
  ['read_file', { absolute_path: `${CWD}/a.ts` }, 'read_file a.ts', ''],
  ['read', { filePath: `${CWD}/a.ts`, limit: 9 }, 'read a.ts', '{\n  "limit": 9\n}'],
  ['grep_search', { pattern: 'foo', dir_path: 'src' }, 'grep_search "foo" in src', ''],
  ['write', { filePath: `${CWD}/a.ts`, content: 'a\nb\n' }, 'write a.ts (2 lines)', 'a b'],
  [
    'replace',
    { file_path: `${CWD}/a.ts`, old_string: 'a', new_string: 'b', instruction: 'Do' },
    'replace a.ts (+1 −1)',
    'a b {\n  "instruction": "Do"\n}',
  ],
  [
    'edit',
    { filePath: `${CWD}/a.ts`, oldString: 'a', newString: 'b', replaceAll: false },
    'edit a.ts (+1 −1)',
    'a b',
  ],
  [
    'apply_patch',
    { input: PATCH },
    'apply_patch a.ts and 1 other file (+3 −1)',
    '*** Begin Patch *** Update File: /home/ada/shop/a.ts @@ same old new more *** Add File: b.ts b *** End Patch',
  ],
  [
    'update_plan',
    {
      plan: [
        { step: 'Read', status: 'completed' },
        { step: 'Write', status: 'pending' },
      ],
    },
    'update_plan 2 todos, 1 done',
    '{\n  "plan": [\n    {\n      "step": "Read",\n      "status": "completed"\n    },\n    {\n      "step": "Write",\n      "status": "pending"\n    }\n  ]\n}',
  ],
  // Not as expected: shown as it is.
  ['exec_command', { cmd: 7 }, 'exec_command', '{\n  "cmd": 7\n}'],
  ['exec_command', { cmd: 'a', command: 'b' }, 'exec_command a', '{\n  "cmd": "a",\n  "command": "b"\n}'],
  ['shell', { command: ['ls', 7] }, 'shell', '{\n  "command": [\n    "ls",\n    7\n  ]\n}'],
  ['read', { filePath: 'a', file_path: 'b' }, 'read a', '{\n  "filePath": "a",\n  "file_path": "b"\n}'],
  ['apply_patch', 'no JSON', 'apply_patch no JSON', '"no JSON"'],
])('[REND43] %s of another agent with %j reads as one of Claude Code', (name, input, line, text) => {
  const made = call(name, input, 'ok')
  expect(toolLine(made, CWD)).toBe(line)
  const shown = toCallParts(made).map((part) =>
    part.kind === 'diff'
      ? part.lines.map((one) => one.text).join(' ')
      : part.kind === 'input'
        ? part.text
        : '',
  )
  expect(shown.slice(0, -1).join(' ')).toBe(text)
})

test('[REND43] nothing that a call was given is left out', () => {
  const word = fc.stringMatching(/^[a-z]{5,9}$/)
  const key = fc.constantFrom(
    'cmd',
    'command',
    'file_path',
    'filePath',
    'oldString',
    'old_string',
    'new_string',
    'newString',
    'content',
    'input',
    'patch',
    'pattern',
    'dir_path',
    'path',
    'query',
    'prompt',
    'description',
  )
  const input = fc.dictionary(key, fc.oneof(word, fc.array(word, { maxLength: 4 }), fc.integer()), {
    maxKeys: 6,
  })
  const name = fc.constantFrom(
    'exec_command',
    'shell',
    'bash',
    'edit',
    'replace',
    'write',
    'write_file',
    'read',
    'grep',
    'glob',
    'apply_patch',
    'task',
    'websearch',
  )
  fc.assert(
    fc.property(name, input, (tool, given) => {
      const made = call(tool, given, 'ok')
      const all = `${toolLine(made)} ${JSON.stringify(toCallParts(made))}`
      for (const value of Object.values(given).flat()) expect(all).toContain(String(value))
    }),
    runs(500),
  )
})
