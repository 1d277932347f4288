import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isObject, type JsonObject } from '#base'
import { runs } from '#testing'
import { toAskingConfig } from './permission-rules.ts'

type Action = 'allow' | 'ask' | 'deny'
type FlatRule = { readonly name: string; readonly pattern: string; readonly action: unknown }

/** As opencode reads permissions: name by name, pattern by pattern, in the order in which they stand. */
function toFlat(rules: unknown): readonly FlatRule[] {
  return Object.entries(isObject(rules) ? rules : {}).flatMap(([name, rule]) =>
    isObject(rule)
      ? Object.entries(rule).map(([pattern, action]) => ({ name, pattern, action }))
      : [{ name, pattern: '*', action: rule }],
  )
}

function matches(glob: string, text: string): boolean {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su').test(text)
}

function findRule(rules: readonly FlatRule[], name: string, value: string): FlatRule | undefined {
  return rules.findLast((rule) => matches(rule.name, name) && matches(rule.pattern, value))
}

/** As opencode lays one configuration over another: what is there keeps its place. */
function mergeDeep(under: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key]
    merged[key] = isObject(before) && isObject(value) ? mergeDeep(before, value) : value
  }
  return merged
}

/** What holds for an agent in the end, without opencode's own defaults, which stand before all of it. */
function rulesFor(config: JsonObject, agent: string): readonly FlatRule[] {
  const agents = config['agent']
  const own = isObject(agents) && isObject(agents[agent]) ? agents[agent]['permission'] : undefined
  return [...toFlat(config['permission']), ...toFlat(own)]
}

const NAMES = [
  'bash',
  'edit',
  'webfetch',
  'websearch',
  'read',
  'glob',
  'external_directory',
  'mine',
  '*',
  'web*',
]
const VALUES = ['rm -rf x', 'git status', 'src/a.ts', '.env', 'https://example.org/']
const action: fc.Arbitrary<Action> = fc.constantFrom('allow', 'ask', 'deny')
const pattern = fc.constantFrom('*', '**', 'rm *', 'git *', 'src/*', '*.env', 'https://*')
const ruleMap = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.oneof(action, fc.dictionary(pattern, action, { maxKeys: 4 })),
  {
    maxKeys: 5,
  },
)
const configuration = fc.record(
  {
    permission: ruleMap,
    agent: fc.dictionary(
      fc.constantFrom('build', 'plan', 'general', 'mine', 'other'),
      fc.record(
        { permission: ruleMap, mode: fc.constantFrom('primary', 'subagent', 'all') },
        { requiredKeys: [] },
      ),
    ),
    mcp: fc.dictionary(fc.constantFrom('files', 'my server'), fc.constantFrom({})),
  },
  { requiredKeys: [] },
)

test('[DRV61] opencode runs, changes and fetches nothing unasked but what its configuration allows by name, and denies what that denies', () => {
  fc.assert(
    fc.property(configuration, (config: JsonObject) => {
      const asking: JsonObject = { ...toAskingConfig(config) }
      const merged = mergeDeep(config, asking)
      for (const agent of ['build', 'plan', 'general', 'explore', 'mine', 'unheard-of'])
        for (const name of ['bash', 'edit', 'webfetch', 'websearch', 'read', 'external_directory', 'unknown'])
          for (const value of VALUES) {
            const given = findRule(rulesFor(config, agent), name, value)
            const result = findRule(rulesFor(merged, agent), name, value)
            const where = `${agent} ${name} ${value}`
            if (given?.action === 'deny') expect([where, result?.action]).toEqual([where, 'deny'])
            if (result?.action !== 'allow' || name === 'read' || name === 'external_directory') continue
            // What is allowed was allowed, and not by a rule for everything.
            const isBlanket = /^[*?]+$/u.test(result.pattern)
            expect([where, given?.action, isBlanket]).toEqual([where, 'allow', false])
          }
    }),
    runs(300),
  )
})

test('[DRV61] a subagent of opencode is never left waiting for an answer', () => {
  fc.assert(
    fc.property(configuration, (config: JsonObject) => {
      const merged = mergeDeep(config, { ...toAskingConfig(config) })
      for (const agent of ['general', 'explore'])
        for (const name of NAMES.filter((each) => !each.includes('*')))
          for (const value of VALUES)
            expect([agent, name, findRule(rulesFor(merged, agent), name, value)?.action]).not.toEqual([
              agent,
              name,
              'ask',
            ])
    }),
    runs(300),
  )
})

test('[DRV61] opencode as it is installed reads without asking, and asks about everything else', () => {
  const config = { mcp: { 'my server': {} } }
  const merged = mergeDeep(config, { ...toAskingConfig(config) })
  const actionFor = (agent: string, name: string, value = '*'): unknown =>
    findRule(rulesFor(merged, agent), name, value)?.action
  expect(['read', 'glob', 'grep', 'task'].map((name) => actionFor('build', name, 'src/a.ts'))).toEqual(
    Array.from({ length: 4 }, () => 'allow'),
  )
  expect(
    ['bash', 'edit', 'webfetch', 'my_server_write', 'external_directory'].map((name) =>
      actionFor('build', name),
    ),
  ).toEqual(Array.from({ length: 5 }, () => 'ask'))
  expect(actionFor('build', 'read', '.env')).toBe('ask')
  expect(actionFor('build', 'a_tool_of_a_plugin')).toBe('deny')
  expect([actionFor('plan', 'edit'), actionFor('plan', 'bash')]).toEqual(['deny', 'ask'])
  expect([actionFor('general', 'bash'), actionFor('explore', 'read', 'a.ts')]).toEqual(['deny', 'allow'])
})
