import { appendFile, cp, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SessionSummary } from '#model'
import { openRecording } from '#recorder'
import { createLines, openTempDir, SESSION, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTranscript } from '../transcript-file.ts'
import { createEntireSource } from './source.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const CLAUDE = new URL('../../../test/fixtures/claude/', import.meta.url).pathname
const SUBAGENTS = join(CLAUDE, 'subagent/config/projects/-home-user-work-subagent')
const PLAIN = join(
  CLAUDE,
  'plain/config/projects/-home-user-work-plain/b1cb2893-e5dc-43a8-98e4-56f0fd022834.jsonl',
)

async function list(folders: readonly string[] = [dir.path]): Promise<readonly SessionSummary[]> {
  return (await createEntireSource({ folders: () => folders }).list()).sessions
}

async function only(folders?: readonly string[]): Promise<SessionSummary> {
  const [session, ...others] = await list(folders)
  if (session === undefined || others.length > 0)
    throw new Error(`expected one session, found ${session === undefined ? 0 : others.length + 1}`)
  return session
}

/** Writes a file below `.entire/metadata`. */
async function put(place: string, content: string, folder: string = dir.path): Promise<string> {
  const path = join(folder, '.entire/metadata', place)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  return path
}

const record = (options: { readonly agent?: string; readonly extra?: object } = {}) =>
  openRecording({
    cwd: dir.path,
    agent: options.agent ?? 'forgeflare',
    version: '0.0.44',
    register: false,
    now: () => Date.parse('2026-02-10T23:31:00Z'),
    extra: { gitBranch: 'main', ...options.extra },
  })

describe('a recording', () => {
  test('[ENT1] [ENT3] is listed with id, agent, folder, first prompt, branch and times from its lines', async () => {
    const recording = await record()
    await recording.user('explain main.rs')
    await recording.assistant({ content: 'It starts things.' })
    expect(await only()).toEqual({
      id: recording.sessionId,
      agent: 'forgeflare',
      path: recording.path,
      size: (await readFile(recording.path)).length,
      name: 'explain main.rs',
      nameFrom: 'prompt',
      firstPrompt: 'explain main.rs',
      workdirs: [dir.path],
      workdirsComplete: true,
      gitBranch: 'main',
      createdAt: '2026-02-10T23:31:00.000Z',
      lastActivityAt: '2026-02-10T23:31:00.000Z',
      subagents: [],
      toolResults: [],
      archived: false,
      state: 'ok',
      recorded: { as: 'recording' },
    })
    await recording.end()
  })

  test('[ENT5] has the subagents that were recorded with it', async () => {
    const recording = await record()
    await recording.user('look around')
    const subagent = await openRecording({
      cwd: dir.path,
      agent: 'forgeflare',
      version: '1',
      register: false,
      subagentOf: { sessionId: recording.sessionId, agentId: 'explorer' },
    })
    await subagent.user('what is there?')
    await subagent.end()
    await recording.end()
    expect((await only()).subagents).toMatchObject([
      { id: 'explorer', path: join(recording.folder, 'subagents/agent-explorer.jsonl') },
    ])
  })

  test('[ENT3] [ENT9] of an agent that has an id of its own for the session says so; one without a name is unknown', async () => {
    const named = await record({ agent: 'Codex', extra: { clientSessionId: 'theirs' } })
    await named.user('x')
    await named.end()
    await put(
      '2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890/full.jsonl',
      toJsonl([createLines().prompt('y')]),
    )
    const found = await list()
    expect(found.map(({ agent, recorded }) => ({ agent, recorded }))).toEqual(
      expect.arrayContaining([
        { agent: 'codex', recorded: { as: 'recording', of: 'theirs' } },
        { agent: 'unknown', recorded: { as: 'recording' } },
      ]),
    )
  })

  test('[ENT12] that breaks off is damaged, and tells what is before the break', async () => {
    const recording = await record()
    await recording.user('begin')
    await recording.assistant({ content: 'on it' })
    await recording.end()
    await truncate(recording.path, (await readFile(recording.path)).length - 20)
    expect(await only()).toMatchObject({ state: 'damaged', firstPrompt: 'begin' })
  })

  test('[ENT6] whose lines tell no prompt any more is named by its prompt.txt', async () => {
    const recording = await record()
    await recording.user('fix the tides')
    await recording.end()
    await writeFile(recording.path, '{"type":"user","message":{"content":"fix')
    expect(await only()).toMatchObject({
      name: 'fix the tides',
      firstPrompt: 'fix the tides',
      state: 'damaged',
    })
  })

  test('[ENT7] with a prompt that is in a file of its own is named by it', async () => {
    const recording = await openRecording({
      cwd: dir.path,
      agent: 'x',
      version: '1',
      register: false,
      large: 'blobs',
    })
    await recording.user(`${'long '.repeat(4000)}prompt`)
    await recording.end()
    expect((await only()).firstPrompt).toMatch(/^long long/)
  })
})

describe("Entire's own folder", () => {
  /** As Entire 0.4.4 leaves it: a copy under the agent's id, the prompts, the tasks of subagents. */
  async function writeCopy(): Promise<string> {
    const id = '64d3dcee-fd77-4351-b97a-8f893ae3c006'
    const transcript = await readFile(join(SUBAGENTS, `${id}.jsonl`), 'utf8')
    const path = await put(`${id}/full.jsonl`, transcript)
    await put(`${id}/prompt.txt`, 'one\n\n---\n\ntwo')
    await put(`${id}/summary.txt`, 'done')
    await put(`${id}/context.md`, '# Session Context\n')
    await put(`${id}/tasks/toolu_1/checkpoint.json`, '{}')
    await put(`${id}/tasks/toolu_1/agent-a1.jsonl`, toJsonl([createLines().prompt('sub')]))
    await writeFile(join(dir.path, '.entire/settings.json'), '{"enabled":true}')
    return path
  }

  test('[ENT1] [ENT3] [ENT5] a copy of a Claude Code transcript is listed as what it is, with its tasks', async () => {
    const path = await writeCopy()
    expect(await only()).toMatchObject({
      id: '64d3dcee-fd77-4351-b97a-8f893ae3c006',
      agent: 'claude',
      path,
      workdirs: ['/home/user/work/subagent'],
      subagents: [{ id: 'a1', toolUseId: 'toolu_1' }],
      state: 'ok',
      recorded: { as: 'copy' },
    })
  })

  test('[ENT1] every transcript of Claude Code reads the same there as where it came from', async () => {
    const path = await put(`${SESSION}/full.jsonl`, '')
    await cp(PLAIN, path)
    const session = await only()
    const source = createEntireSource({ folders: () => [dir.path] })
    const file = openTranscript(path)
    const bills = await source.createBillReader().read(file)
    file.close()
    expect(session).toMatchObject({ state: 'ok', nameFrom: 'prompt' })
    expect(bills.messages.length).toBeGreaterThan(0)
  })

  test.each([
    ['codex', '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}\n'],
    ['gemini', '{"messages":[{"type":"user","content":"x"}]}'],
    ['gemini', '{\n  "sessionId": "x",\n  "messages": [\n    {"type":"gemini"}\n  ]\n}\n'],
    ['opencode', '{"info":{"id":"x"},"messages":[]}'],
    ['opencode', '{\n  "info": {},\n  "messages": []\n}'],
    ['cursor', '{"role":"user","message":{"content":[]}}\n'],
    ['copilot', '{"type":"session.start","data":{},"id":"x"}\n'],
    ['droid', '{"type":"message","message":{"role":"user"}}\n'],
    ['pi', '{"type":"session","version":3,"id":"x"}\n'],
    ['unknown', '{"hello":"there"}\n'],
  ])('[ENT4] what %s writes is listed as that, and not read', async (agent, content) => {
    await put(`${SESSION}/full.jsonl`, content)
    const session = await only()
    expect(session).toMatchObject({ agent, state: 'unreadable', recorded: { as: 'copy' } })
    expect(session.problem).toMatch(/not read/)
    expect(session.workdirs).toEqual([dir.path])
  })

  test('[ENT4] a first line that is longer than a look is told by its beginning', async () => {
    const text = 'x'.repeat(200_000)
    await put('one/full.jsonl', `{"type":"session_meta","payload":{"instructions":"${text}"}}\n`)
    await put('two/full.jsonl', toJsonl([{ ...createLines().prompt(text), agent: 'forgeflare' }]))
    const found = await list()
    expect(found.map(({ id, agent, state }) => [id, agent, state])).toEqual([
      ['one', 'codex', 'unreadable'],
      ['two', 'claude', 'ok'],
    ])
  })
})

describe('where it looks', () => {
  test('[ENT2] links are told and not followed, and folders without a transcript are none', async () => {
    const elsewhere = await openTempDir()
    const real = await put(`${SESSION}/full.jsonl`, toJsonl([createLines().prompt('x')]), elsewhere.path)
    await put('empty/prompt.txt', 'nothing was said yet')
    await symlink(dirname(real), join(dir.path, '.entire/metadata/linked'))
    await mkdir(join(dir.path, '.entire/metadata/file'))
    await symlink(real, join(dir.path, '.entire/metadata/file/full.jsonl'))
    const linked = join(dir.path, 'worktree')
    await mkdir(linked)
    await symlink(join(elsewhere.path, '.entire'), join(linked, '.entire'))
    const { sessions, problems } = await createEntireSource({ folders: () => [dir.path, linked] }).list()
    expect(sessions).toEqual([])
    expect(problems.map(({ path }) => path)).toEqual([
      join(dir.path, '.entire/metadata/file/full.jsonl'),
      join(dir.path, '.entire/metadata/linked'),
    ])
    await elsewhere.remove()
  })

  test('[ENT14] of several copies of one session the one that has most of it is listed', async () => {
    const lines = createLines()
    const [first, second] = [lines.prompt('x'), lines.prompt('y')]
    const folders = ['a', 'b', 'c'].map((name) => join(dir.path, name))
    await put(`${SESSION}/full.jsonl`, toJsonl([first]), folders[0])
    const path = await put(`${SESSION}/full.jsonl`, toJsonl([first, second]), folders[1])
    await put(`${SESSION}/full.jsonl`, toJsonl([first]), folders[2])
    expect(await only(folders)).toMatchObject({ path })
  })

  test('[ENT2] two hundred folders are found, and each has its place below the root', async () => {
    const folders = Array.from({ length: 200 }, (_, n) => join(dir.path, `work-${n}`))
    for (const [n, folder] of folders.entries()) {
      await put(`s-${n}/full.jsonl`, toJsonl([createLines({ cwd: folder }).prompt(`${n}`)]), folder)
    }
    const source = createEntireSource({ folders: () => folders })
    const { sessions } = await source.list()
    expect(new Set(sessions.map(({ firstPrompt }) => firstPrompt)).size).toBe(200)
    const copy = source.at(dir.path)
    for (const { path } of sessions) {
      expect(source.findPlace(path)).toBe(path.slice(1))
      expect(join(dir.path, copy.findPlace(path) ?? '')).toBe(path)
    }
    expect((await copy.find()).sessions).toHaveLength(200)
    expect(source.findPlace(join(dir.path, 'work-1/.entire/metadata/../../secret'))).toBeUndefined()
    expect(source.findPlace(join(dir.path, 'work-1/.entire/settings.json'))).toBeUndefined()
    expect(source.folders()).toHaveLength(400)
  })

  test('[ENT12] what is to be watched is told: before there is a session, with it, and below it', async () => {
    const source = createEntireSource({ folders: () => [dir.path] })
    expect(source.folders()).toEqual([])
    const entire = join(dir.path, '.entire')
    await mkdir(entire)
    expect(source.folders()).toEqual([entire])
    const path = await put('one/full.jsonl', '')
    await put('one/subagents/agent-a.jsonl', '')
    const [metadata, one] = [join(entire, 'metadata'), dirname(path)]
    expect(source.folders()).toEqual([metadata, one, join(one, 'subagents')])
    expect(source.folders(metadata)).toEqual([metadata, one, join(one, 'subagents')])
    expect(source.folders(one)).toEqual([one, join(one, 'subagents')])
    expect(source.folders(join(one, 'full.jsonl.lock'))).toEqual([])
    expect(source.folders(dir.path)).toEqual([])
    const later = Date.now() + 10_000
    const stamp = source.stamp(later)
    expect(source.stamp(later)).toBe(stamp)
    await appendFile(path, 'x')
    expect(source.stamp(later)).toBe(stamp)
    await put('two/full.jsonl', '')
    expect(source.stamp(later)).not.toBe(stamp)
  })
})
