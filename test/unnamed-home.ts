import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where what a test does not say where to put goes: never into the home of whoever runs it. */
export const UNNAMED_HOME: string = join(tmpdir(), `throughline-tests-${process.pid}`)

export function teardown(): void {
  rmSync(UNNAMED_HOME, { recursive: true, force: true })
}
