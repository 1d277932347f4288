import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Resolution } from '#model'
import { runs } from '#testing'
import { readPermission, type PermissionRequest } from './permission.ts'
import { toToolCall } from './tool-call.ts'

const CALL = { toolCallId: 'call-1', title: 'touch ran', kind: 'execute', rawInput: { command: 'touch ran' } }

function request(options: readonly unknown[], call: object = CALL): PermissionRequest {
  return readPermission({ options }, toToolCall(call), '/work')
}

function option(optionId: string, kind: string, name = optionId): object {
  return { optionId, kind, name }
}

const CODEX = [
  option('allow_once', 'allow_once', 'Yes, proceed'),
  option('allow_for_session', 'allow_always', "Yes, and don't ask again for this command in this session"),
  option('accept_execpolicy_amendment', 'allow_always', "Yes, and don't ask again for `touch`"),
  option('decline', 'reject_once', 'No, continue without running it'),
  option('cancel', 'reject_once', 'No, and tell Codex what to do differently'),
]

test('[DRV50] a person is shown what would run, and each lasting option as a rule of its own', () => {
  expect(request(CODEX).ask).toMatchObject({
    kind: 'permission',
    tool: 'execute',
    input: { command: 'touch ran' },
    workdir: '/work',
    toolUseId: 'call-1',
    reason: 'touch ran',
    rules: [
      { id: 'rule-1', scope: 'session', value: 'allow_for_session' },
      { id: 'rule-2', scope: 'always', value: 'accept_execpolicy_amendment' },
    ],
    canEdit: false,
  })
})

test('[DRV50] changes that were told before the question are shown with it', () => {
  const changes = [{ type: 'diff', path: '/work/a', oldText: null, newText: 'a' }]
  const before = toToolCall({ toolCallId: 'call-1', kind: 'edit', title: 'Editing files', content: changes })
  const asked = toToolCall(
    { toolCallId: 'call-1', title: 'Edit files', locations: [{ path: '/work/a' }] },
    before,
  )
  expect(readPermission({ options: CODEX }, asked, '/work').ask).toMatchObject({
    tool: 'edit',
    input: { title: 'Edit files', locations: [{ path: '/work/a' }], changes },
  })
})

test.each<readonly [string, Resolution | undefined, string | undefined]>([
  ['this once', { kind: 'allow', rules: [] }, 'allow_once'],
  ['for this session', { kind: 'allow', rules: ['rule-1'] }, 'allow_for_session'],
  ['always', { kind: 'allow', rules: ['rule-2'] }, 'accept_execpolicy_amendment'],
  ['two rules at once', { kind: 'allow', rules: ['rule-1', 'rule-2'] }, 'decline'],
  ['a rule that nobody offered', { kind: 'allow', rules: ['rule-9'] }, 'decline'],
  ['an edited input', { kind: 'allow', rules: [], input: { command: 'touch edited' } }, 'decline'],
  ['no', { kind: 'deny' }, 'decline'],
  ['no, and stop', { kind: 'deny', interrupt: true }, undefined],
  ['an answer to a question', { kind: 'answer', answers: [['yes']] }, undefined],
  ['nothing', undefined, undefined],
])('[DRV50] the answer is said back as the option that says just that: %s', (_name, resolution, chosen) => {
  expect(request(CODEX).toOutcome(resolution)).toEqual(
    chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen },
  )
})

test('[DRV50] where no option says what was chosen, the answer is a no', () => {
  const onlyAlways = request([option('always', 'allow_always'), option('never', 'reject_always')])
  expect(onlyAlways.toOutcome({ kind: 'allow', rules: [] })).toEqual({ outcome: 'cancelled' })
  expect(onlyAlways.toOutcome({ kind: 'deny' })).toEqual({ outcome: 'cancelled' })
  const twice = request([option('same', 'allow_once'), option('same', 'allow_always')])
  expect(twice.toOutcome({ kind: 'allow', rules: [] })).toEqual({ outcome: 'cancelled' })
  expect(twice.ask).toMatchObject({ rules: [] })
})

const anyOption = fc.oneof(
  fc.record({
    optionId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'allow', ''),
    kind: fc.constantFrom('allow_once', 'allow_always', 'reject_once', 'reject_always', 'allow_forever', ''),
    name: fc.constantFrom('Yes', 'No', 'Yes, for this session', 'Always'),
  }),
  fc.jsonValue(),
)
const anyResolution = fc.oneof(
  fc.record({
    kind: fc.constant('allow' as const),
    rules: fc.array(fc.constantFrom('rule-1', 'rule-2', 'rule-3', 'rule-4', 'a', 'allow'), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('allow' as const),
    rules: fc.array(fc.constantFrom('rule-1', 'rule-2'), { maxLength: 1 }),
    input: fc.jsonValue(),
  }),
  fc.record({ kind: fc.constant('deny' as const), interrupt: fc.boolean() }),
  fc.record({ kind: fc.constant('answer' as const), answers: fc.constant([['yes']]) }),
  fc.constant(undefined),
)

test('[DRV11] [DRV13] [DRV50] whatever is offered and answered, nothing wider than what was chosen is said back', () => {
  fc.assert(
    fc.property(fc.array(anyOption, { maxLength: 8 }), anyResolution, (options, resolution) => {
      const asked = request(options)
      const outcome = asked.toOutcome(resolution)
      if (outcome.outcome === 'cancelled') return
      const named = options.filter((each) =>
        JSON.stringify(each)?.includes(`"optionId":${JSON.stringify(outcome.optionId)}`),
      )
      // Never one that could mean two things.
      expect(named).toHaveLength(1)
      const [kind] = named.map((each) =>
        typeof each === 'object' && each && 'kind' in each ? each.kind : '',
      )
      if (resolution?.kind !== 'allow' || ('input' in resolution && resolution.input !== undefined)) {
        expect(kind).toBe('reject_once')
        return
      }
      if (kind === 'reject_once') return
      if (resolution.rules.length === 0) {
        expect(kind).toBe('allow_once')
        return
      }
      expect(kind).toBe('allow_always')
      const rules = asked.ask.kind === 'permission' ? asked.ask.rules : []
      expect(rules.find(({ id }) => id === resolution.rules[0])?.value).toBe(outcome.optionId)
      expect(resolution.rules).toHaveLength(1)
    }),
    runs(2_000),
  )
})
