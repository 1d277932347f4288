import { writeFile } from 'node:fs/promises'
import { ThroughlineError } from '#base'
import type { LiveEvent } from '#wire'
import { toJsonl } from './claude-lines.ts'
import { indexed, type Given, type Suite } from './contract-suite.ts'
import { bytesOf, idsOf, listen } from './contract-place.ts'
import { readAll } from './readings.ts'

/** The part of the contract that is about what happens while one listens. */
export function describeLive({ describe, expect, test }: Suite, given: Given): void {
  describe('live', () => {
    test('a session is told from its beginning, then as it grows, each entry once', async () => {
      const { throughline, place } = given()
      const { shop } = place
      const listening = listen(throughline, { kind: 'session', id: shop.id })
      await listening.until(isCaughtUp)
      expect(idsOf(listening.events)).toEqual(await idsIn(shop.path))
      for (let round = 0; round < 5; round++) {
        await shop.append(
          shop.lines.prompt(`More ${round}`),
          shop.lines.reply([{ type: 'text', text: 'Yes.' }]),
        )
      }
      const whole = await idsIn(shop.path)
      await listening.until((events) => idsOf(events).length >= whole.length)
      expect(idsOf(listening.events)).toEqual(whole)
      expect(listening.cursor).toBe(listening.events.at(-1)?.cursor)
      listening.close()
    })

    test('from any cursor it goes on without gap or repetition', async () => {
      const { throughline, place } = given()
      const { shop } = place
      const whole = await idsIn(shop.path)
      const session = await throughline.get(shop.id)
      for (const limit of [1, 50, whole.length]) {
        const page = await throughline.page(session, { limit, after: '0' })
        const listening = listen(throughline, { kind: 'session', id: shop.id }, page.end)
        await listening.until(isCaughtUp)
        expect(idsOf(listening.events)).toEqual(whole.slice(limit))
        expect(listening.events.some(({ kind }) => kind === 'reset')).toBe(false)
        listening.close()
      }
      const last = listen(throughline, { kind: 'session', id: shop.id, last: 3 })
      await last.until(isCaughtUp)
      expect(idsOf(last.events)).toEqual(whole.slice(-3))
      last.close()
    })

    test('after it was closed nothing is told any more', async () => {
      const { throughline, place } = given()
      const { shop } = place
      const [first, second] = [0, 1].map(() => listen(throughline, { kind: 'session', id: shop.id, last: 1 }))
      await first?.until(isCaughtUp)
      await second?.until(isCaughtUp)
      first?.close()
      const told = first?.events.length
      await shop.append(shop.lines.prompt('Is anybody there?'))
      await second?.until((events) => idsOf(events).length >= 2)
      expect(first?.events.length).toBe(told)
      second?.close()
    })

    test('a file that is rewritten is told as void, and then again', async () => {
      const { throughline, place } = given()
      const { blog } = place
      const listening = listen(throughline, { kind: 'session', id: blog.id })
      await listening.until(isCaughtUp)
      const before = await bytesOf(blog.path)
      await writeFile(blog.path, toJsonl([blog.lines.prompt('All new')]))
      await listening.until(
        (events) => events.some(({ kind }) => kind === 'reset') && idsOf(events).length >= 1,
      )
      expect(idsOf(listening.events)).toEqual(await idsIn(blog.path))
      const stale = listen(throughline, { kind: 'session', id: blog.id }, listening.events[0]?.cursor)
      await stale.until(isCaughtUp)
      expect(stale.events[0]?.kind).toBe('reset')
      expect(idsOf(stale.events)).toEqual(await idsIn(blog.path))
      stale.close()
      listening.close()
      await writeFile(blog.path, before)
    })

    test('the list is told whole, then each session that changes', async () => {
      const { throughline, place } = given()
      const listening = listen(throughline, { kind: 'sessions' })
      await listening.until(isCaughtUp)
      const { sessions } = await throughline.list()
      expect(new Set(changedIn(listening.events))).toEqual(new Set(sessions.map(({ id }) => id)))
      const known = listening.events.length
      await place.shop.append(place.shop.lines.prompt('One more'))
      await listening.until((events) => changedIn(events.slice(known)).includes(place.shop.id))
      const session = await throughline.get(place.blog.id)
      await throughline.star(session, true)
      await listening.until((events) =>
        events.slice(known).some((one) => one.kind === 'session.changed' && one.session.starred === true),
      )
      await throughline.star(session, false)
      listening.close()
    })

    test('a query tells what is found from now on', async () => {
      const { throughline, place } = given()
      const { shop } = place
      await indexed(throughline)
      const listening = listen(throughline, { kind: 'query', q: 'quokka' })
      await listening.until(isCaughtUp)
      const line = shop.lines.reply([{ type: 'text', text: 'A quokka smiles.' }])
      await shop.append(shop.lines.prompt('Who smiles?'), line)
      await listening.until((events) => events.some(({ kind }) => kind === 'hit.found'))
      const hits = listening.events.flatMap((event) => (event.kind === 'hit.found' ? [event.hit] : []))
      expect(hits.map(({ entry, session }) => [session.id, entry.id])).toEqual([[shop.id, line.uuid]])
      listening.close()
    })

    test('a session that nobody knows ends it, with a reason', async () => {
      const { throughline } = given()
      const listening = listen(throughline, { kind: 'session', id: 'ffffffff-0000-4000-8000-000000000000' })
      await listening.until(() => listening.errors.length > 0)
      const [error] = listening.errors
      expect(error).toBeInstanceOf(ThroughlineError)
      expect(error).toMatchObject({ code: 'session-not-found', hint: expect.stringMatching(/./) })
    })
  })
}

function isCaughtUp(events: readonly LiveEvent[]): boolean {
  return events.some(({ kind }) => kind === 'caught-up')
}

function changedIn(events: readonly LiveEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'session.changed' ? [event.session.id] : []))
}

async function idsIn(path: string): Promise<readonly string[]> {
  return (await readAll(path)).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry.id] : []))
}
