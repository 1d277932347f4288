import { expectError, indexed, type Given, type Suite } from './contract-suite.ts'

/** The part of the contract that is about finding sessions. */
export function describeListing(suite: Suite, given: Given): void {
  const { expect, test } = suite
  test('lists every session once, most recently active first', async () => {
    const { throughline, place } = given()
    const { sessions, problems, lookedIn } = await throughline.list()
    const ids = sessions.map(({ id }) => id)
    for (const id of [place.shop.id, place.blog.id, place.delegating, place.compacted, place.damaged]) {
      expect(ids).toContain(id)
    }
    expect(new Set(ids).size).toBe(ids.length)
    const times = sessions.map(({ lastActivityAt }) => lastActivityAt ?? '')
    expect(times).toEqual(times.toSorted().toReversed())
    expect(problems).toEqual([])
    expect(lookedIn.join()).toContain(place.claudeDir)
  })

  test('filters by text, workdir, agent and life', async () => {
    const { throughline, place } = given()
    const idsWith = async (options: object): Promise<readonly string[]> =>
      (await throughline.list(options)).sessions.map(({ id }) => id)
    expect(await idsWith({ text: 'CHECKOUT' })).toEqual([place.shop.id])
    expect(await idsWith({ text: 'on tea' })).toEqual([place.blog.id])
    expect(await idsWith({ workdir: '/home/user/work/shop' })).toEqual([place.shop.id])
    expect(await idsWith({ workdir: '/home/user/work/sho' })).toEqual([])
    expect(await idsWith({ agent: 'claude', text: 'tea' })).toEqual([place.blog.id])
    expect(await idsWith({ agent: 'nobody' })).toEqual([])
    expect(await idsWith({ live: 'busy' })).toEqual([])
  })

  test('pages of a list, one after the other, are the list', async () => {
    const { throughline } = given()
    const whole = (await throughline.list()).sessions.map(({ id }) => id)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await throughline.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.sessions.length).toBeLessThanOrEqual(2)
      found.push(...page.sessions.map(({ id }) => id))
      cursor = page.next
    } while (cursor !== undefined && found.length < 100)
    expect(found).toEqual(whole)
  })

  test('a full list has counts and the tokens of all', async () => {
    const { throughline, place } = given()
    await indexed(throughline)
    const { sessions, usage } = await throughline.list({ full: true, workdir: '/home/user/work/shop' })
    expect(sessions.map(({ id, counts }) => [id, counts?.prompts, counts?.replies])).toEqual([
      [place.shop.id, 61, 120],
    ])
    expect(usage).toMatchObject({ input: 1200, output: 600 })
  })

  test('gets a session by id, by the beginning of it, and by name; else says why not', async () => {
    const { throughline, place } = given()
    const byId = await throughline.get(place.shop.id)
    expect(byId).toMatchObject({ id: place.shop.id, path: place.shop.path, agent: 'claude' })
    expect(await throughline.get('aaaaaaaa-1')).toEqual(byId)
    expect((await throughline.get(' on TEA ')).id).toBe(place.blog.id)
    for (const query of ['no such session', 'on te', 'aaa', '', '..', '.', 'a/b', '%2e%2e', 'ü?#&']) {
      await expectError(throughline.get(query), 'session-not-found')
    }
    const error = await expectError(throughline.get('aaaaaaaa'), 'session-ambiguous')
    expect(error.hint).toContain(place.shop.id)
  })

  test('surveys and checks', async () => {
    const { throughline, place } = given()
    const surveyed = await throughline.survey(await throughline.get(place.shop.id))
    expect(surveyed.facts).toMatchObject({ prompts: 61, replies: 120, toolCalls: 60, damage: [] })
    const damaged = await throughline.get(place.damaged)
    const { session, findings } = await throughline.check(damaged)
    expect(session.id).toBe(place.damaged)
    expect(findings).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'torn', offset: 18_379, length: 213 }),
    )
    for (const { hint } of findings) expect(hint).not.toBe('')
  })

  test('says how it is', async () => {
    const { throughline, place } = given()
    const health = await throughline.health()
    const { sessions } = await throughline.list()
    expect(health).toMatchObject({ protocol: 1, sessions: { total: sessions.length, waitingForYou: 0 } })
    expect(health.pid).toBeGreaterThan(0)
    expect(Number.isNaN(Date.parse(health.startedAt))).toBe(false)
    expect(place.home).not.toBe('')
  })
}
