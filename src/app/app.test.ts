import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createLines,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type LineMaker,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { Throughline } from '#wire'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const say = (text: string): object[] => [{ type: 'text', text }]

async function open(env: Record<string, string> = {}): Promise<Throughline> {
  return openThroughline({ env: { CLAUDE_CONFIG_DIR: dir.path, ...env } })
}

async function ids(throughline: Throughline): Promise<string[]> {
  return (await throughline.list()).sessions.map(({ id }) => id).toSorted()
}

describe('allowed roots', () => {
  async function project(name: string, workdirs: readonly string[]): Promise<void> {
    const lines = createLines({ sessionId: name })
    const all = workdirs.map((cwd) => lines.prompt(`in ${cwd}`, { cwd }))
    await writeTranscript(dir.path, toJsonl(all), { id: name, project: `-${name}` })
  }

  test('[C2.2] only sessions that worked nowhere but inside the roots are listed and found', async () => {
    const [inside, outside] = [join(dir.path, 'work'), join(dir.path, 'private')]
    await mkdir(join(inside, 'app'), { recursive: true })
    await mkdir(outside)
    await symlink(outside, join(inside, 'way-out'))
    await project('inside', [join(inside, 'app')])
    await project('both', [inside, outside])
    await project('outside', [outside])
    await project('prefix', [`${inside}-not`])
    await project('linked', [join(inside, 'way-out')])
    await project('gone', [join(inside, 'deleted', 'long ago')])
    const throughline = await open({ ALLOWED_ROOTS: inside })
    expect(await ids(throughline)).toEqual(['gone', 'inside'])
    await expect(throughline.get('outside')).rejects.toMatchObject({ code: 'session-not-found' })
    expect(await ids(await open({ ALLOWED_ROOTS: `${inside}:${outside}` }))).toEqual([
      'both',
      'gone',
      'inside',
      'linked',
      'outside',
    ])
  })

  test('[C2.2] a workdir hidden in the middle of a large file, or in a subagent, is found before it is shown', async () => {
    const root = join(dir.path, 'work')
    const lines = createLines({ cwd: root })
    const filler = Array.from({ length: 600 }, () => lines.reply(say('word '.repeat(60))))
    filler[300] = lines.reply(say('elsewhere'), { cwd: '/etc/secret' })
    await writeTranscript(dir.path, toJsonl([lines.prompt('x'), ...filler]), { id: 'large' })
    const path = await writeTranscript(dir.path, toJsonl([lines.prompt('y')]), { id: 'delegating' })
    await mkdir(join(path, '..', 'delegating', 'subagents'), { recursive: true })
    await writeFile(
      join(path, '..', 'delegating', 'subagents', 'agent-a.jsonl'),
      toJsonl([lines.prompt('z', { cwd: '/etc/secret' })]),
    )
    expect(await ids(await open({ ALLOWED_ROOTS: root }))).toEqual([])
    expect(await ids(await open())).toEqual(['delegating', 'large'])
  })

  test.each([
    [
      'was mentioned in a tool call before',
      (lines: LineMaker) => [
        lines.reply([{ type: 'tool_use', id: 't', name: 'X', input: { cwd: '/etc/secret' } }]),
        lines.prompt('y', { cwd: '/etc/secret' }),
      ],
    ],
    [
      'differs from another one only behind a quote',
      (lines: LineMaker) => [
        lines.prompt('y', { cwd: '/ROOT/a"b' }),
        lines.prompt('y', { cwd: '/ROOT/a"/../../etc' }),
      ],
    ],
    [
      'stands in a record that was glued to a torn one',
      (lines: LineMaker) => ['{"type":"user","torn', lines.prompt('y', { cwd: '/etc/secret' })],
    ],
    [
      'stands before the time in its line',
      (lines: LineMaker) => [
        {
          type: 'user',
          cwd: '/etc/secret',
          filler: 'x'.repeat(5000),
          uuid: lines.prompt('').uuid,
          timestamp: '2026-11-15T08:00:00Z',
        },
      ],
    ],
  ])('[C2.2] a workdir outside that %s is found all the same', async (_how, make) => {
    const root = join(dir.path, 'work')
    const lines = createLines({ cwd: root })
    const made = make(lines).map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`))
    const filler = toJsonl(Array.from({ length: 300 }, () => lines.reply(say('word '.repeat(60)))))
    const text = toJsonl([lines.prompt('x')]) + filler + made.join('').replaceAll('/ROOT', root) + filler
    await writeTranscript(dir.path, text, { id: 'hidden' })
    expect(await ids(await open({ ALLOWED_ROOTS: root }))).toEqual([])
    expect(await ids(await open())).toEqual(['hidden'])
  })

  test('[C2.2] a file that cannot be read is not shown, and hides no other', async () => {
    const root = join(dir.path, 'work')
    await writeTranscript(dir.path, toJsonl([createLines({ cwd: root }).prompt('x')]), { id: 'fine' })
    const path = await writeTranscript(dir.path, toJsonl([createLines({ cwd: root }).prompt('y')]), {
      id: 'odd',
    })
    await mkdir(join(path, '..', 'odd', 'subagents', 'agent-b.jsonl'), { recursive: true })
    await writeFile(join(path, '..', 'odd', 'subagents', 'agent-a.jsonl'), '')
    expect(await ids(await open({ ALLOWED_ROOTS: root }))).toEqual(['fine', 'odd'])
    await writeTranscript(dir.path, '', { id: 'empty' })
    expect(await ids(await open({ ALLOWED_ROOTS: root }))).toEqual(['fine', 'odd'])
  })

  test('[C2.2] a root that is no absolute path is refused with a next step', async () => {
    await expect(open({ ALLOWED_ROOTS: 'work' })).rejects.toMatchObject({
      code: 'config-invalid',
      hint: expect.stringContaining('/'),
    })
  })
})

describe('listing', () => {
  test('[D06] [READ20] sessions come by their last line, newest first, and those without a time last', async () => {
    const at = (time: string): object => createLines().prompt('x', { timestamp: time })
    await writeTranscript(dir.path, toJsonl([at('2026-01-01T00:00:00Z')]), { id: 'old' })
    await writeTranscript(dir.path, toJsonl([at('2026-03-01T00:00:00Z')]), { id: 'new' })
    await writeTranscript(dir.path, '', { id: 'never' })
    const { sessions } = await (await open()).list()
    expect(sessions.map(({ id }) => id)).toEqual(['new', 'old', 'never'])
    expect(sessions.map(({ facts }) => facts)).toEqual([undefined, undefined, undefined])
    expect((await (await open()).list({ limit: 1 })).sessions.map(({ id }) => id)).toEqual(['new'])
  })

  test('[READ20] filters look at text and at workdirs', async () => {
    await writeTranscript(dir.path, toJsonl([createLines({ cwd: '/a/b' }).prompt('Fix the PARSER')]), {
      id: 'one',
    })
    await writeTranscript(dir.path, toJsonl([createLines({ cwd: '/a/bc' }).prompt('write docs')]), {
      id: 'two',
    })
    const throughline = await open()
    const found = async (options: object): Promise<string[]> =>
      (await throughline.list(options)).sessions.map(({ id }) => id)
    expect(await found({ text: 'parser' })).toEqual(['one'])
    expect(await found({ workdir: '/a/b' })).toEqual(['one'])
    expect(await found({ workdir: '/a' })).toHaveLength(2)
    expect(await found({ live: 'any' })).toEqual([])
  })

  test('[D08] [READ17] a setting that makes Claude Code save nothing is pointed out', async () => {
    await writeFile(join(dir.path, 'settings.json'), '{"cleanupPeriodDays":0}')
    expect((await (await open()).list()).problems).toMatchObject([
      { message: expect.stringContaining('cleanupPeriodDays'), hint: expect.stringContaining('3650') },
    ])
    await writeFile(join(dir.path, 'settings.json'), '{"cleanupPeriodDays":30}')
    expect((await (await open()).list()).problems).toEqual([])
  })

  test('[C3.2] one file that cannot be read is listed with its problem and hides no other', async () => {
    await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]), { id: 'fine' })
    const path = await writeTranscript(dir.path, 'x', { id: 'gone' })
    const throughline = await open()
    const { sessions } = await throughline.list()
    const gone = sessions.find(({ id }) => id === 'gone')
    await rm(path)
    if (gone === undefined) throw new Error('it was there')
    await expect(throughline.check(gone)).rejects.toMatchObject({ code: 'transcript-gone' })
    expect((await throughline.list({ full: true })).sessions.map(({ id }) => id)).toEqual(['fine'])
  })
})

describe('finding a session', () => {
  beforeEach(async () => {
    const title = (customTitle: string): object => ({ type: 'custom-title', customTitle, sessionId: 's' })
    await writeTranscript(dir.path, toJsonl([createLines().prompt('one'), title('The parser')]), {
      id: 'abc-1',
    })
    await writeTranscript(dir.path, toJsonl([createLines().prompt('two'), title('The other')]), {
      id: 'abc-2',
    })
  })

  test('[READ40] by id, by the beginning of an id, or by its whole name', async () => {
    const throughline = await open()
    for (const query of ['abc-1', 'ABC-1', 'the parser', ' The Parser ']) {
      expect((await throughline.get(query)).id).toBe('abc-1')
    }
  })

  test('[READ40] a name that is the beginning of an id is ambiguous, and an exact id is not', async () => {
    const title = { type: 'custom-title', customTitle: 'cafe', sessionId: 's' }
    await writeTranscript(dir.path, toJsonl([createLines().prompt('three'), title]), { id: 'abc-3' })
    await writeTranscript(dir.path, toJsonl([createLines().prompt('four')]), { id: 'cafe0001' })
    const throughline = await open()
    await expect(throughline.get('cafe')).rejects.toMatchObject({
      code: 'session-ambiguous',
      message: '2 sessions match "cafe"',
      hint: expect.stringContaining('abc-3 (cafe)'),
    })
    expect((await throughline.get('cafe0')).id).toBe('cafe0001')
  })

  test('[D13] [READ40] one that is not there, and one of several, say what to do', async () => {
    const throughline = await open()
    await expect(throughline.get('nothing-like-it')).rejects.toMatchObject({
      code: 'session-not-found',
      hint: expect.stringContaining('throughline ls'),
    })
    await expect(throughline.get('abc-')).rejects.toMatchObject({
      code: 'session-ambiguous',
      hint: expect.stringContaining('abc-2'),
    })
    // Too few characters of an id, and a part of a name, reach nothing that could be changed.
    await expect(throughline.get('abc')).rejects.toMatchObject({ code: 'session-not-found' })
    await expect(throughline.get('parse')).rejects.toMatchObject({
      code: 'session-not-found',
      hint: 'Give the id or the whole name. Similar names: abc-1 (The parser).',
    })
    await expect(throughline.get('  ')).rejects.toMatchObject({ code: 'session-not-found' })
  })
})

describe('views', () => {
  test('[READ6] a page says how to go on in both directions', async () => {
    const lines = createLines()
    await writeTranscript(
      dir.path,
      toJsonl(Array.from({ length: 10 }, (_, index) => lines.prompt(`${index}`))),
    )
    const throughline = await open()
    const session = await throughline.get(SESSION)
    const last = await throughline.page(session, { limit: 4 })
    expect(last.readings).toHaveLength(4)
    expect(last.atEnd).toBe(true)
    const before = await throughline.page(session, { limit: 100, before: last.start })
    expect(before.readings).toHaveLength(6)
    expect(before.atStart).toBe(true)
    expect(before.end).toBe(last.start)
  })

  test('[READ2] the bytes of a session are the bytes of its file', async () => {
    const path = await writeTranscript(dir.path, Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]))
    const throughline = await open()
    const chunks: Uint8Array[] = []
    for await (const chunk of throughline.bytes(await throughline.get(SESSION))) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(await readFile(path))).toBe(true)
  })

  test('[READ13] what the conversation left is marked, what a compaction summarised is not', async () => {
    const lines = createLines()
    const root = [lines.prompt('old'), lines.reply(say('older'))]
    const boundary = lines.system('compact_boundary', {
      parentUuid: null,
      logicalParentUuid: root[1]?.uuid,
      compactMetadata: {},
    })
    const summary = lines.prompt('summary', { isCompactSummary: true })
    const left = lines.prompt('left behind')
    const active = lines.prompt('taken', { parentUuid: summary.uuid })
    await writeTranscript(dir.path, toJsonl([...root, boundary, summary, left, active]))
    const throughline = await open()
    const marks: (boolean | undefined)[] = []
    for await (const passages of throughline.passages(await throughline.get(SESSION))) {
      for (const passage of passages) if (passage.kind !== 'damage') marks.push(passage.offPath)
    }
    expect(marks).toEqual([undefined, undefined, undefined, true, undefined])
  })
})
