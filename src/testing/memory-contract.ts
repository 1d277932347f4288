import { ThroughlineError } from '#base'
import type { Throughline } from '#wire'
import { listen } from './contract-place.ts'
import { expectError, type Given, type Suite } from './contract-suite.ts'
import { eventually } from './eventually.ts'
import { asDraft, asPatch, asQuery, foldEvents, isCaughtUp } from './memory-stage.ts'
import { describeRemembering } from './remembering-contract.ts'

/** The part of the contract that is about what is remembered. */
export function describeMemory(suite: Suite, given: Given): void {
  const { describe, expect, test } = suite
  describe('memory', () => {
    const memory = (): Throughline['memory'] => given().throughline.memory

    describeRemembering(suite, given)

    test('what was said is read from the transcripts as documents, by every facet', async () => {
      const { blog, shop } = given().place
      const said = await memory().query({ sessionId: blog.id })
      expect(said.map(({ role, speakerType, content }) => [role, speakerType, content])).toEqual([
        ['user', 'human', 'Write about tea'],
        ['assistant', 'agent', 'Tea is a leaf.'],
      ])
      for (const one of said) {
        expect(one).toMatchObject({ type: 'message', category: 'transcript', sessionId: blog.id })
        expect(one.id).toBe(`message:${blog.id}:${one.provenance?.entryId}`)
        expect(await memory().get(one.id)).toEqual(one)
        expect((await memory().versions(one.id)).map(({ document }) => document)).toEqual([one])
      }
      const ofAgent = await memory().query({ type: 'message', sessionId: [blog.id], speakerType: 'agent' })
      expect(ofAgent.map(({ id }) => id)).toEqual([said[1]?.id])
      expect(
        await memory().query({ category: 'transcript', text: 'leaf', workdir: '/home/user/work/blog' }),
      ).toEqual(ofAgent)
      const newest = await memory().query({ type: 'message', sessionId: shop.id }, { limit: 3 })
      const all = await memory().query({ type: 'message', sessionId: shop.id })
      expect(newest).toEqual(all.slice(-3))
      await expectError(memory().edit(said[0]?.id ?? '', { content: 'x' }), 'request-invalid')
    })

    test('a document is put once, found by any facet, also by the names that other stores have', async () => {
      const draft = {
        id: 'put: 1/ü?',
        type: 'teaching',
        content: 'Ask before you deploy.',
        category: 'operational',
        tags: ['deploy', 'care'],
        audience: { agents: ['codex'], workdirs: [] },
        extra: { theirs: { deep: [1, null] } },
      } as const
      const put = await memory().put(draft)
      expect(put).toMatchObject({ ...draft, sessionId: null, pinned: false })
      expect(await memory().put({ ...draft, content: 'Something else.' })).toEqual(put)
      expect(await memory().get(draft.id)).toEqual(put)
      for (const query of [
        { id: draft.id },
        { tags: ['care', 'deploy'] },
        { type: 'teaching', category: ['operational', 'identity'] },
        { type: 'teaching', audience: { agent: 'codex' } },
        { type: 'teaching', text: 'depl' },
        { type: 'teaching', sessionId: null },
      ] as const) {
        expect(await memory().query(query)).toEqual([put])
      }
      expect(await memory().query({ type: 'teaching', audience: { agent: 'claude' } })).toEqual([])
      const ported: object = {
        _id: 'ported',
        type: 'marker',
        content: 'Began.',
        serverSessionId: 's-1',
        mood: 'good',
      }
      expect(await memory().put(asDraft(ported))).toMatchObject({
        id: 'ported',
        sessionId: 's-1',
        extra: { mood: 'good' },
      })
      const alias: object = { serverSessionId: 's-1', type: 'marker' }
      expect((await memory().query(alias)).map(({ id }) => id)).toEqual(['ported'])
      await expectError(memory().get('nobody'), 'document-not-found')
      await expectError(memory().get('../..'), 'document-not-found')
      await expectError(memory().versions('nobody'), 'document-not-found')
    })

    test('what cannot be meant is refused, and named', async () => {
      const wrong: readonly (readonly [() => Promise<unknown>, string])[] = [
        [() => memory().query(asQuery({ type: 'letter' })), 'type'],
        [() => memory().query(asQuery({ colour: 'red' })), 'colour'],
        [() => memory().query(asQuery({ pinned: 'yes' })), 'pinned'],
        [() => memory().put(asDraft({ type: 'learning' })), 'content'],
        [() => memory().put(asDraft({ type: 'learning', content: 'x', tags: 'a' })), 'tags'],
        [() => memory().put(asDraft({ type: 'learning', content: 'x', expiresAt: 'soon' })), 'expiresAt'],
        [() => memory().edit('nobody', asPatch({ createdAt: '2026-01-01T00:00:00Z' })), 'createdAt'],
        [() => memory().remember({ content: '  ' }), 'content'],
        [() => memory().remember({ content: 'x', expiresAt: 'soon' }), 'expiresAt'],
        [() => memory().remember({ content: 'x', files: ['gone.txt'], workdir: '/nowhere' }), 'gone.txt'],
        [() => memory().remember({ content: 'x', files: ['gone.txt'] }), 'gone.txt'],
        [() => memory().act('nobody', { do: 'expire', at: 'soon' }), 'at'],
      ]
      for (const [failing, name] of wrong) {
        expect((await expectError(failing(), 'request-invalid')).message).toContain(name)
      }
      const listening = listen(given().throughline, { kind: 'documents', query: asQuery({ type: 'letter' }) })
      await listening.until(() => listening.errors.length > 0)
      const [error] = listening.errors
      expect(error instanceof ThroughlineError && error.code).toBe('request-invalid')
      listening.close()
    })

    test('edits keep every version; of two who edit the same one, the second is told', async () => {
      const made = await memory().put({ type: 'learning', content: 'Version one.', workdir: '/w' })
      const edited = await memory().edit(
        made.id,
        { content: 'Version two.', workdir: undefined },
        { version: 1 },
      )
      expect(edited.content).toBe('Version two.')
      expect(edited.workdir).toBeUndefined()
      await expectError(memory().edit(made.id, { content: 'Too late.' }, { version: 1 }), 'document-changed')
      await memory().act(made.id, { do: 'retire' }, { version: 2 })
      expect(await memory().query({ id: made.id })).toEqual([])
      expect(await memory().query({ id: made.id, state: 'retired' })).toHaveLength(1)
      await memory().act(made.id, { do: 'restore', from: 1 })
      await memory().act(made.id, { do: 'pin' })
      await memory().act(made.id, { do: 'unpin' })
      await memory().act(made.id, { do: 'expire', at: '2020-01-01T00:00:00Z' })
      expect(await memory().query({ id: made.id, state: 'expired' })).toHaveLength(1)
      await memory().act(made.id, { do: 'expire' })
      const versions = await memory().versions(made.id)
      expect(versions.map(({ change }) => change)).toEqual([
        'put',
        'edited',
        'retired',
        'restored',
        'pinned',
        'unpinned',
        'expiry-set',
        'expiry-set',
      ])
      expect(versions.map(({ by }) => by)).toEqual(versions.map(() => 'this machine'))
      expect((await memory().get(made.id)).content).toBe('Version one.')
      await expectError(memory().act('nobody', { do: 'pin' }), 'document-not-found')
      await expectError(memory().edit('nobody', { content: 'x' }), 'document-not-found')
    })

    test('what was exported comes back, and an import changes nothing the second time', async () => {
      const text = await memory().export()
      const lines = text.trim().split('\n').length
      expect(lines).toBeGreaterThan(10)
      expect(await memory().import({ format: 'documents', text })).toMatchObject({ added: 0, losses: [] })
      expect(await memory().export()).toBe(text)
      const fireproof = '{"_id":"fp-1","type":"learning","content":"From before.","odd":1}\nnot json\n'
      expect(await memory().import({ format: 'fireproof', text: fireproof })).toEqual({
        added: 1,
        known: 0,
        held: 1,
        sessions: [],
        losses: [{ place: 'item 2', reason: 'not-json' }],
      })
      expect(await memory().import({ format: 'fireproof', text: fireproof })).toMatchObject({
        added: 0,
        known: 1,
        held: 0,
        sessions: [],
      })
      expect(await memory().get('fp-1')).toMatchObject({
        content: 'From before.',
        quarantine: 'from-outside: a Fireproof export',
        extra: { odd: 1 },
      })
      expect(await memory().import({ format: 'fireproof', text: fireproof, accept: true })).toMatchObject({
        added: 0,
        known: 1,
      })
      expect((await memory().get('fp-1')).quarantine).toBeUndefined()
    })

    test('a live query tells all that matches, then what is different, also what expires', async () => {
      const { throughline, place } = given()
      const query = { type: 'marker', tags: ['live'] } as const
      const first = await memory().put({ type: 'marker', content: 'One.', tags: ['live'] })
      const listening = listen(throughline, { kind: 'documents', query })
      await listening.until(isCaughtUp)
      expect(foldEvents(listening.events)).toEqual([first])
      const second = await memory().put({ type: 'marker', content: 'Two.', tags: ['live'] })
      await listening.until((events) => foldEvents(events).length === 2)
      const changed = await memory().edit(second.id, { content: 'Two, changed.' })
      await listening.until((events) => foldEvents(events).some(({ content }) => content === changed.content))
      await memory().act(first.id, { do: 'retire' })
      await listening.until((events) => foldEvents(events).length === 1)
      await memory().act(second.id, { do: 'expire', at: new Date(Date.now() + 1500).toISOString() })
      await listening.until((events) => foldEvents(events).length === 0)
      const { cursor } = listening
      listening.close()
      const back = listen(throughline, { kind: 'documents', query: { id: 'ported' } }, cursor)
      await back.until(isCaughtUp)
      expect(back.events.map(({ kind }) => kind)).toEqual(['reset', 'documents.changed', 'caught-up'])
      back.close()
      const said = listen(throughline, {
        kind: 'documents',
        query: { type: 'message', sessionId: place.blog.id },
      })
      await said.until(isCaughtUp)
      await place.blog.append(place.blog.lines.prompt('And about coffee?'))
      await said.until((events) => foldEvents(events).some(({ content }) => content === 'And about coffee?'))
      said.close()
      await eventually(async () => {
        expect(foldEvents(said.events)).toEqual(
          await memory().query({ type: 'message', sessionId: place.blog.id }),
        )
      })
    })
  })
}
