import { expect, test } from 'vitest'
import { expectNone } from './expect-none.ts'
import { readFiles } from './source-file.ts'
import {
  missingRules,
  readLedger,
  sharedIds,
  stalePending,
  unshownRules,
  unwrittenRules,
  type Ledger,
} from './spec-rules.ts'

/** Every behaviour the product owes. Its ids are stable. */
const OWED = [
  'A1.1 A1.2 A1.3 A2.1 A2.2 A3.1 A3.2 A3.3 A3.4 A3.5 A4.1 A4.2 A4.3 A5.1 A5.2 A6.1 A7.1 A7.2',
  'B1.1 B1.2 B2.1 B2.2 B3.1 B3.2 B3.3 B4.1 B5.1 B6.1 B6.2 B6.3 B6.4',
  'C1.1 C1.2 C2.1 C2.2 C2.3 C3.1 C3.2 C4.1 C4.2 C5.1 C5.2 C6.1 C7.1 C8.1 C9.1',
  'D1.1 D2.1 D3.1 D4.1 D5.1 D6.1 D7.1 D8.1 D9.1',
  'E1.1 E1.2 E2.1 E2.2 E2.3 E3.1 E4.1 E5.1 E6.1 E7.1 E8.1',
].flatMap((line) => line.split(' '))

const ledger = readLedger(readFiles(['docs/spec'], /\.md$/), readFiles(['src', 'test'], /\.test\.ts$/))

test('[SPEC1] every rule has a test that carries its id, or is pending', () => {
  expectNone(unshownRules(ledger))
})

test('[SPEC2] every id in the title of a test is a rule', () => {
  expectNone(unwrittenRules(ledger))
})

test('[SPEC3] a pending rule is written and not yet shown', () => {
  expectNone(stalePending(ledger))
})

test('[SPEC4] an id belongs to one rule', () => {
  expectNone(sharedIds(ledger))
})

test('[SPEC5] every behaviour the product owes is a rule', () => {
  expect(OWED).toHaveLength(66)
  expectNone(missingRules(ledger, OWED))
})

test('[SPEC6] titles are read wherever a test can have one, and skipped tests show nothing', () => {
  const { shown } = ledgerOf({
    'a.test.ts': [
      "test('[A1.1] [J2] plain', () => {})",
      "test.each(rows)('[J3] %s', () => {})",
      "test.each<[string]>([['[J90]']])(`[J4] ${x}`, () => {})",
      "test.skipIf(x)('[J5] ' + 'and [J6]', () => {})",
      "describe('[J7]', () => { test('inside', () => {}) })",
      "test.skip('[J91]', () => {})",
      "test.todo('[J92]')",
      "expect(text).toBe('[J93]')",
      "// test('[J94]')",
    ].join('\n'),
  })
  expect(shown.map(({ id }) => id)).toEqual(['A1.1', 'J2', 'J3', 'J4', 'J5', 'J6', 'J7'])
})

test('[SPEC6] a rule without a test, a test without a rule and a stale pending line are seen', () => {
  const wrong = ledgerOf({
    'docs/spec/journal.md': '# Journal\n\n- **J1** One.\n- **J2** Two.\n- **J3** Three.\n- **J1** Again.\n',
    'docs/spec/pending.md': '# Pending\n\n- `J2` `J3`\n- `J4`\n',
    'a.test.ts': "test('[J3] [J5] a title', () => {})\n",
  })
  expect(unshownRules(wrong)).toEqual([
    'J1 (docs/spec/journal.md:3) has no test: put [J1] into the title of a test that shows it, or add it to docs/spec/pending.md',
    'J1 (docs/spec/journal.md:6) has no test: put [J1] into the title of a test that shows it, or add it to docs/spec/pending.md',
  ])
  expect(unwrittenRules(wrong)).toEqual([
    '[J5] (a.test.ts:1) is no rule: write "- **J5** …" in docs/spec, or correct the title',
  ])
  expect(stalePending(wrong)).toEqual([
    'J3 (docs/spec/pending.md:3) is not pending any more, a test shows it: remove it there',
    'J4 (docs/spec/pending.md:4) is no rule: write "- **J4** …" in docs/spec, or remove it there',
  ])
  expect(sharedIds(wrong)).toEqual([
    'J1 (docs/spec/journal.md:6) is taken: it stands at docs/spec/journal.md:3',
  ])
  expect(missingRules(wrong, ['J1', 'A1.1'])).toEqual([
    'A1.1 is owed and in no file of docs/spec: restate it as "- **A1.1** …"',
  ])
})

function ledgerOf(files: Readonly<Record<string, string>>): Ledger {
  const made = Object.entries(files).map(([path, text]) => ({ path, text }))
  return readLedger(
    made.filter(({ path }) => path.endsWith('.md')),
    made.filter(({ path }) => path.endsWith('.ts')),
  )
}
