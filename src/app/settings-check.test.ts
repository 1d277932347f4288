import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonBreak } from './json-place.ts'
import { findSettingProblems } from './settings-check.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('[CLI60] the place at which a text is no JSON any more is told as editors count', () => {
  expect(findJsonBreak('{ "store": "postgres://ada:secret@db/x" oops')).toEqual({ line: 1, column: 41 })
  expect(findJsonBreak('{\n  "live": {\n    "idleMinutes": 5,\n  }\n}')).toEqual({ line: 4, column: 3 })
  expect(findJsonBreak("{ 'review': 'off' }")).toEqual({ line: 1, column: 3 })
  expect(findJsonBreak('{ "a": 1')).toEqual({ line: 1, column: 9 })
  expect(findJsonBreak('')).toEqual({ line: 1, column: 1 })
  expect(findJsonBreak('// no comments\n{}')).toEqual({ line: 1, column: 1 })
})

test('[CLI60] whatever JSON.parse takes has no such place, and whatever it refuses has one', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), (json, at, noise) => {
      expect(findJsonBreak(json)).toBeUndefined()
      const cut = at % (json.length + 1)
      const broken = json.slice(0, cut) + noise + json.slice(cut)
      expect([broken, findJsonBreak(broken) === undefined]).toEqual([broken, isJson(broken)])
    }),
  )
})

test('[CLI60] every wrong value and every unknown key is named, the latter with what was meant', () => {
  const value = {
    wakeup: { on: true },
    wakeUp: { on: 'yes', budget: { total: -1 }, mutd: ['bob'] },
    live: [],
    widestMode: 'yolo',
    names: { agents: { claude: 'Julian', codex: 7 }, human: null },
    agents: { claude: { executable: '/bin/x', args: [1], colour: 'red' } },
    team: { workdirs: { '/there': 'here' }, calls: 'all' },
    review: 'on',
    store: 7,
    'a key of\nsomebody': 1,
  }
  expect(findSettingProblems(value).map(({ message }) => message)).toEqual([
    'wakeup is no setting, and is ignored; did you mean wakeUp?',
    'wakeUp.on is neither true nor false',
    'wakeUp.budget.total is no number of tokens',
    'wakeUp.mutd is no setting, and is ignored; did you mean wakeUp.muted?',
    'live is no object',
    'widestMode is no setting, and is ignored; did you mean live.widestMode?',
    'names.agents.codex is no text',
    'agents.claude.args is no list of texts',
    'agents.claude.colour is no setting, and is ignored',
    'team.workdirs["/there"] is no whole path',
    'team.calls is none of shared, own, nobody',
    'review is neither off nor agent',
    'store is no text',
    '["a key of\\nsomebody"] is no setting, and is ignored',
  ])
  expect(findSettingProblems({ live: { attentionMinutes: null }, names: { human: 'Ann' } })).toEqual([])
})
