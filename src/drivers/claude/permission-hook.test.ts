import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { field, list } from '#base'
import { runs } from '#testing'
import { readPermissionHook } from './permission-hook.ts'

const PAYLOAD = {
  session_id: '11111111-2222-4333-8444-555555555555',
  transcript_path: '/home/user/.claude/projects/-w/11111111-2222-4333-8444-555555555555.jsonl',
  cwd: '/w',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'npm test' },
  permission_suggestions: [
    {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }],
      behavior: 'allow',
      destination: 'localSettings',
    },
    { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
  ],
}

const decisionOf = (output: unknown): unknown => field(field(output, 'hookSpecificOutput'), 'decision')

test('[PLG10] each suggestion is an offer of its own, and only chosen ones are handed back', () => {
  const hook = readPermissionHook(PAYLOAD)
  const rules = hook?.ask.kind === 'permission' ? hook.ask.rules : []
  expect(rules.map(({ scope, words }) => `${scope}: ${words}`)).toEqual([
    'session: Bash(npm test:*)',
    'always: Bash(npm test:*), in this project',
    'session: All edits without asking',
  ])
  expect(decisionOf(hook?.toOutput({ kind: 'allow', rules: [] }))).toEqual({ behavior: 'allow' })
  expect(decisionOf(hook?.toOutput({ kind: 'allow', rules: [rules[1]?.id ?? ''] }))).toEqual({
    behavior: 'allow',
    updatedPermissions: [PAYLOAD.permission_suggestions[0]],
  })
  const input = { command: 'npm run lint' }
  expect(decisionOf(hook?.toOutput({ kind: 'allow', rules: [], input }))).toEqual({
    behavior: 'allow',
    updatedInput: input,
  })
})

test('[PLG9] what is no answer is silence: nothing is allowed, and nothing denied', () => {
  const hook = readPermissionHook(PAYLOAD)
  expect(hook?.toOutput(undefined)).toBeUndefined()
  expect(hook?.toOutput({ kind: 'answer', answers: [['yes']] })).toBeUndefined()
  expect(decisionOf(hook?.toOutput({ kind: 'deny', words: 'No.' }))).toEqual({
    behavior: 'deny',
    message: 'The user denied this call; the user said:\nNo.',
  })
  const question = readPermissionHook({
    ...PAYLOAD,
    tool_name: 'AskUserQuestion',
    tool_input: { questions: [{ question: 'Which?', options: [{ label: 'A' }], multiSelect: false }] },
  })
  expect(question?.ask.kind).toBe('question')
  expect(question?.toOutput({ kind: 'allow', rules: [] })).toBeUndefined()
  const answered = decisionOf(question?.toOutput({ kind: 'answer', answers: [['A']] }))
  expect(field(field(answered, 'updatedInput'), 'answers')).toEqual({ 'Which?': 'A' })
})

test('[PLG11] a plan that is not told is not asked about; one that is, is approved as it was shown', () => {
  const plan = { ...PAYLOAD, tool_name: 'ExitPlanMode', tool_input: {} }
  expect(readPermissionHook(plan)).toBeUndefined()
  const hook = readPermissionHook({ ...plan, tool_input: { plan: '1. Look.' } })
  expect(decisionOf(hook?.toOutput({ kind: 'allow', rules: [] }))).toEqual({
    behavior: 'allow',
    updatedInput: { plan: '1. Look.' },
  })
})

test('[PLG13] whatever a hook is given is read, and nothing is handed back that was not suggested', () => {
  const suggestion = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom('addRules', 'addDirectories', 'setMode', 'removeRules', 'x'),
      rules: fc.jsonValue(),
      directories: fc.jsonValue(),
      mode: fc.jsonValue(),
      behavior: fc.constantFrom('allow', 'deny', 1),
      destination: fc.constantFrom('session', 'userSettings', 'cliArg', null),
    }),
  )
  const payload = fc.oneof(
    fc.jsonValue(),
    fc.array(suggestion).map((suggestions) => ({ ...PAYLOAD, permission_suggestions: suggestions })),
    fc.jsonValue().map((tool_input) => ({ ...PAYLOAD, tool_input })),
  )
  fc.assert(
    fc.property(payload, (given) => {
      const hook = readPermissionHook(given)
      if (hook?.ask.kind !== 'permission') return
      const rules = hook.ask.rules.map(({ id }) => id)
      const updates = list(decisionOf(hook.toOutput({ kind: 'allow', rules })), 'updatedPermissions')
      const suggested = list(given, 'permission_suggestions')
      for (const update of updates) {
        const same = suggested.some(
          (one) =>
            JSON.stringify({ ...Object(one), destination: 0 }) ===
            JSON.stringify({ ...Object(update), destination: 0 }),
        )
        expect(same).toBe(true)
      }
    }),
    runs(300),
  )
})
