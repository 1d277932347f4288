import { randomBytes } from 'node:crypto'
import { openPostgresStore, openTeamLog, type Change, type EntryRow } from '#store'
import type { Bench } from './bench.ts'
import { quantile } from './measure.ts'
import { mb, ms, type Row } from './table.ts'
import { searchTimes } from './team-rows.ts'
import { copyRows, readBase } from './growth-copies.ts'
import { captureAdvances, openTeamGround, originOf, toCorpusTasks, type Advance } from './team-place.ts'

/** As far as it goes: so long, and so much space. */
const MOST_MS = Number(process.env['GROWTH_MINUTES'] ?? 10) * 60_000
const MOST_BYTES = Number(process.env['GROWTH_GB'] ?? 10) * 1e9
const MILLION = 1_000_000
/** What is written as machines write it; from then on the server copies its own rows, which is faster. */
const WRITTEN = 0.1 * MILLION
const MARKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].map((millions) => millions * MILLION)
const APPLIED = 5_000
const PAGE = 64 * 1024

/**
 * How cost grows with what is there. Lines and entries of the corpus are written as other sessions, again and again;
 * at every mark so much more is written as machines write it, and pages and searches are timed.
 */
export async function growthRows(bench: Bench): Promise<readonly Row[]> {
  const ground = await openTeamGround()
  const { place } = ground
  const log = await openTeamLog({ address: place.admin })
  const store = await openPostgresStore({ address: place.admin, statementMs: 300_000 })
  try {
    const origin = await originOf(place, new URL(place.admin.reveal()).username)
    const captured = (await captureAdvances(toCorpusTasks(bench.configDir))).filter(
      ({ entries }) => entries.length > 0,
    )
    const rows: Row[] = []
    const files: number[] = []
    const begun = performance.now()
    let entries = 0
    let copy = 0
    const pieces = cycle(captured)

    /** Writes at least so many entries, with their lines. Entries in a second. */
    async function write(least: number): Promise<number> {
      const started = performance.now()
      let written = 0
      while (written < least) {
        copy++
        const changes = pieces().map((advance) => toCopy(advance, copy, origin))
        files.push(...(await writeLines(log, changes, copy)))
        await store.apply(changes)
        for (const change of changes) written += change.entries.length
      }
      entries += written
      return (written / (performance.now() - started)) * 1000
    }

    async function measure(mark: number): Promise<void> {
      await place.say('ANALYZE')
      const rate = await write(APPLIED)
      const [size] = await place.say<{ all: string }>('SELECT pg_database_size(current_database()) AS all')
      const [all, index] = [Number(size?.all ?? 0), await store.size()]
      const needles = bench.facts.needles.slice(0, 4).map(({ text }) => `"${text}"`)
      const rare = await searchTimes(store, needles, 3)
      const common = await searchTimes(store, ['error', 'file test', 'comp*'], 3)
      const pages: number[] = []
      for (let n = 0; n < 50; n++) {
        const file = files[Math.floor((files.length * n) / 50)] ?? 0
        const started = performance.now()
        await log.readPage({ file, from: 0, bytes: PAGE })
        pages.push(performance.now() - started)
      }
      const row: Row = {
        name: `growth, ${mark / MILLION} million entries`,
        ours: `${Math.round(rate).toLocaleString('en')} entries/s`,
        against: `${Math.round(all / entries)} bytes each, ${Math.round(index / entries)} of them index`,
        ratio: '',
        target: '',
        met: 'info',
        note:
          `${mb(all)}; page p50 ${ms(quantile(pages, 0.5))} p99 ${ms(quantile(pages, 0.99))}; ` +
          `rare words p50 ${ms(quantile(rare, 0.5))} p99 ${ms(quantile(rare, 0.99))}; ` +
          `common words p50 ${ms(quantile(common, 0.5))} p99 ${ms(quantile(common, 0.99))}`,
      }
      rows.push(row)
      process.stderr.write(`${row.name}: ${row.ours}, ${row.against}, ${row.note ?? ''}\n`)
    }

    await write(WRITTEN)
    const base = await readBase(place)
    for (const mark of MARKS) {
      while (entries < mark) {
        const [size] = await place.say<{ all: string }>('SELECT pg_database_size(current_database()) AS all')
        const isEnough = performance.now() - begun > MOST_MS || Number(size?.all ?? 0) > MOST_BYTES
        if (isEnough) return rows
        await copyRows(place, base)
        entries += base.entries
      }
      await measure(mark)
    }
    return rows
  } finally {
    await store.close()
    await log.close()
    await ground.close()
  }
}

/** Pieces of the corpus, one after another, from the beginning again at its end. */
function cycle(captured: readonly Advance[]): () => readonly Advance[] {
  let pieces = toPieces(captured)
  return () => {
    let next = pieces.next()
    if (next.done === true) {
      pieces = toPieces(captured)
      next = pieces.next()
    }
    return next.done === true ? [] : next.value
  }
}

function* toPieces(advances: readonly Advance[]): Generator<readonly Advance[], undefined> {
  let piece: Advance[] = []
  let size = 0
  for (const advance of advances) {
    piece.push(advance)
    size += advance.entries.length
    if (size < APPLIED) continue
    yield piece
    piece = []
    size = 0
  }
  if (piece.length > 0) yield piece
  return undefined
}

/** The same as another session. Every entry has a word that no other has: ids and hashes are what indexes grow by. */
function toCopy(advance: Advance, copy: number, origin: string): Extract<Change, { kind: 'advance' }> {
  const name = (text: string): string => `${text}-${copy}`
  const entries = advance.entries.map((entry): EntryRow => {
    const [tier = 'said'] = (['said', 'thought', 'tool'] as const).filter(
      (one) => entry.text[one] !== undefined,
    )
    const own = randomBytes(6).toString('hex')
    return { ...entry, text: { ...entry.text, [tier]: `${entry.text[tier] ?? ''} ${own}` } }
  })
  const bills = advance.bills.map((bill) => ({ ...bill, key: name(bill.key) }))
  const file = { ...advance.file, path: name(advance.file.path), session: name(advance.file.session), origin }
  return { ...advance, file, entries, bills, as: 'news', anew: false }
}

/** The line of each entry, as long as it was. */
async function writeLines(
  log: Awaited<ReturnType<typeof openTeamLog>>,
  changes: readonly Extract<Change, { kind: 'advance' }>[],
  copy: number,
): Promise<readonly number[]> {
  const files: number[] = []
  for (const { file: of, entries } of changes) {
    const { path, session } = of
    const file = await log.putFile({
      kind: 'transcript',
      path,
      session,
      identity: `${copy} ${path}`,
      scope: 'team',
    })
    files.push(file)
    let batch: { file: number; offset: number; bytes: Buffer }[] = []
    let size = 0
    for (const entry of entries) {
      const { said = '', thought = '', tool = '' } = entry.text
      const text = `${said}${thought}${tool}`.slice(0, Math.max(0, Math.min(entry.length, 200_000) - 300))
      const bytes = Buffer.from(`${JSON.stringify({ text, filling: 'f'.repeat(300) })}\n`)
      batch.push({ file, offset: entry.offset, bytes })
      size += bytes.length
      if (size < 1e6) continue
      await log.append(batch)
      batch = []
      size = 0
    }
    await log.append(batch)
  }
  return files
}
