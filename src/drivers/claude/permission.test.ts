import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Resolution } from '#model'
import { runs } from '#testing'
import { readToolRequest, type ToolRequest } from './permission.ts'

const SUGGESTIONS: readonly PermissionUpdate[] = [
  {
    type: 'addRules',
    rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }, { toolName: 'Read' }],
    behavior: 'allow',
    destination: 'localSettings',
  },
  { type: 'addDirectories', directories: ['/home/user/shop'], destination: 'session' },
  { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
  { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
  { type: 'setMode', mode: 'auto', destination: 'session' },
  { type: 'removeRules', rules: [{ toolName: 'Bash' }], behavior: 'deny', destination: 'userSettings' },
  { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'deny', destination: 'session' },
]

function request(given: { readonly trusted?: boolean; readonly suppress?: boolean } = {}): ToolRequest {
  return readToolRequest(
    'Bash',
    { command: 'npm test' },
    {
      signal: new AbortController().signal,
      suggestions: [...SUGGESTIONS],
      toolUseID: 'toolu_1',
      requestId: 'r1',
      decisionReason: 'it writes',
      ...(given.suppress === true ? { suppressAlwaysAllowRule: true } : {}),
    },
    { workdir: '/home/user/shop', trusted: given.trusted ?? true },
  )
}

function wordsOf({ ask }: ToolRequest): readonly string[] {
  return ask.kind === 'permission' ? ask.rules.map((rule) => `${rule.scope}: ${rule.words}`) : []
}

test('[DRV34] each suggestion is an offer of its own, in words; to stop asking is never one', () => {
  expect(wordsOf(request())).toEqual([
    'session: Bash(npm test:*), Read',
    'always: Bash(npm test:*), Read, in this project',
    'session: Files in /home/user/shop',
    'session: All edits without asking',
  ])
  expect(request().ask).toMatchObject({
    reason: 'it writes',
    toolUseId: 'toolu_1',
    workdir: '/home/user/shop',
  })
})

test('[DRV34] nothing is offered for always where that would not hold or must not be offered', () => {
  for (const offers of [request({ trusted: false }), request({ suppress: true })])
    expect(wordsOf(offers).filter((words) => words.startsWith('always'))).toEqual([])
})

test('[DRV11] what is sent back is what was chosen and nothing else, whatever was chosen', () => {
  const { ask, toResult } = request()
  const rules = ask.kind === 'permission' ? ask.rules : []
  fc.assert(
    fc.property(fc.subarray([...rules.map((rule) => rule.id), 'rule-99', '']), (chosen) => {
      const result = toResult({ kind: 'allow', rules: chosen })
      expect(result).toMatchObject({
        behavior: 'allow',
        updatedInput: { command: 'npm test' },
        toolUseID: 'toolu_1',
      })
      const sent = result.behavior === 'allow' ? (result.updatedPermissions ?? []) : []
      expect(sent).toEqual(rules.filter((rule) => chosen.includes(rule.id)).map((rule) => rule.value))
    }),
    runs(100),
  )
})

test('[DRV13] [A04] only an allow with an input allows', () => {
  const { toResult } = request()
  const no: readonly (Resolution | undefined)[] = [
    undefined,
    { kind: 'deny' },
    { kind: 'answer', answers: [['yes']] },
    { kind: 'allow', rules: [], input: null },
    { kind: 'allow', rules: [], input: ['rm'] },
    { kind: 'allow', rules: [], input: 'rm' },
  ]
  for (const resolution of no) expect(toResult(resolution).behavior).toBe('deny')
  expect(toResult({ kind: 'deny', words: 'No.', interrupt: true })).toMatchObject({
    message: 'The user denied this call; the user said:\nNo.',
    interrupt: true,
  })
})

test('[DRV12] several questions keep their answers apart; what was not answered is left out', () => {
  const input = {
    questions: [
      { question: 'Which?', multiSelect: true, options: [{ label: 'A' }, { label: 'B' }] },
      { question: 'Why?', options: [] },
      { question: 'When?', options: [] },
    ],
  }
  const { ask, toResult } = readToolRequest(
    'AskUserQuestion',
    input,
    { signal: new AbortController().signal, toolUseID: 'toolu_1', requestId: 'r1' },
    { workdir: '/home/user/shop', trusted: false },
  )
  expect(ask.kind === 'question' && ask.questions.map((each) => [each.question, each.multiple])).toEqual([
    ['Which?', true],
    ['Why?', false],
    ['When?', false],
  ])
  expect(toResult({ kind: 'answer', answers: [['A', 'B'], ['in my own words']] })).toMatchObject({
    behavior: 'allow',
    updatedInput: { ...input, answers: { 'Which?': 'A, B', 'Why?': 'in my own words' } },
  })
  expect(toResult({ kind: 'allow', rules: [] }).behavior).toBe('deny')
})
