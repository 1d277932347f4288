import { randomUUID } from 'node:crypto'
import type { Suite } from './contract-suite.ts'

interface Key {
  projectKey: string
  sessionId: string
  subpath?: string
}

interface Entry {
  type: string
  uuid?: string
  timestamp?: string
  [key: string]: unknown
}

/** What the Agent SDK asks of a store, with all that it may leave out. */
export interface SessionStoreUnderTest {
  append(key: Key, entries: Entry[]): Promise<void>
  load(key: Key): Promise<Entry[] | null>
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  delete?(key: Key): Promise<void>
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>
}

/** What must hold for every `SessionStore`, as the Agent SDK's own comments promise it. */
export function describeSessionStore(
  { expect, test }: Pick<Suite, 'expect' | 'test'>,
  open: () => Promise<{ readonly store: SessionStoreUnderTest; close(): Promise<void> }>,
): void {
  async function withStore(work: (store: SessionStoreUnderTest, key: Key) => Promise<void>): Promise<void> {
    const held = await open()
    try {
      await work(held.store, { projectKey: '-home-user-work', sessionId: randomUUID() })
    } finally {
      await held.close()
    }
  }

  test('gives back what was appended, in order, whatever it holds', async () => {
    await withStore(async (store, key) => {
      const entries = [
        made('a'),
        { type: 'mode', odd: 'a\u2028b\u0000 "é"', deep: [[{ x: null }], 1e21, true] },
      ]
      await store.append(key, entries)
      await store.append(key, [made('b')])
      expect(await store.load(key)).toEqual([...entries, made('b')])
    })
  })

  test('has null for what was never written', async () => {
    await withStore(async (store, key) => {
      expect(await store.load(key)).toBeNull()
      await store.append(key, [made('a')])
      expect(await store.load({ ...key, subpath: 'subagents/agent-x' })).toBeNull()
      expect(await store.load({ ...key, projectKey: '-elsewhere' })).toBeNull()
    })
  })

  test('keeps the order of calls that were not waited for', async () => {
    await withStore(async (store, key) => {
      const entries = Array.from({ length: 50 }, (_, index) => made(`e${index}`))
      await Promise.all(entries.map((entry) => store.append(key, [entry])))
      expect(await store.load(key)).toEqual(entries)
    })
  })

  test('keeps sessions, projects and what is below them apart', async () => {
    await withStore(async (store, key) => {
      const keys = [
        key,
        { ...key, sessionId: randomUUID() },
        { ...key, projectKey: 'another project/../of somebody' },
        { ...key, subpath: 'subagents/agent-1' },
        { ...key, subpath: 'subagents/agent-2' },
      ]
      for (const [index, each] of keys.entries()) await store.append(each, [made(`k${index}`)])
      for (const [index, each] of keys.entries()) expect(await store.load(each)).toEqual([made(`k${index}`)])
      const subkeys = await store.listSubkeys?.({ projectKey: key.projectKey, sessionId: key.sessionId })
      expect(subkeys?.toSorted() ?? ['subagents/agent-1', 'subagents/agent-2']).toEqual([
        'subagents/agent-1',
        'subagents/agent-2',
      ])
    })
  })

  test('lists the sessions of a project, with whole milliseconds', async () => {
    await withStore(async (store, key) => {
      if (store.listSessions === undefined) return
      expect(await store.listSessions(key.projectKey)).toEqual([])
      await store.append(key, [made('a')])
      await store.append({ ...key, subpath: 'subagents/agent-1' }, [made('b')])
      const [only, ...others] = await store.listSessions(key.projectKey)
      expect([only?.sessionId, Number.isInteger(only?.mtime), others]).toEqual([key.sessionId, true, []])
    })
  })

  test('forgets a session that is deleted, with all below it', async () => {
    await withStore(async (store, key) => {
      if (store.delete === undefined) return
      const below = { ...key, subpath: 'subagents/agent-1' }
      await store.append(key, [made('a')])
      await store.append(below, [made('b')])
      await store.delete(key)
      expect([await store.load(key), await store.load(below)]).toEqual([null, null])
      expect((await store.listSessions?.(key.projectKey)) ?? []).toEqual([])
      await store.append(key, [made('a')])
      expect(await store.load(key)).toEqual([made('a')])
    })
  })
}

/** What a store should do beyond that, and one that is kept in memory for tests does not. */
export function describeIdempotentSessionStore(
  { expect, test }: Pick<Suite, 'expect' | 'test'>,
  open: Parameters<typeof describeSessionStore>[1],
): void {
  test('takes an entry with a uuid once, and one without every time', async () => {
    const held = await open()
    try {
      const { store } = held
      const key = { projectKey: '-home-user-work', sessionId: randomUUID() }
      await store.append(key, [made('a'), { type: 'tag' }])
      await store.append(key, [made('a'), { type: 'tag' }, made('b'), made('b')])
      expect(await store.load(key)).toEqual([made('a'), { type: 'tag' }, { type: 'tag' }, made('b')])
    } finally {
      await held.close()
    }
  })
}

function made(uuid: string): Entry {
  return {
    type: 'user',
    uuid,
    timestamp: '2026-11-16T10:00:00.000Z',
    message: { role: 'user', content: uuid },
  }
}
