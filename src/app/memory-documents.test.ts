import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  rmdirSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  createLines,
  expectError,
  foldEvents,
  listen,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import type { MemoryDocument } from '#model'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let home: string
let claudeDir: string
let opened: LocalThroughline[] = []

beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  claudeDir = join(dir.path, 'claude')
  mkdirSync(home, { mode: 0o700 })
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
  await dir.remove()
})

async function open(env: Record<string, string> = {}): Promise<LocalThroughline> {
  const throughline = await openThroughline({
    env: { HOME: dir.path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir, ...env },
  })
  opened.push(throughline)
  return throughline
}

const write = (id: string, path: string, content: string): object => ({
  type: 'tool_use',
  id,
  name: 'Write',
  input: { file_path: path, content },
})
const edit = (id: string, path: string, change: readonly [string, string]): object => ({
  type: 'tool_use',
  id,
  name: 'Edit',
  input: { file_path: path, old_string: change[0], new_string: change[1] },
})

async function writeSession(
  id = SESSION,
  cwd = '/home/user/work/made',
): Promise<ReturnType<typeof createLines>> {
  const lines = createLines({ sessionId: id, cwd })
  const page = `${cwd}/page.html`
  await writeTranscript(
    claudeDir,
    toJsonl([
      lines.prompt('Make a page'),
      lines.reply([{ type: 'text', text: 'Here it is.' }, write('w1', page, '<p>one $& two</p>')]),
      lines.result('w1', 'written'),
      lines.reply([edit('e1', page, ['one', 'three $&'])]),
      lines.result('e1', 'edited'),
      lines.reply([edit('e2', page, ['not there', 'x']), write('w2', `${cwd}/refused.txt`, 'no')]),
      lines.result('e2', 'edited'),
      {
        ...lines.result('w2', ''),
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'w2', content: 'denied', is_error: true }],
        },
      },
      lines.reply([{ type: 'text', text: 'Done.' }]),
    ]),
    { id, project: id.slice(0, 8) },
  )
  return lines
}

/** A wake-up as a session begins with. */
async function wakeUpText(): Promise<string> {
  const { memory } = await open()
  await memory.remember({ content: 'Tea is a leaf.', pinned: true })
  const { text } = await memory.wakeUp({ workdir: '/home/user/work/made' })
  expect(text).toContain('Tea is a leaf.')
  return text
}

const textOf = (bytes: string): string => Buffer.from(bytes, 'base64').toString('utf8')
const sayings = (found: readonly MemoryDocument[]): readonly string[] => found.map(({ content }) => content)

describe('[DOC25] [A1.1] what was said is documents, read from the transcripts and copied nowhere', () => {
  test('with who said it, where and when; calls and results are no part of it', async () => {
    await writeSession()
    const { memory } = await open()
    const said = await memory.query({ type: 'message' })
    expect(said.map(({ role, content, workdir }) => [role, content, workdir])).toEqual([
      ['user', 'Make a page', '/home/user/work/made'],
      ['assistant', 'Here it is.', '/home/user/work/made'],
      ['assistant', 'Done.', '/home/user/work/made'],
    ])
    expect(said.every(({ createdAt, speakerName }) => createdAt !== '' && speakerName !== undefined)).toBe(
      true,
    )
    expect(existsSync(join(home, 'documents.jsonl'))).toBe(false)
    expect(sayings(await memory.query({ role: 'user', text: 'PAG' }))).toEqual(['Make a page'])
    expect(await memory.query({ type: 'message', workdir: '/elsewhere' })).toEqual([])
    expect(await memory.query({ type: 'message', state: 'retired' })).toEqual([])
  })

  test('the newest 500 of very many, and a wake-up is nobody’s message', async () => {
    const lines = createLines()
    const many = Array.from({ length: 600 }, (_, n) => lines.prompt(`Number ${n}`))
    many.push(lines.prompt(await wakeUpText()))
    await writeTranscript(claudeDir, toJsonl(many))
    const { memory } = await open()
    const said = await memory.query({ type: 'message' })
    expect([said.length, said[0]?.content, said.at(-1)?.content]).toEqual([500, 'Number 100', 'Number 599'])
    expect(sayings(await memory.query({ type: 'message' }, { limit: 2 }))).toEqual([
      'Number 598',
      'Number 599',
    ])
  })
})

describe('[DOC26] files that an agent wrote are artifacts', () => {
  test('with a version for every content, by its hash; what failed wrote nothing', async () => {
    await writeSession()
    const { memory } = await open()
    const found = await memory.query({ type: 'artifact' })
    expect(sayings(found)).toEqual(['page.html'])
    const [page] = found
    const id = page?.id ?? ''
    expect(id).toMatch(/^artifact:0c0ffee0-0000-4000-8000-000000000001:[0-9a-f]{16}$/)
    expect(page).toMatchObject({
      sessionId: SESSION,
      speakerType: 'agent',
      extra: { mediaType: 'text/html' },
    })
    const versions = await memory.versions(id)
    expect(versions.map(({ change }) => change)).toEqual(['put', 'edited'])
    const texts = await Promise.all(
      versions.map(async ({ document }) =>
        textOf((await memory.artifact(id, document.files?.[0]?.hash)).bytes),
      ),
    )
    expect(texts).toEqual(['<p>one $& two</p>', '<p>three $& $& two</p>'])
    expect(textOf((await memory.artifact(id)).bytes)).toBe(texts[1])
    expect(await memory.get(id)).toEqual(page)
    expect((await memory.trace(id)).files.map(({ state }) => state)).toEqual(['gone'])
    await expectError(memory.act(id, { do: 'retire' }), 'request-invalid')
    await expectError(memory.artifact(id, 'a'.repeat(64)), 'document-not-found')
  })
})

describe('[DOC27] a declared file', () => {
  test('is copied when it is declared, for its owner only', async () => {
    const work = join(dir.path, 'work')
    mkdirSync(work)
    writeFileSync(join(work, 'data.bin'), Buffer.from([0, 255, 1]))
    const { memory } = await open()
    const outcome = await memory.remember({
      type: 'artifact',
      content: 'Data.',
      files: ['data.bin'],
      workdir: work,
    })
    if (outcome.kind !== 'remembered') throw new Error(outcome.kind)
    const hash = outcome.document.files?.[0]?.hash ?? ''
    writeFileSync(join(work, 'data.bin'), 'gone')
    expect(await memory.artifact(outcome.document.id)).toMatchObject({
      hash,
      bytes: Buffer.from([0, 255, 1]).toString('base64'),
      mediaType: 'application/octet-stream',
    })
    expect(statSync(join(home, 'blobs', hash)).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'blobs')).mode & 0o777).toBe(0o700)
  })

  test('that holds a key is not copied unless the person insists', async () => {
    const path = join(dir.path, 'config.txt')
    writeFileSync(path, `token: ghp_${'a1B2'.repeat(9)}`)
    const { memory } = await open()
    const request = { type: 'artifact', content: 'Config.', files: [path] } as const
    expect(await memory.remember(request)).toMatchObject({ kind: 'secret', secrets: ['github-token'] })
    expect(existsSync(join(home, 'blobs'))).toBe(false)
    expect(await memory.remember({ ...request, keepSecret: true })).toMatchObject({ kind: 'remembered' })
  })
})

describe('[DOC28] what may not be shown', () => {
  test('what sessions outside the allowed folders said or wrote is not there', async () => {
    const [inside, outside] = [join(dir.path, 'in'), join(dir.path, 'out')]
    mkdirSync(inside)
    mkdirSync(outside)
    await writeSession('11111111-0000-4000-8000-000000000001', inside)
    await writeSession('22222222-0000-4000-8000-000000000002', outside)
    const { memory } = await open({ ALLOWED_ROOTS: inside })
    const found = await memory.query({ type: ['message', 'artifact'] })
    expect(new Set(found.map(({ sessionId }) => sessionId))).toEqual(
      new Set(['11111111-0000-4000-8000-000000000001']),
    )
    const hidden = (
      await (await open()).memory.query({ type: ['message', 'artifact'], workdir: outside })
    ).map(({ id }) => id)
    expect(hidden.length).toBe(4)
    for (const id of hidden) {
      await expectError(memory.get(id), 'document-not-found')
      await expectError(memory.versions(id), 'document-not-found')
      await expectError(memory.artifact(id), 'document-not-found')
    }
    writeFileSync(join(outside, 'f.txt'), 'x')
    await expectError(memory.remember({ content: 'x y', files: [join(outside, 'f.txt')] }), 'request-invalid')
  })

  test('no file of the home, and none that a path leads out of its folder to', async () => {
    const work = join(dir.path, 'work')
    mkdirSync(work)
    writeFileSync(join(home, 'secret'), 'key')
    writeFileSync(join(dir.path, 'other.txt'), 'x')
    symlinkSync(join(home, 'secret'), join(work, 'link'))
    const { memory } = await open()
    for (const file of [join(home, 'secret'), 'link', '../other.txt', '.', 'gone']) {
      const error = await expectError(
        memory.remember({ content: 'Something.', files: [file], workdir: work }),
        'request-invalid',
      )
      expect(error.message).toContain(file)
    }
    expect(await memory.query({ type: 'learning' })).toEqual([])
  })
})

describe('[DOC31] what agents remember waits for a person', () => {
  test('all of it when config.json asks for that, else what only a person may do', async () => {
    const { memory } = await open()
    const say = async (content: string, more: object = {}): Promise<string> => {
      const outcome = await memory.remember({ content, speaker: 'agent', by: 'claude', ...more })
      return outcome.kind === 'held' ? outcome.reason.replace(/:.*/, '') : outcome.kind
    }
    expect(await say('The build needs Node 20.')).toBe('remembered')
    expect(await say('Linting takes a minute.', { pinned: true })).toBe('asks-to-be-pinned')
    expect(await say('word '.repeat(200))).toBe('too-long')
    const own = await memory.remember({ content: 'Releases are cut on Mondays.' })
    const id = own.kind === 'remembered' ? own.document.id : ''
    const near = { choice: 'update', id } as const
    expect(await say('Releases are cut on Tuesdays.', { near })).toBe("replaces-a-person's")
    expect((await memory.get(id)).content).toBe('Releases are cut on Mondays.')
    writeFileSync(join(home, 'config.json'), '{"review":"agent"}')
    expect(await say('The cache lives in var.')).toBe('review')
    const { held } = await memory.review()
    expect(held).toHaveLength(4)
    expect(held.every(({ promotedBy, pinned }) => promotedBy === 'claude' && !pinned)).toBe(true)
  })
})

describe('[DOC43] [A7.1] [A1.3] data of before', () => {
  test('is read as it is, without a step that anybody has to take', async () => {
    const old = {
      kind: 'document.written',
      version: 1,
      document: { id: 'old', type: 'learning', content: 'Old.' },
    }
    const bound = { ...old, document: { id: 'm', type: 'marker', content: 'Then.', serverSessionId: 's-9' } }
    appendFileSync(join(home, 'documents.jsonl'), toJsonl([old, { kind: 'of tomorrow' }, bound]), {
      mode: 0o600,
    })
    const before = readFileSync(join(home, 'documents.jsonl'), 'utf8')
    const { memory } = await open()
    expect(await memory.get('old')).toMatchObject({
      category: 'knowledge',
      sessionId: null,
      tags: [],
      pinned: false,
    })
    expect(sayings(await memory.query({ sessionId: 's-9' }))).toEqual(['Then.'])
    expect(readFileSync(join(home, 'documents.jsonl'), 'utf8')).toBe(before)
    await memory.edit('old', { tags: ['now'] })
    expect((await memory.versions('old')).map(({ version }) => version)).toEqual([1, 2])
  })
})

describe('[DOC37] a live query', () => {
  test('tells what another process writes, and very much in pieces', async () => {
    const [here, there] = [await open(), await open()]
    const text = Array.from({ length: 1000 }, (_, n) => ({
      kind: 'document.written',
      version: 1,
      at: new Date(n * 1000).toISOString(),
      document: { id: `d${n}`, type: 'learning', content: `${n} ${'x'.repeat(1000)}` },
    }))
    await there.memory.import({ format: 'documents', text: toJsonl(text), accept: true })
    const listening = listen(here, { kind: 'documents', query: { type: 'learning' } })
    await listening.until((events) => events.some(({ kind }) => kind === 'caught-up'))
    const pieces = listening.events.filter(({ kind }) => kind === 'documents.changed')
    expect(pieces.length).toBeGreaterThan(3)
    expect(Math.max(...pieces.map((piece) => JSON.stringify(piece).length))).toBeLessThan(1_000_000)
    expect(foldEvents(listening.events)).toEqual(await here.memory.query({ type: 'learning' }))
    const before = listening.events.length
    await there.memory.act('d7', { do: 'retire' })
    await listening.until((events) => foldEvents(events).length === 999)
    expect(listening.events.slice(before)).toMatchObject([{ added: [], changed: [], removed: ['d7'] }])
    listening.close()
  })
})

describe('[DOC30] said by many at once', () => {
  test('it is remembered once, and confirmed by all others', async () => {
    const { memory } = await open()
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => memory.remember({ content: 'The tide comes in at six.' })),
    )
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'confirmed'),
      'remembered',
    ])
    expect(await memory.query({ type: 'learning' })).toHaveLength(1)
  })
})

describe('[DOC44] what is remembered cannot be read', () => {
  test('sessions are shown all the same, whoever asks for it is told why, and it works again once it is mended', async () => {
    await writeSession()
    mkdirSync(join(home, 'documents.jsonl'))
    const throughline = await openThroughline({
      env: { HOME: dir.path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir },
      index: true,
    })
    opened.push(throughline)
    expect((await throughline.list()).sessions).toHaveLength(1)
    const error = await expectError(throughline.memory.query({ type: 'learning' }), 'journal-unwritable')
    expect(error.message).toContain('documents.jsonl')
    rmdirSync(join(home, 'documents.jsonl'))
    expect(await throughline.memory.query({ type: 'learning' })).toEqual([])
  })
})

describe('[DOC42] tags for a text', () => {
  test('are those in use that it names, those of what is like it, then words that it repeats', async () => {
    const { memory } = await open()
    await memory.put({
      type: 'learning',
      content: 'Chromium is needed for browser tests.',
      tags: ['tests', 'ci'],
    })
    await memory.put({ type: 'learning', content: 'Tea.', tags: ['kitchen'] })
    const text = 'Browser tests want Chromium; the playwright config and playwright cache too.'
    expect(await memory.suggestTags(text)).toEqual(['tests', 'ci', 'playwright'])
    expect(await memory.suggestTags(text)).toEqual(['tests', 'ci', 'playwright'])
    expect(await memory.suggestTags(' ')).toEqual([])
  })
})
