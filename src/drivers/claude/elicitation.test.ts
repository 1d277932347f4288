import { expect, test } from 'vitest'
import { readElicitation } from './elicitation.ts'

const FORM = {
  serverName: 'tickets',
  message: 'Which ticket?',
  mode: 'form' as const,
  requestedSchema: {
    type: 'object',
    properties: {
      number: { type: 'integer', title: 'Ticket', description: 'its number' },
      kind: { type: 'string', enum: ['bug', 'wish'] },
      urgent: { type: 'boolean' },
      labels: { type: 'array', items: { enum: ['a', 'b'] } },
      note: { type: 'string' },
    },
    required: ['number'],
  },
}

test('[DRV49] each field of a form is a question, and its answer has the type of the field', () => {
  const { ask, toResult } = readElicitation(FORM, '/home/user/shop')
  expect(
    ask.questions.map(({ question, options, multiple, free }) => [question, options.length, multiple, free]),
  ).toEqual([
    ['Which ticket?\nTicket: its number', 0, false, true],
    ['Which ticket?\nkind', 2, false, false],
    ['Which ticket?\nurgent', 2, false, false],
    ['Which ticket?\nlabels', 2, true, false],
    ['Which ticket?\nnote', 0, false, true],
  ])
  expect(toResult({ kind: 'answer', answers: [['7'], ['bug'], ['No'], ['a', 'b'], []] })).toEqual({
    action: 'accept',
    content: { number: 7, kind: 'bug', urgent: false, labels: ['a', 'b'] },
  })
})

test('[DRV49] what is missing or of another type is no answer, and no answer is none', () => {
  const { toResult } = readElicitation(FORM, '/home/user/shop')
  for (const words of [[], [''], ['seven']])
    expect(toResult({ kind: 'answer', answers: [words] })).toEqual({ action: 'cancel' })
  expect(toResult(undefined)).toEqual({ action: 'cancel' })
  expect(toResult({ kind: 'deny' })).toEqual({ action: 'decline' })
  expect(toResult({ kind: 'allow', rules: [] })).toEqual({ action: 'cancel' })
  expect(toResult({ kind: 'answer', answers: [['7'], ['other']] })).toEqual({
    action: 'accept',
    content: { number: 7 },
  })
})

test('[DRV49] a page to be opened is shown with its address and needs a yes', () => {
  const request = {
    serverName: 'tickets',
    message: 'Log in',
    mode: 'url' as const,
    url: 'https://example.com/in',
  }
  const { ask, toResult } = readElicitation(request, '/home/user/shop')
  expect(ask.questions[0]?.question).toBe('Log in\nhttps://example.com/in')
  expect(toResult({ kind: 'answer', answers: [['Yes']] })).toEqual({ action: 'accept' })
  expect(toResult({ kind: 'answer', answers: [['No']] })).toEqual({ action: 'decline' })
  expect(toResult({ kind: 'answer', answers: [] })).toEqual({ action: 'decline' })
})
