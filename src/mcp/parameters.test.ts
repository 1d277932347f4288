import * as fc from 'fast-check'
import { ThroughlineError } from '#base'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { readArguments, toInputSchema, type Parameter } from './parameters.ts'

const PARAMETERS: readonly Parameter[] = [
  { name: 'query', kind: 'text', required: true, meaning: 'Words.' },
  { name: 'type', kind: 'text', values: ['a', 'b'], meaning: 'Which.' },
  { name: 'limit', kind: 'count', most: 20, meaning: 'How many.' },
  { name: 'tags', kind: 'texts', meaning: 'Words to find it by.' },
]

function refusal(given: unknown): string {
  try {
    readArguments(PARAMETERS, given)
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'request-invalid')
      return `${error.message}: ${error.hint}`
    throw error
  }
  return 'taken'
}

test('[MCP12] what is missing, unknown or cannot be meant is told with what would be right', () => {
  const usage = 'Arguments: query, type (optional), limit (optional), tags (optional).'
  expect(refusal({})).toBe(`\`query\` is missing: ${usage}`)
  expect(refusal({ query: '' })).toBe(`\`query\` is missing: ${usage}`)
  expect(refusal({ q: 'x' })).toBe(`there is no argument "q": ${usage}`)
  expect(refusal([])).toBe(`the arguments are no object: ${usage}`)
  expect(refusal({ query: 5 })).toBe('`query` is no text: Words.')
  expect(refusal({ query: 'x', type: 'c' })).toBe('`type` cannot be "c": Use a, b.')
  expect(refusal({ query: 'x', limit: 21 })).toBe('`limit` is no number that can be meant: Use 1 to 20.')
  expect(refusal({ query: 'x', tags: 'one' })).toBe('`tags` is no list of texts: Words to find it by.')
  expect(refusal({ query: 'x'.repeat(20_001) })).toBe('`query` is too long: Say it in fewer words.')
})

test('[MCP12] what is right is taken, also a number written as text and what is left out as null', () => {
  const given = readArguments(PARAMETERS, { query: 'x', type: null, limit: '7', tags: ['a'] })
  expect([given.getText('query'), given.text('type'), given.count('limit', 6), given.texts('tags')]).toEqual([
    'x',
    undefined,
    7,
    ['a'],
  ])
  expect(readArguments(PARAMETERS, { query: 'x' }).count('limit', 6)).toBe(6)
})

test('[MCP12] whatever comes is taken or refused, never anything else', () => {
  const value = fc.oneof(fc.jsonValue(), fc.record({ query: fc.jsonValue(), limit: fc.jsonValue() }))
  fc.assert(
    fc.property(value, (given) => {
      expect(refusal(given)).not.toBe('')
    }),
    runs(300),
  )
})

test('[MCP12] clients are told the same as a schema', () => {
  expect(toInputSchema(PARAMETERS)).toEqual({
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words.' },
      type: { type: 'string', description: 'Which.', enum: ['a', 'b'] },
      limit: { type: 'integer', description: 'How many.', minimum: 1, maximum: 20 },
      tags: { type: 'array', items: { type: 'string' }, description: 'Words to find it by.' },
    },
    required: ['query'],
    additionalProperties: false,
  })
})
