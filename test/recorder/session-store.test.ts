import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  InMemorySessionStore,
  query,
  type SDKMessage,
  type SessionStore,
} from '@anthropic-ai/claude-agent-sdk'
import { afterEach, describe, expect, test } from 'vitest'
import { openThroughline } from '#app'
import { isObject, parseJson } from '#base'
import { createSessionStore } from '#recorder'
import {
  describeIdempotentSessionStore,
  describeSessionStore,
  inTurns,
  openTempDir,
  type SessionStoreUnderTest,
} from '#testing'
import { CLAUDE, openClaudePlace, type ClaudePlace } from '../drivers-claude-place.ts'

const suite = { expect, test }

describe("[ADP6] the Agent SDK's own store", () => {
  describeSessionStore(suite, () =>
    Promise.resolve({ store: new InMemorySessionStore(), close: () => Promise.resolve() }),
  )
})

async function openOurs(): Promise<{ store: SessionStoreUnderTest; close(): Promise<void> }> {
  const dir = await openTempDir()
  const store = createSessionStore({ folder: dir.path })
  return {
    store,
    async close() {
      await store.close()
      await dir.remove()
    },
  }
}

describe('[ADP6] [ADP7] the store on files', () => {
  describeSessionStore(suite, openOurs)
  describeIdempotentSessionStore(suite, openOurs)
})

test('[ADP8] what was acknowledged is there for the next process, each entry once', async () => {
  const dir = await openTempDir()
  try {
    const key = { projectKey: '-work', sessionId: 'one' }
    const entries = [{ type: 'user', uuid: 'a' }, { type: 'mode' }]
    const first = createSessionStore({ folder: dir.path })
    await first.append(key, entries)
    await expect(createSessionStore({ folder: dir.path }).append(key, [])).resolves.toBeUndefined()
    expect(await createSessionStore({ folder: dir.path }).load(key)).toEqual(entries)
    await first.close()
    const second = createSessionStore({ folder: dir.path })
    await second.append(key, [...entries, { type: 'user', uuid: 'b' }])
    expect(await second.load(key)).toEqual([...entries, { type: 'mode' }, { type: 'user', uuid: 'b' }])
    await second.delete(key)
    expect(await readdir(join(dir.path, 'projects', '-work'))).toEqual([])
    const [aside] = await readdir(join(dir.path, 'projects', '.deleted', '-work'))
    expect(await readFile(join(dir.path, 'projects', '.deleted', '-work', aside ?? ''), 'utf8')).toContain(
      '"b"',
    )
    await second.close()
  } finally {
    await dir.remove()
  }
})

test('[ADP8] two stores on one folder take turns, and each entry is there once', async () => {
  const dir = await openTempDir()
  try {
    const key = { projectKey: '-work', sessionId: 'one' }
    const stores = [createSessionStore({ folder: dir.path }), createSessionStore({ folder: dir.path })]
    const batches = Array.from({ length: 20 }, (_, at) => [{ type: 'user', uuid: `u${at >> 1}` }])
    await Promise.all(batches.map((batch, at) => stores[at % 2]?.append(key, batch)))
    const uuids = (await stores[0]?.load(key))?.map(({ uuid }) => uuid)
    expect(uuids?.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(
      Array.from({ length: 10 }, (_, at) => `u${at}`),
    )
  } finally {
    await dir.remove()
  }
})

test('[ADP8] no key leads out of the folder', async () => {
  const dir = await openTempDir()
  const store = createSessionStore({ folder: join(dir.path, 'inside') })
  try {
    for (const part of ['..', '../..', '../x', '/etc/x', '.', 'a/../../b', '%2e%2e', 'C:\\x', '\u0000'])
      for (const key of [
        { projectKey: part, sessionId: 's' },
        { projectKey: 'p', sessionId: part },
        { projectKey: 'p', sessionId: 's', subpath: `x/${part.replaceAll('/', '')}y` },
      ]) {
        await store.append(key, [{ type: 'tag' }])
        expect(await store.load(key)).toEqual([{ type: 'tag' }])
      }
    expect(await readdir(dir.path)).toEqual(['inside'])
    await expect(store.append({ projectKey: 'p', sessionId: 's', subpath: '' }, [])).rejects.toThrow('empty')
  } finally {
    await store.close()
    await dir.remove()
  }
})

let place: ClaudePlace | undefined
afterEach(async () => {
  await place?.close()
  place = undefined
})

async function run(
  prompt: string,
  options: { store: SessionStore; resume?: string },
): Promise<readonly SDKMessage[]> {
  const heard: SDKMessage[] = []
  const at = place
  if (at === undefined) throw new Error('there is no place')
  const { store, resume } = options
  for await (const message of query({
    prompt,
    options: {
      cwd: at.workdir,
      env: at.env,
      pathToClaudeCodeExecutable: CLAUDE,
      sessionStore: store,
      settingSources: [],
      ...(resume === undefined ? {} : { resume }),
    },
  }))
    heard.push(message)
  return heard
}

test('[ADP9] the real Claude Code mirrors its session here, is listed, and goes on after its own transcript is gone', async () => {
  place = await openClaudePlace(
    inTurns([{ kind: 'text', text: 'The word is heron.' }], [{ kind: 'text', text: 'It was heron.' }]),
  )
  const home = join(place.root, 'throughline')
  const ours = createSessionStore({ folder: join(home, 'recorded', 'claude') })
  // What is made here is what the SDK asks for.
  const store: SessionStore = ours
  const first = await run('Say a word.', { store })
  const sessionId = first.find((message) => message.type === 'result')?.session_id ?? ''
  const projects = join(place.configDir, 'projects')
  const [project = ''] = await readdir(projects)
  const own = await readFile(join(projects, project, `${sessionId}.jsonl`), 'utf8')
  const mirrored = await store.load({ projectKey: project, sessionId })
  const said = (lines: readonly object[]): readonly object[] => lines.filter((line) => 'uuid' in line)
  const theirs = own.trimEnd().split('\n').map(parseJson).filter(isObject)
  expect(said(mirrored ?? [])).toEqual(said(theirs))

  const listed = async (index: boolean): Promise<readonly string[]> => {
    const config = { home, claudeDir: place?.configDir ?? '' }
    const throughline = await openThroughline({ index, env: { HOME: place?.root ?? '' }, config })
    try {
      await throughline.settled()
      return (await throughline.list({})).sessions.map(({ id }) => id)
    } finally {
      await throughline.close()
    }
  }
  expect([await listed(false), await listed(true)]).toEqual([[sessionId], [sessionId]])
  await rm(projects, { recursive: true })
  expect([await listed(false), await listed(true)]).toEqual([[sessionId], [sessionId]])

  const second = await run('Which word was it?', { store, resume: sessionId })
  expect(second.find((message) => message.type === 'result')).toMatchObject({
    subtype: 'success',
    session_id: sessionId,
  })
  expect(JSON.stringify(place.api.requests.at(-1)?.body)).toContain('The word is heron.')
  await ours.close()
  expect(existsSync(join(home, 'recorded', 'claude', 'projects', project, `${sessionId}.jsonl`))).toBe(true)
})
