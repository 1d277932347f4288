import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline } from '#app'
import { connect } from '#client'
import type { MemoryDocument } from '#model'
import { openServer, readSecret, toLocalToken } from '#server'
import { eventually, foldEvents, listen, openTempDir, runs } from '#testing'
import type { Throughline } from '#wire'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'

/** Sentences of which none is like another. */
const SENTENCES = [
  'Chromium opens seven windows',
  'Marmalade belongs upon toast',
  'Quarterly invoices leave before noon',
  'Lighthouses blink twice',
  'Penguins cannot whistle',
] as const
const ENDED = '2020-01-01T00:00:00.000Z'
const ALL = ['active', 'quarantined', 'expired', 'superseded', 'retired'] as const

type Known = {
  readonly id: string
  content: string
  tags: readonly string[]
  isPinned: boolean
  isRetired: boolean
  isExpired: boolean
  versions: number
}

type Step = { readonly who: 0 | 1; readonly which: number } & (
  | { readonly do: 'remember'; readonly sentence: number }
  | { readonly do: 'edit'; readonly sentence: number; readonly tags: readonly string[] }
  | { readonly do: 'retire' | 'restore' | 'pin' | 'unpin' | 'expire' | 'renew' | 'look' }
)

const at = { who: fc.constantFrom(0 as const, 1 as const), which: fc.nat(20) }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ...at, do: fc.constant('remember' as const), sentence: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...at,
      do: fc.constant('edit' as const),
      sentence: fc.nat(4),
      tags: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...at,
      do: fc.constantFrom('retire', 'restore', 'pin', 'unpin', 'expire', 'renew', 'look'),
    }),
  },
)

/** Two who write to one memory: a client of a server, and another process's worth of Throughline on the same home. */
async function openTwo(
  path: string,
): Promise<{ clients: readonly [Throughline, Throughline]; close(): Promise<void> }> {
  const home = join(path, 'home')
  mkdirSync(home, { mode: 0o700 })
  const env = { HOME: path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: join(path, 'claude') }
  const [served, other] = [await openThroughline({ env }), await openThroughline({ env })]
  const server = await openServer({
    throughline: served,
    home,
    port: 0,
    now: Date.now,
    version: 'test',
    startedAt: new Date().toISOString(),
  })
  const remote = await connect({
    url: server.address,
    token: toLocalToken(await readSecret(home)),
    WebSocket,
  })
  return {
    clients: [remote, other],
    async close() {
      await remote.close()
      await server.close()
      await served.close()
      await other.close()
    },
  }
}

const isActive = ({ isRetired, isExpired }: Known): boolean => !isRetired && !isExpired

async function perform(memory: Throughline['memory'], known: Known[], one: Step): Promise<void> {
  if (one.do === 'remember') {
    const content = SENTENCES[one.sentence] ?? ''
    const outcome = await memory.remember({ content })
    const same = known.filter((each) => isActive(each) && each.content === content)
    expect(outcome.kind).toBe(same.length === 0 ? 'remembered' : 'confirmed')
    if (outcome.kind !== 'remembered' && outcome.kind !== 'confirmed') return
    const { id } = outcome.document
    const confirmed = same.find((each) => each.id === id)
    if (confirmed !== undefined) confirmed.versions++
    else
      known.push({ id, content, tags: [], isPinned: false, isRetired: false, isExpired: false, versions: 1 })
    return
  }
  const chosen = known[one.which % Math.max(1, known.length)]
  if (chosen === undefined || one.do === 'look') {
    await memory.query({ type: 'learning' })
    return
  }
  const before = JSON.stringify({ ...chosen, versions: 0 })
  if (one.do === 'edit') {
    chosen.content = SENTENCES[one.sentence] ?? ''
    chosen.tags = one.tags
    await memory.edit(chosen.id, { content: chosen.content, tags: chosen.tags })
  } else {
    if (one.do === 'retire') chosen.isRetired = true
    if (one.do === 'restore') chosen.isRetired = false
    if (one.do === 'pin' || one.do === 'unpin') chosen.isPinned = one.do === 'pin'
    if (one.do === 'expire' || one.do === 'renew') chosen.isExpired = one.do === 'expire'
    await memory.act(
      chosen.id,
      one.do === 'expire'
        ? { do: 'expire', at: ENDED }
        : one.do === 'renew'
          ? { do: 'expire' }
          : { do: one.do },
    )
  }
  if (JSON.stringify({ ...chosen, versions: 0 }) !== before) chosen.versions++
}

function toKnown({
  id,
  content,
  tags,
  pinned,
  retiredAt,
  expiresAt,
}: MemoryDocument): Omit<Known, 'versions'> {
  return {
    id,
    content,
    tags,
    isPinned: pinned,
    isRetired: retiredAt !== undefined,
    isExpired: expiresAt !== undefined,
  }
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

test('[DOC40] [A1.2] whatever two do to one memory, both have the same, and both live queries end with it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const dir = await openTempDir()
      const two = await openTwo(dir.path)
      const { clients } = two
      const listening = clients.map((client) =>
        listen(client, { kind: 'documents', query: { type: 'learning' } }),
      )
      try {
        const known: Known[] = []
        for (const one of steps) await perform(clients[one.who].memory, known, one)
        for (const { memory } of clients) {
          const found = await memory.query({ type: 'learning', state: ALL })
          expect(found.map(toKnown).toSorted(byId)).toEqual(
            known.map(({ versions: _count, ...one }) => one).toSorted(byId),
          )
          for (const { id, versions } of known) expect(await memory.versions(id)).toHaveLength(versions)
        }
        const active = await clients[0].memory.query({ type: 'learning' })
        for (const { events, errors } of listening) {
          await eventually(async () => expect(foldEvents(events)).toEqual(active))
          expect(errors).toEqual([])
        }
      } finally {
        for (const one of listening) one.close()
        await two.close()
        await dir.remove()
      }
    }),
    runs(25),
  )
})
