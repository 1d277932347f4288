import type { Throughline } from '#wire'
import { describeAsking } from './asking-contract.ts'
import { listen, openPlace, type Place } from './contract-place.ts'
import type { Given, Suite } from './contract-suite.ts'
import { describeFinding } from './finding-contract.ts'
import { describeListing } from './listing-contract.ts'
import { describeLive } from './live-contract.ts'
import { describeMemory } from './memory-contract.ts'
import { describeReading } from './reading-contract.ts'
import { describeRunning } from './running-contract.ts'

/** One way to have a Throughline. */
export interface Opened {
  readonly throughline: Throughline
  close(): Promise<void>
}

/** What the contract needs of an implementation: to be opened on a place, more than once. */
export type OpenOn = (place: Place) => Promise<Opened>

/**
 * What every Throughline does, whoever answers. Each implementation runs this suite: the same calls, the same answers,
 * the same errors.
 */
export function describeThroughline(
  suite: Suite,
  options: { readonly name: string; readonly open: OpenOn },
): void {
  const { afterAll, beforeAll, describe, expect, test } = suite
  const { name, open } = options
  describe(name, () => {
    let place: Place
    let opened: Opened
    const tl = (): Throughline => opened.throughline
    beforeAll(async () => {
      place = await openPlace()
      opened = await open(place)
    })
    afterAll(async () => {
      await opened?.close()
      await place?.remove()
    })

    const given: Given = () => ({ throughline: tl(), place })
    describeListing(suite, given)
    describeReading(suite, given)
    describeFinding(suite, given)
    describeAsking(suite, given)
    describeRunning(suite, given)

    test('names and stars stay, also after it was closed and opened again', async () => {
      const session = await tl().get(place.blog.id)
      const renamed = await tl().rename(session, 'A better name')
      expect(renamed).toMatchObject({ id: place.blog.id, name: 'A better name', nameFrom: 'person' })
      expect(await tl().star(renamed, true)).toMatchObject({ starred: true })
      await opened.close()
      opened = await open(place)
      const again = await tl().get('A better name')
      expect(again).toMatchObject({ id: place.blog.id, nameFrom: 'person', starred: true })
      const { sessions } = await tl().list({ starred: true })
      expect(sessions.map(({ id }) => id)).toEqual([place.blog.id])
      expect(await tl().rename(again, undefined)).toMatchObject({ name: 'On tea', nameFrom: 'custom' })
      expect((await tl().star(again, false)).starred ?? false).toBe(false)
      expect((await tl().list({ starred: true })).sessions).toEqual([])
    })

    test('a query is heard from the first moment on, also while the index is being opened', async () => {
      await opened.close()
      opened = await open(place)
      const listening = listen(tl(), { kind: 'query', q: 'wombat' })
      await listening.until((events) => events.length > 0 || listening.errors.length > 0)
      expect(listening.errors).toEqual([])
      await place.shop.append(place.shop.lines.prompt('A wombat digs.'))
      await listening.until((events) => events.some(({ kind }) => kind === 'hit.found'))
      listening.close()
    })

    describeLive(suite, given)
    describeMemory(suite, given)
  })
}
