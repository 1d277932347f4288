import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DocumentDelivery } from '#model'
import { openTempDir, runs } from '#testing'
import type { TempDir } from '#testing'
import { openDocuments } from './documents.ts'
import type { Documents } from './document-calls.ts'

const ME = { by: 'me' }
let dir: TempDir
let home: string
let time: number
let minted: number
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  time = Date.UTC(2026, 0, 1)
  minted = 0
})
afterEach(() => dir.remove())

const open = (at = home): Promise<Documents> =>
  openDocuments({ home: at, now: () => (time += 1000), mintId: () => `id${++minted}` })
const logged = async (): Promise<readonly unknown[]> =>
  (await readFile(join(home, 'documents.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))

describe('documents', () => {
  test('[DOC61] deleted ones are gone from the log for good, and are not brought back by reading on', async () => {
    const documents = await open()
    const at = { sessionId: 's', entryId: 'e', block: 0, position: 3 }
    const draft = { type: 'learning', content: 'the password is plum', provenance: at } as const
    const { document } = await documents.put(draft, ME)
    const { document: other } = await documents.put({ type: 'learning', content: 'another' }, ME)
    await documents.patch(document.id, { content: 'it is still plum' }, ME)
    await documents.erase(document.id, ME)
    expect(JSON.stringify(await logged())).not.toContain('plum')
    for (const each of [documents, await open()]) {
      expect(each.find(document.id)).toBeUndefined()
      expect(each.query({ state: ['active', 'retired'] }).map(({ id }) => id)).toEqual([other.id])
      expect(each.findFrom(at)?.id).toBe(document.id)
      expect((await each.put(draft, ME)).outcome).toBe('known')
      await expect(each.restore(document.id, ME)).rejects.toMatchObject({ code: 'document-not-found' })
      await expect(each.patch(document.id, { content: 'x' }, ME)).rejects.toMatchObject({
        code: 'document-not-found',
      })
    }
    await documents.patch(other.id, { scope: 'team' }, ME)
    await expect(documents.erase(other.id, ME)).rejects.toMatchObject({ code: 'request-invalid' })
    expect(documents.find(other.id)?.content).toBe('another')
  })

  test('[DOC7] are kept with every version, in a file that only their owner reads', async () => {
    const documents = await open()
    const { document, outcome } = await documents.put({ type: 'learning', content: 'one', tags: ['a'] }, ME)
    expect(outcome).toBe('written')
    expect(document).toMatchObject({ id: 'learning:id1', category: 'knowledge', sessionId: null })
    const edited = await documents.patch(document.id, { content: 'two' }, { by: 'you' })
    await documents.pin(document.id, ME)
    await documents.expire(document.id, '2027-01-01T00:00:00Z', ME)
    await documents.unpin(document.id, ME)
    await documents.expire(document.id, undefined, ME)
    const all = documents.versions(document.id)
    expect(all.map(({ version, change, by }) => [version, change, by])).toEqual([
      [1, 'put', 'me'],
      [2, 'edited', 'you'],
      [3, 'pinned', 'me'],
      [4, 'expiry-set', 'me'],
      [5, 'unpinned', 'me'],
      [6, 'expiry-set', 'me'],
    ])
    expect(all[0]?.document).toEqual(document)
    expect(all[1]?.document).toEqual(edited)
    expect(documents.find(document.id)).toEqual({ ...edited, updatedAt: all[5]?.at })
    expect((await open()).versions(document.id)).toEqual(all)
    expect((await stat(join(home, 'documents.jsonl'))).mode & 0o777).toBe(0o600)
  })

  test('[DOC8] can be retired, restored, superseded and told by their newest', async () => {
    const documents = await open()
    const [a, b, c] = await documents.putAll(
      ['a', 'b', 'c'].map((content) => ({ type: 'learning', content, id: content })),
      ME,
    )
    expect([a, b, c].map((one) => one?.outcome)).toEqual(['written', 'written', 'written'])
    await documents.supersede('a', 'b', ME)
    await documents.supersede('b', 'c', ME)
    expect(documents.findNewest('a')?.id).toBe('c')
    expect(documents.query({}).map(({ id }) => id)).toEqual(['c'])
    await expect(documents.supersede('c', 'a', ME)).rejects.toMatchObject({ code: 'request-invalid' })
    await expect(documents.supersede('c', 'c', ME)).rejects.toMatchObject({ code: 'request-invalid' })
    await expect(documents.supersede('c', 'd', ME)).rejects.toMatchObject({ code: 'document-not-found' })
    await documents.restore('a', ME)
    await documents.retire('c', ME)
    await documents.retire('c', ME)
    expect(documents.versions('c')).toHaveLength(2)
    expect(documents.query({}).map(({ id }) => id)).toEqual(['a'])
    await documents.patch('a', { content: 'other', tags: ['t'] }, ME)
    const back = await documents.restore('a', { by: 'me', from: 1 })
    expect(back).toMatchObject({ content: 'a', tags: [] })
    await expect(documents.restore('a', { by: 'me', from: 99 })).rejects.toMatchObject({
      code: 'document-not-found',
    })
    await expect(documents.retire('none', ME)).rejects.toMatchObject({ code: 'document-not-found' })
  })

  test('[DOC9] an edit of a version that is not the last is refused, and one that changes nothing is not written', async () => {
    const documents = await open()
    await documents.put({ type: 'learning', content: 'a', id: 'a' }, ME)
    await documents.patch('a', { content: 'b' }, { by: 'me', version: 1 })
    await expect(documents.patch('a', { content: 'c' }, { by: 'you', version: 1 })).rejects.toMatchObject({
      code: 'document-changed',
    })
    await documents.patch('a', { content: 'b' }, ME)
    expect(documents.versions('a')).toHaveLength(2)
    await documents.confirm('a', { by: 'you' })
    expect(documents.versions('a').at(-1)).toMatchObject({ change: 'confirmed', by: 'you' })
  })

  test('[DOC10] what was promoted at one place is remembered once, and not again after it was edited or retired', async () => {
    const provenance = { sessionId: 's', entryId: 'e', block: 0, position: 7 }
    const draft = { type: 'learning', content: 'once', provenance } as const
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('put', 'fork', 'edit', 'retire', 'reopen'), { maxLength: 6 }),
        fc.uuid(),
        async (steps, folder) => {
          const own = join(dir.path, folder)
          let documents = await open(own)
          const first = await documents.put(draft, ME)
          let expected = first.document
          for (const step of steps) {
            if (step === 'reopen') documents = await open(own)
            if (step === 'edit') expected = await documents.patch(expected.id, { tags: [String(time)] }, ME)
            if (step === 'retire') expected = await documents.retire(expected.id, ME)
            if (step === 'put') await documents.put(draft, ME)
            if (step === 'fork')
              await documents.put({ ...draft, provenance: { ...provenance, sessionId: 'fork' } }, ME)
          }
          const states = ['active', 'retired'] as const
          expect(documents.query({ state: states })).toEqual([expected])
          expect(await documents.put(draft, ME)).toEqual({ outcome: 'known', document: expected })
        },
      ),
      runs(15),
    )
  })

  test('[DOC10] what is said again counts once for each place, however often it is read', async () => {
    const documents = await open()
    const place = { sessionId: 's', entryId: 'e', block: 0, position: 7 }
    const { document } = await documents.put({ type: 'learning', content: 'x', provenance: place }, ME)
    const other = { ...place, entryId: 'f' }
    expect(documents.findFrom(other)).toBeUndefined()
    for (const provenance of [place, other, other, { ...other, sessionId: 'fork' }])
      await documents.confirm(document.id, { by: 'me', provenance })
    expect(documents.versions(document.id).map(({ change }) => change)).toEqual(['put', 'confirmed'])
    expect(documents.findFrom(other)).toMatchObject({ id: document.id, confirmations: [other] })
    expect(documents.findFrom(place)?.id).toBe(document.id)
  })

  test('[DOC11] of several that are open at once are all kept, in one order', async () => {
    const opened = await Promise.all(Array.from({ length: 4 }, () => open()))
    await Promise.all(
      opened.map(async (documents, n) => {
        await documents.put({ type: 'marker', content: 'mine', id: `own${n}` }, ME)
        await documents.put({ type: 'marker', content: `${n}`, id: 'shared' }, ME)
        await documents.patch('shared', { tags: [`t${n}`] }, { by: `${n}` })
      }),
    )
    const fresh = await open()
    expect(fresh.query({})).toHaveLength(5)
    expect(fresh.versions('shared').map(({ version }) => version)).toEqual([1, 2, 3, 4, 5])
    for (const documents of opened) {
      await documents.refresh()
      expect(documents.versions('shared')).toEqual(fresh.versions('shared'))
    }
  })

  test('[DOC12] a live query tells what matches, and again when that is different, also when another wrote it', async () => {
    const [documents, other] = [await open(), await open()]
    const told: DocumentDelivery[] = []
    await documents.put({ type: 'learning', content: 'Tea', id: 'a' }, ME)
    const stop = documents.subscribe({ type: 'learning', text: 'tea' }, (delivery) => told.push(delivery))
    const last = () => {
      const { documents: now, added, changed, removed } = told.at(-1) ?? told[0] ?? fail()
      const ids = (some: DocumentDelivery['added']) => some.map(({ id }) => id)
      return { count: told.length, now: ids(now), added: ids(added), changed: ids(changed), removed }
    }
    expect(last()).toEqual({ count: 1, now: ['a'], added: ['a'], changed: [], removed: [] })
    await documents.put({ type: 'learning', content: 'Coffee', id: 'b' }, ME)
    expect(told).toHaveLength(1)
    await other.put({ type: 'learning', content: 'teapot', id: 'c' }, ME)
    expect(told).toHaveLength(1)
    await documents.refresh()
    expect(last()).toEqual({ count: 2, now: ['a', 'c'], added: ['c'], changed: [], removed: [] })
    await documents.pin('a', ME)
    expect(last()).toEqual({ count: 3, now: ['a', 'c'], added: [], changed: ['a'], removed: [] })
    await documents.retire('c', ME)
    expect(last()).toEqual({ count: 4, now: ['a'], added: [], changed: [], removed: ['c'] })
    stop()
    await documents.retire('a', ME)
    expect(told).toHaveLength(4)
  })

  test('[DOC13] lines that are no versions are passed over, and stay where they are', async () => {
    const documents = await open()
    await documents.put({ type: 'learning', content: 'a', id: 'a' }, ME)
    const path = join(home, 'documents.jsonl')
    await appendFile(path, 'no json\n[]\n{"kind":"document.purged","id":"a"}\n{"kind":"document.wri')
    const fresh = await open()
    expect(fresh.query({})).toHaveLength(1)
    await fresh.put({ type: 'learning', content: 'b', id: 'b' }, ME)
    expect((await open()).query({})).toHaveLength(2)
    const lines = (await readFile(path, 'utf8')).split('\n')
    expect(lines[1]).toBe('no json')
    expect(lines.filter((line) => line.startsWith('{"kind":"document.wri'))).toHaveLength(2)
    await fresh.close()
    await expect(fresh.put({ type: 'learning', content: 'c' }, ME)).rejects.toMatchObject({
      code: 'journal-closed',
    })
  })

  test('[DOC7] every version of a learning that was edited is kept, as it was, for whoever looks', async () => {
    const documents = await open()
    await documents.put({ type: 'learning', content: 'v1', id: 'a' }, ME)
    for (const content of ['v2', 'v3', 'v4']) await documents.patch('a', { content }, ME)
    expect(documents.versions('a').map(({ document }) => document.content)).toEqual(['v1', 'v2', 'v3', 'v4'])
    expect(await logged()).toHaveLength(4)
  })
})

function fail(): never {
  throw new Error('nothing was told')
}
