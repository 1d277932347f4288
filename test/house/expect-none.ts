import { expect } from 'vitest'

/** Fails with the crimes themselves, so that the last lines of a run already say what to do. */
export function expectNone(crimes: readonly string[]): void {
  expect(crimes, `\n${crimes.join('\n')}\n`).toEqual([])
}
