import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { CorpusSize } from '#testing'
import { missing } from './comparison.ts'
import { createGround, type Ground } from './ground.ts'
import { busyWarning, machine } from './machine.ts'
import { LONG_PARTS, PARTS } from './parts.ts'
import { prepareCorpus } from './prepared-corpus.ts'
import type { Row } from './table.ts'
import { mb, ms, tableOf } from './table.ts'

/**
 * `npm run bench -- [--size xs|s|m] [--seed n] [--only list,pages,…] [--rounds n] [--json file]`: one table.
 *
 * Parts in this process or in one job of their own: list, pages, view, read, memory, restoring. Parts with the built daemon, over
 * HTTP and WebSocket: index, daemon, search, usage, live, fanout, web, peers. With agents that are run, and nothing of
 * the corpus: running, recording. With a PostgreSQL of its own: team, and growth, which is only run when it is asked for.
 * Targets are those of `--size m`; where a size sets what can be reached, they are scaled down
 * with it. `.bench` keeps the corpus and the peers, nothing else.
 */
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

const root = fileURLToPath(new URL('../../.bench', import.meta.url))
const corpus = await prepareCorpus(root, size, Number(values.seed))
const { facts } = corpus
console.log(
  `corpus ${size}-${facts.seed}: ${facts.sessions.length} sessions in ${facts.projects} projects, ${facts.files} files, ` +
    `${facts.lines} lines, ${mb(facts.bytes)}, ${facts.damage.length} damaged lines, ` +
    (corpus.madeInMs === undefined ? 'kept from an earlier run' : `made in ${ms(corpus.madeInMs)}`),
)

let made: Ground | undefined
const ground = (): Ground => (made ??= createGround(root, corpus.configDir, facts))
// Children and folders go with the process, however it ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const rows: Row[] = []
for (const part of parts) {
  process.stderr.write(`${part}… `)
  const measuring = (PARTS[part] ?? LONG_PARTS[part])?.({ ...corpus, rounds, ground }) ?? Promise.resolve([])
  rows.push(...(await measuring.catch((error: unknown) => [missing(part, error)])))
}
process.stderr.write('\n')
made?.remove()

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
  const all = { ...PARTS, ...LONG_PARTS }
  const strange = wanted.filter((part) => !Object.hasOwn(all, part))
  if (strange.length === 0) return wanted
  throw new RangeError(`--only takes ${Object.keys(all).join(', ')}, not ${strange.join(', ')}`)
}

function warn(message: string | undefined): void {
  if (message !== undefined) console.log(message)
}
