import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { CorpusSize } from '#testing'
import { busyWarning, machine } from './machine.ts'
import { prepareCorpus } from './prepared-corpus.ts'
import { PARTS } from './rows.ts'
import type { Row } from './table.ts'
import { mb, ms, tableOf } from './table.ts'

/** `npm run bench -- [--size xs|s|m] [--seed n] [--only list,pages,…] [--rounds n] [--json file]`: one table. */
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 's' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string' },
  },
})
const size = sizeOf(values.size)
const parts = partsOf(values.only)
const rounds = Number(values.rounds ?? (size === 'm' ? 3 : 5))
const started = performance.now()

const before = machine()
console.log(
  `${before.cores} x ${before.model}, ${before.memoryGb} GB, Node ${before.node}, load ${before.load.join(' ')}`,
)
warn(busyWarning(before))

const corpus = await prepareCorpus(
  fileURLToPath(new URL('../../.bench', import.meta.url)),
  size,
  Number(values.seed),
)
const { facts } = corpus
console.log(
  `corpus ${size}-${facts.seed}: ${facts.sessions.length} sessions in ${facts.projects} projects, ${facts.files} files, ` +
    `${facts.lines} lines, ${mb(facts.bytes)}, ${facts.damage.length} damaged lines, ` +
    (corpus.madeInMs === undefined ? 'kept from an earlier run' : `made in ${ms(corpus.madeInMs)}`),
)

const rows: Row[] = []
for (const part of parts) {
  process.stderr.write(`${part}… `)
  rows.push(...(await (PARTS[part]?.({ ...corpus, rounds }) ?? [])))
}
process.stderr.write('\n')

console.log(`\n${tableOf(rows)}\n`)
const after = machine()
const tookMs = performance.now() - started
console.log(
  `CPU time of the child process, median of ${rounds} rounds; ${ms(tookMs)} in all, load ${after.load.join(' ')}`,
)
warn(busyWarning(after))
if (values.json !== undefined) {
  const { sessions: _, ...about } = facts
  await writeFile(
    values.json,
    `${JSON.stringify({ before, after, tookMs, rounds, corpus: about, rows }, null, 2)}\n`,
  )
}

function sizeOf(given: string): CorpusSize {
  if (given === 'xs' || given === 's' || given === 'm') return given
  throw new RangeError(`--size is xs, s or m, not ${given}`)
}

function partsOf(given: string | undefined): readonly string[] {
  const wanted = given?.split(',') ?? Object.keys(PARTS)
  const strange = wanted.filter((part) => !Object.hasOwn(PARTS, part))
  if (strange.length === 0) return wanted
  throw new RangeError(`--only takes ${Object.keys(PARTS).join(', ')}, not ${strange.join(', ')}`)
}

function warn(message: string | undefined): void {
  if (message !== undefined) console.log(message)
}
