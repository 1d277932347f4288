import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresServer, openTeamPlace, ownsPostgresServer, runs, type PostgresServer } from '#testing'
import { openTeamLog } from './open-team-log.ts'
import type { NumberedLine, TeamLog } from './team-log.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await openPostgresServer({ own: true })
})
afterAll(() => server?.close())

const KILLS = runs(3).numRuns ?? 3

/** Sends until it is told that the lines are there. */
async function sendUntilTaken(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await send()
      return
    } catch {
      await sleep(20)
    }
  }
}

test.runIf(ownsPostgresServer())(
  '[TEA10] [FLT47] stopped at once under load, again and again: what was acknowledged is there, and nothing twice',
  async () => {
    const place = await openTeamPlace(server)
    const open = async (person: string): Promise<TeamLog> =>
      openTeamLog({ address: await place.addMachine({ person }), statementMs: 5000 })
    const logs = await Promise.all(['ada', 'bob', 'cid', 'dan'].map(open))
    const reader = await open('eve')
    const heard: NumberedLine[] = []
    const listening = reader.listen({
      after: 0,
      pollMs: 200,
      onNews: ({ lines }) => void heard.push(...lines),
    })
    const acknowledged = new Set<string>()
    const over = new AbortController()
    let failures = 0
    const writing = logs.map(async (log, n) => {
      const file = await log.putFile({
        identity: `f${n}`,
        kind: 'journal',
        path: `/f${n}`,
        scope: 'team',
      })
      for (let offset = 0; !over.signal.aborted; offset += 1000) {
        const lines = Array.from({ length: 5 }, (_, line) => ({
          file,
          offset: offset + line * 100,
          bytes: Buffer.from(`${n} ${offset} ${line}\n`),
        }))
        await sendUntilTaken(() =>
          log.append(lines).catch((error: unknown) => {
            failures++
            throw error
          }),
        )
        for (const line of lines) acknowledged.add(`${line.file}:${line.offset}`)
      }
    })
    for (let kill = 0; kill < KILLS; kill++) {
      const before = acknowledged.size
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 100)
      await server.stopImmediately()
      await server.start()
    }
    over.abort()
    await Promise.all(writing)
    const found: NumberedLine[] = []
    for (let after = 0; ;) {
      const { lines, next, more } = await reader.readAfter(after)
      found.push(...lines)
      if (!more) break
      after = next
    }
    const places = found.map(({ file, offset }) => `${file}:${offset}`)
    expect(failures).toBeGreaterThan(0)
    expect(new Set(places).size).toBe(places.length)
    expect(places.toSorted()).toEqual([...acknowledged].toSorted())
    // Who listened through all of it was told the same, once and in order.
    await expect.poll(() => heard.length).toBe(found.length)
    expect(heard.map(({ number }) => number)).toEqual(found.map(({ number }) => number))
    await listening.close()
    await Promise.all([...logs, reader].map((log) => log.close()))
  },
)
