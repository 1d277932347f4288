import { createRandom, type Random } from './corpus-random.ts'

/**
 * How often a property is tried: a few hundred times in everyday runs, more with `RUNS=full`. `SEED` repeats a failed
 * run, which prints its seed.
 */
export function runs(everyday: number): { numRuns: number; seed?: number } {
  const numRuns = process.env['RUNS'] === 'full' ? everyday * 10 : everyday
  const seed = givenSeed()
  return seed === undefined ? { numRuns } : { numRuns, seed }
}

/** Chance for a test that is no property: the same in everyday runs, another one, which is printed, with `RUNS=full`. */
export function seededRandom(): Random {
  const seed = givenSeed() ?? (process.env['RUNS'] === 'full' ? Date.now() % 2 ** 31 : 4711)
  if (process.env['RUNS'] === 'full') process.stderr.write(`SEED=${seed}\n`)
  return createRandom(seed)
}

function givenSeed(): number | undefined {
  const seed = Number(process.env['SEED'] ?? Number.NaN)
  return Number.isInteger(seed) ? seed : undefined
}
