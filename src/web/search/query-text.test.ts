import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { addFacet, facetsOf, hasFacet, removeFacet, toggleFacet, wordsOf, type Facet } from './query-text.ts'

const BASH: Facet = { name: 'tool', value: 'Bash', negated: false }

test('[WEB40] facets are read out of what was typed, wherever they stand', () => {
  const text =
    'flaky tool:Bash -kind:result NOT agent:codex workdir:"/a b/c" "tool:Read is a phrase" http://x in:'
  expect(facetsOf(text).map(({ name, value, negated }) => [name, value, negated])).toEqual([
    ['tool', 'Bash', false],
    ['kind', 'result', true],
    ['agent', 'codex', true],
    ['workdir', '/a b/c', false],
  ])
  for (const { start, end, name } of facetsOf(text)) expect(text.slice(start, end)).toContain(`${name}:`)
})

test('[WEB40] a facet is added in front, once, and taken out without touching the words', () => {
  expect(addFacet('flaky "half a', BASH)).toBe('tool:Bash flaky "half a')
  expect(addFacet('', BASH)).toBe('tool:Bash ')
  expect(addFacet('TOOL:bash flaky', BASH)).toBe('TOOL:bash flaky')
  expect(addFacet('x', { name: 'workdir', value: '/a b', negated: true })).toBe('-workdir:"/a b" x')
  expect(removeFacet('flaky  tool:Bash  test tool:"bash"', BASH)).toBe('flaky test')
  expect(removeFacet('NOT tool:Bash x', { ...BASH, negated: true })).toBe('x')
  expect(toggleFacet(toggleFacet('flaky', BASH), BASH)).toBe('flaky')
  expect(wordsOf('tool:Bash flaky -in:tool test')).toBe('flaky test')
})

test('[WEB40] of dates there is one of each name', () => {
  const week: Facet = { name: 'after', value: '7d', negated: false }
  expect(addFacet('after:2026-01-01 before:today x', week)).toBe('after:7d before:today x')
})

test('[WEB40] whatever was typed, a facet that is added is there, and is not there once removed', () => {
  const typed = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('"', ' ', '-', 'NOT', 'AND', 'OR', 'tool:', 'Bash', 'on:today', 'x', ':', '“'), {
        maxLength: 12,
      })
      .map((parts) => parts.join('')),
  )
  const facet = fc.record({
    name: fc.constantFrom('tool', 'workdir', 'in', 'after', 'has'),
    value: fc.constantFrom('Bash', '/a b', '7d', 'error', 'mcp__*'),
    negated: fc.boolean(),
  })
  fc.assert(
    fc.property(typed, facet, (text, one) => {
      const added = addFacet(text, one)
      expect(hasFacet(added, one)).toBe(true)
      expect(hasFacet(removeFacet(added, one), one)).toBe(false)
    }),
    runs(300),
  )
})
