import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { chown, mkdir, readFile, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openRecording, type Recording, type RecordingOptions } from '#recorder'
import { createLines, listen, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import type { SearchPage } from '#wire'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ID, openWakeUpPlace, talk } from './fixtures/wake-up-place.ts'
import { openThroughline, type OpenOptions } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let home: string
let work: string
let claude: string
let opened: LocalThroughline[]

beforeEach(async () => {
  dir = await openTempDir()
  const root = await realpath(dir.path)
  home = join(root, 'home')
  work = join(root, 'work')
  claude = join(root, 'claude')
  opened = []
  for (const folder of [home, work, claude]) mkdirSync(folder)
})
afterEach(async () => {
  for (const throughline of opened) await throughline.close()
  await dir.remove()
})

async function open(options: OpenOptions = {}, env: Record<string, string> = {}): Promise<LocalThroughline> {
  const throughline = await openThroughline({
    env: { THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claude, ...env },
    sweepMs: 600_000,
    ...options,
  })
  opened.push(throughline)
  return throughline
}

async function record(
  says: readonly (readonly [prompt: string, answer: string])[],
  options: Partial<RecordingOptions> = {},
): Promise<Recording> {
  const recording = await openRecording({
    cwd: work,
    agent: 'forgeflare',
    version: '1',
    register: home,
    ...options,
  })
  for (const [prompt, answer] of says) {
    await recording.user(prompt)
    await recording.assistant({
      id: `msg_${answer}`,
      model: 'claude-opus-5-5',
      content: answer,
      usage: { input_tokens: 10, output_tokens: 5 },
    })
  }
  return recording
}

async function idsOf(throughline: LocalThroughline): Promise<readonly string[]> {
  return (await throughline.list()).sessions.map(({ id }) => id).toSorted()
}

/** The same, whether every call looks at the files or something knows them all. */
const WAYS = [
  ['a look at the files', {}],
  ['an index', { index: true }],
] as const

/** Waits until everything is known, and what is found. */
async function find(throughline: LocalThroughline, q: string): Promise<SearchPage['hits']> {
  await throughline.settled()
  return (await throughline.search({ q })).hits
}

describe.each(WAYS)('with %s', (_, how) => {
  test('[ENT2] recordings are found where they were noted, where the settings say, and where sessions worked', async () => {
    const noted = await record([['noted', 'one']])
    await noted.end()
    const named = join(dirname(work), 'named')
    const beside = join(dirname(work), 'beside')
    const repository = join(dirname(work), 'repository')
    for (const folder of [named, beside, join(repository, '.git'), join(repository, 'deep/down')])
      await mkdir(folder, { recursive: true })
    await writeFile(join(home, 'config.json'), JSON.stringify({ recordedIn: [named, 'not/absolute', 7] }))
    const others = await Promise.all(
      [named, beside, repository].map((cwd) => record([['x', 'y']], { cwd, register: false })),
    )
    for (const recording of others) await recording.end()
    const lines = [beside, join(repository, 'deep/down')].map((cwd, n) => {
      return [`session-${n}`, toJsonl([createLines({ cwd, sessionId: `session-${n}` }).prompt('x')])] as const
    })
    for (const [id, content] of lines) await writeTranscript(claude, content, { id })
    const expected = [noted, ...others].map(({ sessionId }) => sessionId)
    expect(await idsOf(await open(how))).toEqual([...expected, 'session-0', 'session-1'].toSorted())
  })

  test.skipIf(process.getuid?.() !== 0)(
    '[ENT2] what somebody else has put into a folder that everybody may write to is not listed',
    async () => {
      await (await record([['x', 'y']])).end()
      await chown(join(work, '.entire'), 12_345, 12_345)
      expect(await idsOf(await open(how))).toEqual([])
    },
  )

  test('[D3.1] a recording is found by its id, by the uuid alone, and by the beginning of either', async () => {
    const recording = await record([['x', 'y']])
    await recording.end()
    const { sessionId } = recording
    const throughline = await open(how)
    const uuid = sessionId.slice('2026-11-16-'.length)
    for (const query of [sessionId, uuid, uuid.slice(0, 8), uuid.toUpperCase(), sessionId.slice(0, 15)])
      expect((await throughline.get(query)).id).toBe(sessionId)
    await expect(throughline.get(`${uuid}0`)).rejects.toMatchObject({ code: 'session-not-found' })
  })

  test('[ENT9] [ENT10] [ENT11] a session that is known itself is listed once, found by the id of its recording, and counted once', async () => {
    const lines = createLines({ cwd: work, sessionId: 'theirs' })
    const theirs = toJsonl([lines.prompt('hello'), lines.reply([{ type: 'text', text: 'found once' }])])
    await writeTranscript(claude, theirs, { id: 'theirs' })
    // Entire's copy of it, and a recording of it: with the ids that the provider gave.
    const copy = join(work, '.entire/metadata/theirs/full.jsonl')
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, theirs)
    const recording = await record([], { agent: 'claude', extra: { clientSessionId: 'theirs' } })
    await recording.user('hello')
    const usage = { input_tokens: 10, output_tokens: 5 }
    await recording.assistant({ id: 'msg_2', content: 'found once', usage }, { requestId: 'req_msg_2' })
    await recording.end()
    const throughline = await open(how)
    await throughline.settled()
    expect(await idsOf(throughline)).toEqual(['theirs'])
    expect(await throughline.get(recording.sessionId)).toMatchObject({ id: 'theirs', agent: 'claude' })
    expect((await throughline.get(recording.sessionId)).recorded).toBeUndefined()
    expect(await find(throughline, '"found once"')).toHaveLength(1)
    const { rows } = await throughline.usage({ by: 'session' })
    expect(rows.map(({ key, usage: { output } }) => [key, output])).toEqual([['theirs', 5]])
  })

  test('[ENT11] a message that two sessions tell of is billed once, whoever of them is listed', async () => {
    const answer = { id: 'msg_same', content: 'x', usage: { input_tokens: 10, output_tokens: 5 } }
    for (const agent of ['one', 'two']) {
      const recording = await record([], { agent })
      await recording.user('x')
      await recording.assistant(answer, { requestId: 'req_same' })
      await recording.end()
    }
    const throughline = await open(how)
    await throughline.settled()
    expect(await idsOf(throughline)).toHaveLength(2)
    expect((await throughline.usage({ by: 'day' })).total.usage).toMatchObject({ input: 10, output: 5 })
  })

  test('[ENT7] [ENT21] what was recorded is searched, also what is in files of its own and in subagents', async () => {
    const long = `${'filler '.repeat(3000)} needle-in-a-blob`
    const recording = await record([[long, 'a needle-in-a-line']], { large: 'blobs' })
    const subagent = await openRecording({
      cwd: work,
      agent: 'forgeflare',
      version: '1',
      register: false,
      subagentOf: { sessionId: recording.sessionId, agentId: 'scout' },
    })
    await subagent.user('needle-in-a-subagent')
    await subagent.end()
    await recording.end()
    const throughline = await open(how)
    const places: unknown[] = []
    for (const word of ['blob', 'line', 'subagent']) {
      for (const hit of await find(throughline, `needle-in-a-${word}`)) {
        places.push([word, hit.session.id, hit.session.agent, hit.subagent])
        expect(hit.snippet.text).toContain(`needle-in-a-${word}`)
      }
    }
    expect(places).toEqual([
      ['blob', recording.sessionId, 'forgeflare', undefined],
      ['line', recording.sessionId, 'forgeflare', undefined],
      ['subagent', recording.sessionId, 'forgeflare', 'scout'],
    ])
    const page = await throughline.page(await throughline.get(recording.sessionId), { limit: 10 })
    expect(JSON.stringify(page.readings)).toContain('needle-in-a-blob')
  })

  test('[C2.2] [ENT2] a recording outside the allowed roots is neither listed nor found', async () => {
    const recording = await record([['x', 'y']])
    await recording.end()
    const elsewhere = await open(how, { ALLOWED_ROOTS: join(dirname(work), 'elsewhere') })
    expect(await idsOf(elsewhere)).toEqual([])
    await expect(elsewhere.get(recording.sessionId)).rejects.toMatchObject({ code: 'session-not-found' })
    await elsewhere.close()
    expect(await idsOf(await open(how, { ALLOWED_ROOTS: work }))).toEqual([recording.sessionId])
  })

  test('[ENT7] the export of its own lines is the file, byte for byte', async () => {
    const recording = await record([['long '.repeat(4000), 'y']], { large: 'blobs' })
    await recording.end()
    const throughline = await open(how)
    const pieces: Uint8Array[] = []
    for await (const piece of throughline.bytes(await throughline.get(recording.sessionId)))
      pieces.push(piece)
    expect(Buffer.concat(pieces)).toEqual(await readFile(recording.path))
  })
})

describe('while it goes on', () => {
  test('[ENT12] a recording in a folder nobody knew is listed at once, and followed as it grows', async () => {
    const throughline = await open({ index: true })
    expect(await idsOf(throughline)).toEqual([])
    const recording = await record([['first', 'one']])
    await expect.poll(() => idsOf(throughline), { timeout: 60_000 }).toEqual([recording.sessionId])
    const topic = { kind: 'session', id: recording.sessionId } as const
    const listening = listen(throughline, topic)
    await listening.until((events) => JSON.stringify(events).includes('first'))
    await recording.user('second')
    await recording.user('third '.repeat(3000))
    await listening.until((events) => JSON.stringify(events).includes('third third'))
    await expect.poll(() => find(throughline, 'second'), { timeout: 60_000 }).toHaveLength(1)
    listening.close()
    await recording.end()
  })

  test('[ENT9] a recording gives way to the session that its agent writes down itself, and comes back without it', async () => {
    const throughline = await open({ index: true, config: { archive: false } })
    const recording = await record([['x', 'once']], { extra: { clientSessionId: 'theirs' } })
    await recording.end()
    const ids = (): Promise<readonly string[]> => idsOf(throughline)
    await expect.poll(ids, { timeout: 60_000 }).toEqual([recording.sessionId])
    const lines = createLines({ cwd: work, sessionId: 'theirs' })
    const path = await writeTranscript(claude, toJsonl([lines.prompt('x')]), { id: 'theirs' })
    await expect.poll(ids, { timeout: 60_000 }).toEqual(['theirs'])
    expect(await find(throughline, 'once')).toEqual([])
    await rm(path)
    await expect.poll(ids, { timeout: 60_000 }).toEqual([recording.sessionId])
    await expect.poll(() => find(throughline, 'once'), { timeout: 60_000 }).toHaveLength(1)
  })

  test('[ENT13] what was deleted beside the work is shown from the archive, with what lay beside it', async () => {
    const recording = await record([['long '.repeat(4000), 'kept']], { large: 'blobs' })
    await recording.end()
    const throughline = await open({ index: true })
    await expect
      .poll(async () => (await throughline.health()).archive.files, { timeout: 60_000, interval: 200 })
      .toBeGreaterThanOrEqual(4)
    await rm(join(work, '.entire'), { recursive: true })
    const gone = async (): Promise<unknown> => (await throughline.get(recording.sessionId)).sourceGone
    await expect.poll(gone, { timeout: 60_000 }).toBe(true)
    const session = await throughline.get(recording.sessionId)
    expect(session).toMatchObject({ agent: 'forgeflare', recorded: { as: 'recording' }, state: 'ok' })
    const page = await throughline.page(session, { limit: 10 })
    expect(JSON.stringify(page.readings)).toContain('long long')
    expect(await find(throughline, 'kept')).toHaveLength(1)
  })
})

test('[ENT12] [ENT15] a recording whose writer was killed is shown up to there, and checked', async () => {
  const recording = await record([['x'.repeat(20_000), 'answered']], { large: 'blobs' })
  await recording.user('what comes now is torn')
  await recording.end()
  await truncate(recording.path, (await readFile(recording.path)).length - 9)
  await writeFile(`${recording.path}.torn-123`, 'bytes')
  for (const name of ['prompt.txt', 'context.md']) await rm(join(recording.folder, name))
  execFileSync('rm', ['-r', join(recording.folder, 'blobs')])
  const throughline = await open()
  const session = await throughline.get(recording.sessionId)
  expect(session.state).toBe('damaged')
  const { findings } = await throughline.check(session)
  expect(findings.map(({ severity, code }) => `${severity} ${code}`).toSorted()).toEqual([
    'error blob-missing',
    'error torn',
    'note set-aside',
    'warning no-context',
    'warning no-prompt',
  ])
  for (const { hint } of findings) expect(hint).not.toBe('')
})

test('[ENT2] a folder that is reached by a link is looked into where it is', async () => {
  const recording = await record([['x', 'y']], { register: false })
  await recording.end()
  const link = join(dirname(work), 'link')
  await symlink(work, link)
  writeFileSync(join(home, 'config.json'), JSON.stringify({ recordedIn: [link, work] }))
  const throughline = await open()
  expect((await throughline.get(recording.sessionId)).path).toBe(recording.path)
})

describe('a session that begins where something was recorded', () => {
  test('[A4.1] [ENT18] wakes up with it, as with any session of the folder, once nobody records it any more', async () => {
    const place = await openWakeUpPlace()
    const recording = await openRecording({
      cwd: place.workdir,
      agent: 'forgeflare',
      version: '1',
      register: place.home,
      large: 'blobs',
    })
    await recording.user(`what was asked ${'at length '.repeat(1500)}`)
    await recording.assistant({ content: 'what was answered' })
    expect((await place.preview()).parts.transcript).toBeUndefined()
    await recording.end()
    const { transcript } = (await place.preview()).parts
    expect(transcript?.sessionId).toBe(recording.sessionId)
    expect(JSON.stringify(transcript?.lines)).toMatch(/what was asked at length.*what was answered/s)
    await place.close()
  })

  test('[ENT22] is not told what came with a repository, or lies where nobody has recorded', async () => {
    const place = await openWakeUpPlace()
    const options = { cwd: place.workdir, agent: 'planted', version: '1', register: false } as const
    const planted = await openRecording(options)
    await planted.user('what nobody has asked')
    await planted.assistant({ content: 'what nobody has answered' })
    await planted.end()
    place.configure({})
    await place.session(ID(1), talk('what was asked', 'what was answered', 1))
    const previous = async (): Promise<string | undefined> =>
      (await place.preview()).parts.transcript?.sessionId
    expect((await place.throughline.list()).sessions).toHaveLength(2)
    expect(await previous()).toBe(ID(1))
    // Somebody records there, and yet: it is under version control, so it came from elsewhere.
    execFileSync('git', ['init', '-q'], { cwd: place.workdir })
    execFileSync('git', ['add', '-f', '.entire'], { cwd: place.workdir })
    await (await openRecording({ ...options, register: place.home })).user('x')
    expect(await previous()).toBe(ID(1))
    execFileSync('git', ['rm', '-q', '-r', '--cached', '.entire'], { cwd: place.workdir })
    expect(await previous()).toBe(planted.sessionId)
    await place.close()
  })

  test('[ENT22] keeps what a recorded agent asks to be remembered, and nothing that was planted', async () => {
    const asks = (what: string): string => `[REMEMBER] ${JSON.stringify({ content: what, type: 'learning' })}`
    await (await record([['x', asks('the tide table is in the drawer')]])).end()
    const elsewhere = join(dirname(work), 'elsewhere')
    await mkdir(elsewhere)
    await (await record([['x', asks('planted')]], { cwd: elsewhere, register: false })).end()
    const lines = createLines({ cwd: elsewhere, sessionId: 'here' })
    await writeTranscript(claude, toJsonl([lines.prompt('x')]), { id: 'here' })
    const throughline = await open({ index: true })
    await throughline.settled()
    expect(await idsOf(throughline)).toHaveLength(3)
    const kept = await throughline.memory.query({ type: 'learning', state: ['active', 'quarantined'] })
    expect(kept.map(({ content }) => content)).toEqual(['the tide table is in the drawer'])
  })

  test('[ENT21] is told of it when it asks', async () => {
    const recording = await record([['where do the herons nest?', 'in the old mill']])
    await recording.end()
    const throughline = await open()
    const { hits } = await throughline.search({ q: 'herons workdir:work agent:forgeflare' })
    expect(hits.map(({ session }) => session.id)).toEqual([recording.sessionId])
  })
})

test('[ENT10] a recording cannot be gone on with by its id: its agent does not know it', async () => {
  const recording = await record([['x', 'y']])
  await recording.end()
  const throughline = await open()
  await expect(throughline.live.resume(recording.sessionId)).rejects.toMatchObject({
    code: 'request-invalid',
    hint: expect.stringContaining('wakes up') as unknown,
  })
})
