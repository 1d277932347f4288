import { ThroughlineError } from '#base'
import type { Throughline } from '#wire'
import type { Place } from './contract-place.ts'

/** What a contract needs of a test runner. It is handed in: this room is also used where no tests run. */
export type Suite = Pick<typeof import('vitest'), 'afterAll' | 'beforeAll' | 'describe' | 'expect' | 'test'>

/** What a test is about. Asked for when it runs, for it may have been opened again. */
export type Given = () => { readonly throughline: Throughline; readonly place: Place }

/** Waits until the index has everything. */
export async function indexed(throughline: Throughline): Promise<void> {
  const deadline = performance.now() + 20_000
  while ((await throughline.health()).index.state !== 'complete') {
    if (performance.now() > deadline) throw new Error('the index never became complete')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The error that comes, which must be ours, with this code and a next step. */
export async function expectError(failing: Promise<unknown>, code: string): Promise<ThroughlineError> {
  const error = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ThroughlineError)) throw new Error(`expected ${code}, got ${String(error)}`)
  if (error.code === code && error.message !== '' && error.hint !== '') return error
  throw new Error(`expected ${code}, got ${error.code}: ${error.message} → ${error.hint}`)
}
