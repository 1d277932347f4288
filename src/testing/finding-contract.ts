import type { Reading } from '#model'
import type { Page, PagePlace } from '#wire'
import { expectError, type Given, type Suite } from './contract-suite.ts'
import { entryOf } from './reading-contract.ts'

/** The part of the contract that is about finding one's way in a session, and about samples to try it on. */
export function describeFinding(suite: Suite, given: Given): void {
  const { expect, test } = suite
  test('[DIG1] a page around a place is a piece of the session, and pages beside it meet it', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.shop.id)
    const all: Reading[] = []
    for await (const reading of throughline.entries(session)) all.push(reading)
    const entries = all.flatMap(entryOf)
    const whole = entries.map(({ id }) => id)
    for (const at of [0, 1, 7, 120, whole.length - 1]) {
      const entry = entries[at]
      if (entry === undefined) throw new Error('the session is too short')
      const ways: readonly PagePlace[] = [
        { entry: entry.id },
        { time: entry.at ?? '' },
        { offset: entry.place.offset },
        { offset: entry.place.offset + 20 },
      ]
      for (const around of ways) {
        const page: Page = await throughline.page(session, { limit: 10, around, raw: false })
        const from = Math.max(0, at - 5)
        expect([around, idsIn(page)]).toEqual([around, whole.slice(from, from + 10)])
        expect([page.atStart, page.atEnd]).toEqual([from === 0, from + 10 >= whole.length])
        const before = await throughline.page(session, { limit: 3, before: page.start })
        const after = await throughline.page(session, { limit: 3, after: page.end })
        expect(idsIn(before)).toEqual(whole.slice(Math.max(0, from - 3), from))
        expect(idsIn(after)).toEqual(whole.slice(from + 10, from + 13))
      }
    }
    const one = await throughline.page(session, { limit: 1, around: { entry: whole[50] ?? '' } })
    expect(idsIn(one)).toEqual([whole[50]])
    const long = await throughline.page(session, {
      limit: 6000,
      around: { entry: whole[50] ?? '' },
      raw: false,
    })
    expect([idsIn(long), long.atStart, long.atEnd]).toEqual([whole, true, true])
  })

  test('[DIG1] [DIG3] a subagent has places too; before the beginning and behind the end there are pages', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.delegating)
    const subagent = session.subagents[0]?.id ?? ''
    const whole = idsIn(await throughline.page(session, { limit: 5000, subagent }))
    const wanted = whole.findLast((id) => !id.startsWith('@')) ?? ''
    const page = await throughline.page(session, { limit: 2, subagent, around: { entry: wanted } })
    expect(idsIn(page)).toContain(wanted)
    await expectError(throughline.page(session, { limit: 2, around: { entry: wanted } }), 'entry-not-found')
    const ends = [
      { time: '1990-01-01T00:00:00Z' },
      { offset: 0 },
      { time: '2999-01-01T00:00:00Z' },
      { offset: 1e15 - 1 },
    ]
    const pages = await Promise.all(ends.map((around) => throughline.page(session, { limit: 6, around })))
    expect(pages.map(({ atStart, atEnd }) => [atStart, atEnd])).toEqual([
      [true, false],
      [true, false],
      [false, true],
      [false, true],
    ])
    expect(pages.every(({ readings }) => readings.length > 0)).toBe(true)
  })

  test('[DIG2] [DIG4] an entry that is nowhere, and a time that is none, are told with a next step', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.blog.id)
    const at = (around: PagePlace): Promise<Page> => throughline.page(session, { limit: 4, around })
    await expectError(at({ entry: 'nobody' }), 'entry-not-found')
    await expectError(at({ time: 'yesterday' }), 'request-invalid')
    expect(idsIn(await at({ entry: '@0' }))).toHaveLength(3)
  })

  test('[DIG5] [DIG6] a digest tells what a survey tells, and where things are', async () => {
    const { throughline, place } = given()
    for (const id of [place.shop.id, place.blog.id, place.delegating, place.compacted, place.damaged]) {
      const session = await throughline.get(id)
      const digest = await throughline.digest(session)
      expect(digest.facts).toEqual((await throughline.survey(session)).facts)
      for (const point of digest.outline) {
        if (point.kind === 'damage') continue
        const page = await throughline.page(session, { limit: 1, around: { offset: point.offset } })
        expect(idsIn(page)).toEqual([point.id])
      }
    }
    const shop = await throughline.digest(await throughline.get(place.shop.id))
    expect(shop.tools).toEqual([{ name: 'Bash', calls: 60, failed: 0, denied: 0 }])
    expect(shop.commands.map(({ command }) => command).slice(0, 2)).toEqual(['step 0', 'step 1'])
    expect(shop.outline).toHaveLength(61)
  })

  test('[DEMO1] samples are in the list when they were turned on, and gone when they were turned off', async () => {
    const { throughline } = given()
    const count = async (): Promise<number> =>
      (await throughline.list()).sessions.filter(({ demo }) => demo === true).length
    expect(await count()).toBe(0)
    await throughline.demo('on')
    expect(await count()).toBeGreaterThan(5)
    await throughline.demo('off')
    expect(await count()).toBe(0)
  })
}

function idsIn({ readings }: Page): readonly string[] {
  return readings.flatMap(entryOf).map(({ id }) => id)
}
