import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline, type LocalThroughline } from '#app'
import { field, list, object, parseJson, string } from '#base'
import { connect, login, type RemoteThroughline } from '#client'
import { openServer, readSecret, toLocalToken, type RunningServer } from '#server'
import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let dir: TempDir
let local: LocalThroughline
let server: RunningServer
let machine: RemoteThroughline
let token: string

beforeAll(async () => {
  dir = await openTempDir()
  const home = join(dir.path, 'home')
  const claudeDir = join(dir.path, 'claude')
  mkdirSync(home, { mode: 0o700 })
  const lines = createLines()
  await writeTranscript(
    claudeDir,
    toJsonl([lines.prompt('What is tea?'), lines.reply([{ type: 'text', text: 'A leaf, & water.' }])]),
  )
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
  machine = await connect({ url: server.address, token: toLocalToken(await readSecret(home)) })
  const { code } = await machine.createCode()
  token = await login({ url: server.address, code, label: 'phone' })
})
afterAll(async () => {
  await machine?.close()
  await server?.close()
  await local?.close()
  await dir?.remove()
})

async function ask(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: unknown; text: string }> {
  const response = await fetch(`${server.address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: parseJson(text), text }
}

const contentsOf = (body: unknown): readonly unknown[] =>
  list(body, 'documents').map((one) => field(one, 'content'))

describe('[DOC39] documents over REST', () => {
  test('facets are parameters; a value that cannot be meant is refused by its name', async () => {
    await ask('POST', '/api/documents/put', {
      document: { _id: 'a', type: 'learning', content: 'One.', tags: ['x', 'y'], serverSessionId: 's-1' },
    })
    await ask('POST', '/api/documents/put', {
      document: { _id: 'b', type: 'marker', content: 'Two.', pinned: true },
    })
    for (const [query, expected] of [
      ['type=learning,marker', ['One.', 'Two.']],
      ['type=learning&tags=y,x', ['One.']],
      ['serverSessionId=s-1', ['One.']],
      ['sessionId=none', ['Two.']],
      ['pinned=1', ['Two.']],
      ['type=marker&text=tw', ['Two.']],
      ['type=marker&state=retired,active', ['Two.']],
      ['type=learning,marker&limit=1', ['Two.']],
      [`sessionId=${SESSION}&speakerType=agent`, ['A leaf, & water.']],
      ['role=user', ['What is tea?']],
    ] as const) {
      const answer = await ask('GET', `/api/documents?${query}`)
      expect([answer.status, contentsOf(answer.body)]).toEqual([200, expected])
    }
    for (const [query, name] of [
      ['type=letter', 'type'],
      ['colour=red', 'colour'],
      ['pinned=yes', 'pinned'],
      ['limit=0', 'limit'],
      ['state=asleep', 'state'],
    ] as const) {
      const { status, body } = await ask('GET', `/api/documents?${query}`)
      expect([status, string(body, 'code')]).toEqual([400, 'request-invalid'])
      expect(string(body, 'message')).toContain(name)
    }
  })

  test('who did it is the device that asks, whatever it says', async () => {
    const made = await ask('POST', '/api/documents', { content: 'Said by a phone.', by: 'somebody else' })
    expect(made.status).toBe(201)
    const id = string(object(made.body, 'document'), 'id') ?? ''
    expect(object(made.body, 'document')).toMatchObject({ promotedBy: 'phone', speakerName: 'phone' })
    const path = `/api/documents/${encodeURIComponent(id)}`
    await ask('PATCH', path, { patch: { content: 'Changed.' }, by: 'nobody', version: 1 })
    await ask('POST', `${path}/actions`, { do: 'pin', by: 'nobody' })
    const { body } = await ask('GET', `${path}/versions`)
    expect(list(body, 'versions').map((one) => string(one, 'by'))).toEqual(['phone', 'phone', 'phone'])
    expect((await ask('PATCH', path, { patch: { content: 'Late.' }, version: 1 })).status).toBe(409)
    expect((await ask('PATCH', path, { patch: { workdir: null, tags: [] } })).status).toBe(200)
    const again = await ask('POST', '/api/documents', { content: 'Changed.' })
    expect([again.status, string(again.body, 'kind')]).toEqual([200, 'confirmed'])
  })

  test('every body is looked at, field by field', async () => {
    const wrong: readonly (readonly [string, object, string])[] = [
      ['/api/documents', { content: 1 }, 'content'],
      ['/api/documents', { content: 'x', tags: [1] }, 'tags'],
      ['/api/documents', { content: 'x', type: 'message' }, 'type'],
      ['/api/documents', { content: 'x', category: 'x' }, 'category'],
      ['/api/documents', { content: 'x', pinned: 1 }, 'pinned'],
      ['/api/documents', { content: 'x', audience: [] }, 'audience'],
      ['/api/documents', { content: 'x', at: { sessionId: 's' } }, 'entryId'],
      ['/api/documents', { content: 'x', at: { sessionId: 's', entryId: 'e', block: -1 } }, 'block'],
      ['/api/documents', { content: 'x', near: { choice: 'no', id: 'a' } }, 'choice'],
      ['/api/documents', { content: 'x', speaker: 'dog' }, 'speaker'],
      ['/api/documents/put', { document: { type: 'learning' } }, 'content'],
      ['/api/documents/put', { document: { type: 'learning', content: 'x', id: 'a\u0000' } }, 'id'],
      ['/api/documents/put', {}, 'document'],
      ['/api/documents/query', { query: { tags: 'a' } }, 'tags'],
      ['/api/documents/query', { query: { id: [1] } }, 'id'],
      ['/api/documents/a/actions', { do: 'eat' }, 'do'],
      ['/api/documents/a/actions', { do: 'restore', from: 0 }, 'from'],
      ['/api/documents/a/actions', { do: 'merge', others: [] }, 'others'],
      ['/api/documents/a/actions', { do: 'supersede' }, 'newer'],
      ['/api/documents/a/actions', { do: 'pin', version: 'x' }, 'version'],
      ['/api/documents/import', { format: 'xml', text: '' }, 'format'],
      ['/api/documents/import', { format: 'documents' }, 'text'],
      ['/api/tags', {}, 'text'],
      ['/api/wake-up', {}, 'workdir'],
      ['/api/wake-up', { workdir: '/w', previousTranscript: {} }, 'previousTranscript'],
      ['/api/wake-ups', { sessionId: 'a/b', workdir: '/w', agent: 'claude', reason: 'startup' }, 'sessionId'],
      ['/api/wake-ups', { sessionId: 's', workdir: '/w', agent: 'claude', reason: 'boredom' }, 'reason'],
    ]
    for (const [path, body, name] of wrong) {
      const answer = await ask('POST', path, body)
      expect([path, answer.status, string(answer.body, 'code')]).toEqual([path, 400, 'request-invalid'])
      expect(string(answer.body, 'message')).toContain(name)
    }
    const patched = await ask('PATCH', '/api/documents/a', { patch: { id: 'b' } })
    expect([patched.status, string(patched.body, 'message')]).toEqual([400, 'id cannot be changed'])
  })

  test('[A4.3] a transcript of messages alone, as apps of before kept them, is one', async () => {
    const spoken = [
      { role: 'user', speakerType: 'human', speakerName: 'Marcus', text: 'About the architecture change.' },
      { role: 'assistant', speakerType: 'agent', speakerName: 'Julian', text: 'Of course.' },
    ]
    const wakeUp = async (previousTranscript: unknown): Promise<string> =>
      string((await ask('POST', '/api/wake-up', { workdir: '/w', previousTranscript })).body, 'text') ?? ''
    const said = '[human — Marcus]: About the architecture change.\n[agent — Julian]: Of course.\n'
    expect(await wakeUp(spoken)).toContain(
      `<previous-session category="transcript" message-count="2">\n${said}</previous-session>`,
    )
    const kept = spoken.map((one) => ({
      ...one,
      serverSessionId: 'a1b2c3d4',
      createdAt: '2026-02-15T08:30:00Z',
    }))
    expect(await wakeUp(kept)).toContain(
      `session-id="a1b2c3d4" message-count="2" ended="2026-02-15T08:30:00.000Z">\n${said}`,
    )
    const wrong = await ask('POST', '/api/wake-up', { workdir: '/w', previousTranscript: [{ text: 'x' }] })
    expect([wrong.status, string(wrong.body, 'code')]).toEqual([400, 'request-invalid'])
  })

  test('ids may have any characters, and be called like a path of ours', async () => {
    for (const id of ['export', 'import', 'query', 'a/b?c#d%20 ü', `message:${SESSION}:x`, '"']) {
      await machine.memory.put({ id, type: 'marker', content: id })
      expect((await machine.memory.get(id)).content).toBe(id)
      expect(await machine.memory.versions(id)).toHaveLength(1)
    }
    for (const id of ['..', '.', '', 'x'.repeat(201), 'nobody']) {
      await expect(machine.memory.get(id)).rejects.toMatchObject({ code: 'document-not-found' })
    }
  })

  test('the export is lines, the wake-up a text with its receipt, recall a list of hits', async () => {
    const exported = await ask('GET', '/api/documents/export')
    expect(
      exported.text
        .split('\n')
        .slice(0, -1)
        .every((line) => object(parseJson(line), 'document') !== undefined),
    ).toBe(true)
    expect(await machine.memory.export()).toBe(exported.text)
    expect((await ask('GET', '/api/wake-up?workdir=/home/user/work/made')).body).toMatchObject({
      text: expect.any(String),
      receipt: expect.any(Object),
    })
    expect((await ask('GET', `/api/sessions/${SESSION}/wake-ups`)).body).toEqual({ wakeUps: [] })
    expect((await ask('GET', '/api/recall?q=tea')).body).toMatchObject({ hits: expect.any(Array) })
    expect((await ask('GET', '/api/recall')).status).toBe(400)
    expect((await ask('GET', '/api/review')).body).toMatchObject({ held: [], contradictions: [] })
    expect((await ask('GET', '/api/documents/nobody/trace')).status).toBe(404)
    expect((await ask('GET', '/api/artifacts/nobody?hash=0')).status).toBe(404)
  })
})
