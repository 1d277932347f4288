import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline, type LocalThroughline } from '#app'
import { connect, createDatabase, liveQuery, type Hooks, type RemoteThroughline } from '#client'
import { openServer, readSecret, toLocalToken, type RunningServer } from '#server'
import {
  createLines,
  eventually,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

let dir: TempDir
let local: LocalThroughline
let server: RunningServer
let throughline: RemoteThroughline

beforeAll(async () => {
  dir = await openTempDir()
  const home = join(dir.path, 'home')
  mkdirSync(home, { mode: 0o700 })
  const claudeDir = join(dir.path, 'claude')
  await writeTranscript(claudeDir, toJsonl([createLines().prompt('What is tea?')]))
  local = await openThroughline({
    env: { HOME: dir.path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir },
  })
  server = await openServer({
    throughline: local,
    home,
    port: 0,
    now: Date.now,
    version: 'test',
    startedAt: new Date().toISOString(),
  })
  throughline = await connect({ url: server.address, token: toLocalToken(await readSecret(home)), WebSocket })
})
afterAll(async () => {
  await throughline?.close()
  await server?.close()
  await local?.close()
  await dir?.remove()
})

/** Components as a library calls them: hooks by their order, effects when what they depend on is another. */
function mount<T>(render: (hooks: Hooks) => T): { readonly shown: () => T; unmount(): void } {
  const states: unknown[] = []
  const effects: { dependencies: string; end: () => void }[] = []
  let shown: T
  let isDrawing = false
  function draw(): void {
    let [state, effect] = [0, 0]
    const begun: (() => void)[] = []
    isDrawing = true
    shown = render({
      useState<S>(initial: S) {
        const at = state++
        if (!(at in states)) states[at] = initial
        const value = states[at]
        return [isLike(value, initial) ? value : initial, (next: S) => set(at, next)]
      },
      useEffect(begin, dependencies) {
        const at = effect++
        const text = JSON.stringify(dependencies)
        if (effects[at]?.dependencies === text) return
        begun.push(() => {
          effects[at]?.end()
          effects[at] = { dependencies: text, end: begin() }
        })
      },
    })
    isDrawing = false
    for (const begin of begun) begin()
  }
  function set(at: number, value: unknown): void {
    states[at] = value
    if (!isDrawing) draw()
  }
  draw()
  return { shown: () => shown, unmount: () => effects.forEach(({ end }) => end()) }
}

/** What a hook keeps is of the type that it began with. */
function isLike<S>(value: unknown, like: S): value is S {
  return Array.isArray(value) === Array.isArray(like)
}

describe('[DOC41] [A7.2] calls of code that was written for a database in the page', () => {
  test('an answer whose words are in blocks keeps them, and what was said is read as it was written', async () => {
    const database = createDatabase(throughline)
    const answer = {
      _id: 'seed-answer',
      type: 'message',
      role: 'assistant',
      text: '',
      blocks: [
        { type: 'text', text: 'Of course.' },
        { type: 'tool_use', name: 'Read', input: {} },
        { type: 'text', text: 'Done.' },
      ],
      serverSessionId: 'a1b2c3d4',
    }
    await database.put(answer)
    expect(await database.get('seed-answer')).toMatchObject({ ...answer, content: 'Of course.\nDone.' })
    const learned = {
      _id: 'seed-learning',
      type: 'learning',
      content: 'Filter early.',
      serverSessionId: 'a1b2c3d4',
    }
    await database.put(learned)
    expect(await throughline.memory.get('seed-learning')).toMatchObject({
      sessionId: null,
      sourceSessionId: 'a1b2c3d4',
    })
    const { docs } = await database.query('type', { key: 'message' })
    expect(docs).toContainEqual(expect.objectContaining({ role: 'user', text: 'What is tea?' }))
    await database.del('seed-answer')
    await database.del('seed-learning')
  })

  test('put, get, query, del: flat fields with _id, their own ones kept', async () => {
    const database = createDatabase(throughline)
    const { id } = await database.put({
      _id: 'doc-1',
      type: 'marker',
      category: 'identity',
      serverSessionId: 's-1',
      event: 'Named Ada',
      mood: { warmth: 3 },
    })
    expect(id).toBe('doc-1')
    expect(await database.get('doc-1')).toMatchObject({
      _id: 'doc-1',
      type: 'marker',
      content: 'Named Ada',
      sessionId: 's-1',
      serverSessionId: 's-1',
      mood: { warmth: 3 },
    })
    await database.put({ ...(await database.get('doc-1')), mood: { warmth: 4 }, content: 'Named Ada, again' })
    expect(await database.get('doc-1')).toMatchObject({ content: 'Named Ada, again', mood: { warmth: 4 } })
    expect((await throughline.memory.versions('doc-1')).map(({ change }) => change)).toEqual([
      'put',
      'edited',
    ])
    await database.put(await database.get('doc-1'))
    expect(await throughline.memory.versions('doc-1')).toHaveLength(2)
    const minted = await database.put({ type: 'artifact', text: 'no id' })
    expect(minted.id).toMatch(/^artifact:/)
    for (const [field, key] of [
      ['category', 'identity'],
      ['serverSessionId', 's-1'],
      ['sessionId', 's-1'],
      ['_id', 'doc-1'],
      ['type', 'marker'],
    ] as const) {
      expect((await database.query(field, { key })).docs.map(({ _id }) => _id)).toEqual(['doc-1'])
    }
    expect((await database.query('mood')).docs.map(({ _id }) => _id)).toEqual(['doc-1'])
    expect((await database.query('_id', { keys: ['doc-1', 'nobody'] })).docs).toHaveLength(1)
    const said = await database.query('category', { key: 'transcript' })
    expect(said.docs).toMatchObject([{ content: 'What is tea?', serverSessionId: SESSION, role: 'user' }])
    const newest = await database.query('createdAt', { descending: true, limit: 1 })
    expect(newest.docs.map(({ _id }) => _id)).toEqual([minted.id])
    await database.del('doc-1')
    expect((await database.query('_id', { key: 'doc-1' })).docs).toEqual([])
    await expect(database.put({ type: 'marker', tags: 'x' })).rejects.toMatchObject({
      code: 'request-invalid',
    })
  })

  test('useLiveQuery draws again with every change, with the hooks that it is given', async () => {
    const component = mount((hooks) =>
      createDatabase(throughline, hooks).useLiveQuery('category', { key: 'operational' }),
    )
    expect(component.shown()).toEqual({ docs: [] })
    const other = createDatabase(local)
    await other.put({ _id: 'op-1', type: 'learning', category: 'operational', content: 'One.' })
    await eventually(async () => expect(component.shown().docs.map(({ _id }) => _id)).toEqual(['op-1']))
    await other.put({ _id: 'op-1', type: 'learning', category: 'operational', content: 'Two.' })
    await eventually(async () => expect(component.shown().docs).toMatchObject([{ content: 'Two.' }]))
    await other.del('op-1')
    await eventually(async () => expect(component.shown().docs).toEqual([]))
    component.unmount()
    expect(() => createDatabase(throughline).useLiveQuery('type')).toThrow('useLiveQuery has no hooks')
  })

  test('a live query of documents is the same list until something is different', async () => {
    const query = liveQuery(throughline, { type: 'teaching' })
    let told = 0
    query.subscribe(() => told++)
    await eventually(async () => expect(query.isCaughtUp).toBe(true))
    const before = query.docs
    expect(before).toEqual([])
    const put = await throughline.memory.put({ type: 'teaching', content: 'Ask first.' })
    await eventually(async () => expect(query.docs).toEqual([put]))
    expect(told).toBe(2)
    query.close()
  })
})
