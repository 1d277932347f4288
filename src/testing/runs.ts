/**
 * How often a property is tried: a few hundred times in everyday runs, more with `RUNS=full`. `SEED` repeats a failed
 * run, which prints its seed.
 */
export function runs(everyday: number): { numRuns: number; seed?: number } {
  const numRuns = process.env['RUNS'] === 'full' ? everyday * 10 : everyday
  const seed = Number(process.env['SEED'] ?? Number.NaN)
  return Number.isInteger(seed) ? { numRuns, seed } : { numRuns }
}
