import { readFile } from 'node:fs/promises'
import { readDialogues } from './dialogues.ts'
import { measureRecall } from './measure.ts'
import type { RecallFigures } from './measure.ts'
import { FTS5, FTS5_CAREFUL, MINISEARCH, OURS, OVERLAP } from './methods.ts'

/**
 * `npm run bench:recall -- <file>`: how much of what answers a question is found, without a model, beside what others
 * find in the same turns.
 *
 * The file holds the dialogues of LoCoMo (Maharana et al., ACL 2024; github.com/snap-research/locomo, `data/
 * locomo10.json`) or a part of them. They are licensed CC BY-NC 4.0, for evaluation only, and so do not come with us.
 */
const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error('usage: npm run bench:recall -- <file of dialogues in the format of LoCoMo>')
  process.exit(2)
}
const dialogues = readDialogues(await readFile(path, 'utf8'))
const count = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0)
console.log(
  `${dialogues.length} dialogues, ${count(dialogues.map(({ turns }) => turns.length))} turns, ` +
    `${count(dialogues.map(({ questions }) => questions.length))} questions ` +
    `(${count(dialogues.map(({ skipped }) => skipped))} without evidence skipped)`,
)

const methods = [OURS, FTS5, FTS5_CAREFUL, MINISEARCH, OVERLAP]
const HEADINGS = ['method', 'R@5', 'R@10', 'R@25', 'S@5', 'MRR', 'any/all in 1,024 tokens', 'ms']
const rows = [HEADINGS, ...methods.map((method) => toCells(measureRecall(method, dialogues)))]
const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
for (const row of rows)
  console.log(
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd(),
  )
console.log(
  'Published, whole set: DRAGON R@5/10/25 56.7 / 66.2 / 76.7. Targets: 68 / 77 / 85, S@5 87, any/all 90/80.',
)

function toCells(figures: RecallFigures): readonly string[] {
  return [
    figures.name,
    percent(figures.at5),
    percent(figures.at10),
    percent(figures.at25),
    percent(figures.sessionsAt5),
    percent(figures.reciprocalRank),
    `${percent(figures.anyInBudget)} / ${percent(figures.allInBudget)}`,
    figures.msPerQuestion.toFixed(2),
  ]
}

function percent(share: number): string {
  return (share * 100).toFixed(1)
}
