import { indexed, type Given, type Suite } from './contract-suite.ts'
import { entryOf } from './reading-contract.ts'

/** The part of the contract that asks across sessions. */
export function describeAsking(suite: Suite, given: Given): void {
  const { expect, test } = suite
  test('finds words wherever they stand, said before printed, and cites them', async () => {
    const { throughline, place } = given()
    await indexed(throughline)
    const { hits, total, index } = await throughline.search({ q: 'kumquat' })
    expect(hits.map(({ where, session }) => [where, session.id])).toEqual([
      ['said', place.shop.id],
      ['tool', place.shop.id],
    ])
    expect([total.count, index]).toEqual([2, 'complete'])
    const [hit] = hits
    const [mark] = hit?.snippet.marks ?? []
    expect(hit?.snippet.text.slice(...(mark ?? [0, 0]))).toBe('kumquat')
    const session = await throughline.get(hit?.session.id ?? '')
    const cited = await throughline.page(session, { limit: 1, before: hit?.entry.cursor ?? '' })
    expect(cited.readings.flatMap(entryOf).map(({ id }) => id)).toEqual([hit?.entry.id])
  })

  test('pages of hits, one after the other, are all hits', async () => {
    const { throughline } = given()
    await indexed(throughline)
    const whole = (await throughline.search({ q: 'number', limit: 200 })).hits.map(({ entry }) => entry.id)
    expect(whole.length).toBe(60)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await throughline.search({
        q: 'number',
        limit: 7,
        ...(cursor === undefined ? {} : { cursor }),
      })
      found.push(...page.hits.map(({ entry }) => entry.id))
      cursor = page.next
    } while (cursor !== undefined && found.length < 500)
    expect(found).toEqual(whole)
  })

  test('facets narrow a search, and what cannot be understood is searched as words', async () => {
    const { throughline, place } = given()
    await indexed(throughline)
    const count = async (q: string): Promise<number> => (await throughline.search({ q })).hits.length
    expect(await count('kumquat in:tool')).toBe(1)
    expect(await count('kumquat in:tool tool:Bash')).toBe(1)
    expect(await count('kumquat tool:Read')).toBe(0)
    expect(await count(`kumquat session:${place.blog.id}`)).toBe(0)
    expect(await count('workdir:/home/user/work/blog tea')).toBeGreaterThan(0)
    expect(await count('"kumquat is ripe"')).toBe(1)
    for (const q of ['"', '(', 'AND', 'NEAR(', '-', 'foo:bar', '***', 'a OR', '\u0000', "'; --"]) {
      const page = await throughline.search({ q })
      expect(Array.isArray(page.hits)).toBe(true)
    }
  })

  test('counts every message once, whatever it is grouped by', async () => {
    const { throughline, place } = given()
    await indexed(throughline)
    for (const by of ['day', 'model', 'workdir', 'session'] as const) {
      const report = await throughline.usage({ by })
      const sum = report.rows.reduce((all, row) => all + row.messages, 0)
      expect([by, report.by, sum]).toEqual([by, by, report.total.messages])
      expect(report.complete).toBe(true)
      expect(report.prices.dated).toMatch(/^\d{4}-\d\d-\d\d/)
    }
    const { rows } = await throughline.usage({ by: 'session', workdir: '/home/user/work/shop' })
    expect(rows.map(({ key, messages, usage }) => [key, messages, usage.input, usage.output])).toEqual([
      [place.shop.id, 120, 1200, 600],
    ])
    expect((await throughline.usage({ by: 'day', until: '2001-01-01' })).rows).toEqual([])
  })
}
