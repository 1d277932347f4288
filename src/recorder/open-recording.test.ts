import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { field, string } from '#base'
import { checkWithEntire, findJq, openTempDir, runs } from '#testing'
import { openRecording } from './open-recording.ts'
import { linesOf, openPlace, textOf } from './fixtures/recording-place.ts'

describe('where a recording is', () => {
  test('[REC1] nothing is made before the first turn, and nothing at all when there is none', async () => {
    const { cwd, record } = await openPlace()
    const recording = await record()
    expect(readdirSync(cwd)).toEqual([])
    await recording.end()
    expect(readdirSync(cwd)).toEqual([])
    await expect(recording.user('late')).rejects.toMatchObject({ code: 'journal-closed' })
    await expect(record({ cwd: join(cwd, 'nowhere') })).rejects.toMatchObject({ code: 'folder-not-found' })
  })

  test('[D5.1] prompt.txt has the words of the person, without what a client says to the model beside them', async () => {
    const { record } = await openPlace()
    const recording = await record()
    await recording.user('<system-reminder>nobody said this</system-reminder>')
    await recording.user([
      { type: 'text', text: '<system-reminder>\nnor this\n</system-reminder>\n' },
      { type: 'text', text: 'Mend the <system> test.' },
    ])
    await recording.end()
    expect(readFileSync(join(recording.folder, 'prompt.txt'), 'utf8').trim()).toBe('Mend the <system> test.')
  })

  test('[D5.1] [REC38] what Codex and Gemini put in the place of a person is no prompt, and is marked as theirs', async () => {
    const { record } = await openPlace()
    const recording = await record()
    await recording.user('<environment_context>\n  <cwd>/w</cwd>\n</environment_context>')
    await recording.user([
      { type: 'text', text: '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>' },
      { type: 'text', text: '<user_instructions>\nBe kind.\n</user_instructions>' },
    ])
    await recording.user('<session_context>\nThis is the Gemini CLI.\n</session_context>')
    await recording.user('<environment_context> is what I ask about')
    await recording.end()
    const said = '<environment_context> is what I ask about'
    expect(readFileSync(join(recording.folder, 'prompt.txt'), 'utf8').trim()).toBe(said)
    expect((await linesOf(recording.path)).map((line) => field(line, 'isMeta') ?? false)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('[E1.1] [REC39] raw bytes are base64 in the line, in every form that JavaScript has for them', async () => {
    const { record } = await openPlace()
    const recording = await record()
    const bytes = Buffer.from('%PDF-1.7 \u00ff')
    const own = new Uint8Array(bytes)
    const wide = new Uint8Array([0, ...own, 0])
    for (const data of [
      bytes,
      own,
      own.buffer,
      new DataView(own.buffer),
      wide.subarray(1, -1),
      new Int8Array(own.buffer),
    ])
      await recording.user([
        { type: 'document', source: { type: 'raw', media_type: 'application/pdf', data }, title: 'a' },
      ])
    await Reflect.apply(recording.assistant.bind(recording), undefined, ['words alone'])
    await recording.end()
    const lines = await linesOf(recording.path)
    const source = { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') }
    for (const line of lines.slice(0, -1))
      expect(field(field(line, 'message'), 'content')).toEqual([{ type: 'document', source, title: 'a' }])
    expect(field(field(lines.at(-1), 'message'), 'content')).toEqual([{ type: 'text', text: 'words alone' }])
  })

  test('[REC2] [D7.1] whatever is in .entire stays as it is, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(entireTree, async (files) => {
        await using dir = await tempDir()
        for (const [path, content] of files) {
          mkdirSync(join(dir.path, '.entire', path, '..'), { recursive: true })
          writeFileSync(join(dir.path, '.entire', path), content)
        }
        mkdirSync(join(dir.path, '.entire'), { recursive: true })
        const before = prints(join(dir.path, '.entire'))
        const options = { cwd: dir.path, agent: 'a', version: '1', register: false } as const
        const recording = await openRecording(options)
        await recording.user('hello')
        await recording.assistant({ content: 'hi' })
        await recording.end()
        const after = prints(join(dir.path, '.entire'))
        expect(after).toMatchObject(before)
        const added = Object.keys(after).filter((path) => !Object.hasOwn(before, path))
        expect(added.filter((path) => !path.startsWith(join('metadata', recording.sessionId)))).toEqual(
          Object.hasOwn(before, 'metadata') ? [] : ['metadata'],
        )
      }),
      runs(15),
    )
  })

  test('[REC3] a way that leads through a link is refused, and nothing is written behind it', async () => {
    for (const link of ['.entire', join('.entire', 'metadata')]) {
      const { cwd, record } = await openPlace()
      const elsewhere = join(cwd, 'elsewhere')
      mkdirSync(elsewhere)
      mkdirSync(join(cwd, link, '..'), { recursive: true })
      symlinkSync(elsewhere, join(cwd, link))
      await expect(record()).rejects.toMatchObject({ code: 'folder-not-found' })
      expect(readdirSync(elsewhere)).toEqual([])
    }
    const { cwd, record } = await openPlace()
    const recording = await record()
    symlinkSync('/tmp', join(cwd, '.entire'))
    await expect(recording.user('x')).rejects.toMatchObject({ code: 'folder-not-found' })
    rmSync(join(cwd, '.entire'))
    await recording.user('x')
    await recording.end()
  })

  test('[REC4] git sees nothing of a recording, whatever else it is told to ignore', async () => {
    const { cwd, record } = await openPlace()
    const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' })
    git('init', '-q')
    const recording = await record({ register: false, large: 'blobs' })
    await recording.user('y'.repeat(20_000))
    await recording.end()
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('')
  })

  test('[REC5] folders are 0700 and files 0600', async () => {
    const { cwd, record } = await openPlace()
    const recording = await record({ large: 'blobs' })
    await recording.user('y'.repeat(20_000))
    await recording.end()
    const modes = Object.entries(prints(join(cwd, '.entire'))).map(([path, { mode }]) => [path, mode])
    for (const [path, mode] of modes) {
      const isFolder = lstatSync(join(cwd, '.entire', String(path))).isDirectory()
      expect([path, mode]).toEqual([path, isFolder ? 0o700 : 0o600])
    }
  })
})

describe('lines', () => {
  test('[REC6] turns keep the order of the calls, and each hangs from the one before', async () => {
    const { record } = await openPlace()
    const recording = await record()
    const turns = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => await recording.user(`turn ${n}`)),
    )
    const lines = await linesOf(recording.path)
    expect(lines.map((line) => field(field(line, 'message'), 'content'))).toEqual(
      turns.map((_, n) => `turn ${n}`),
    )
    expect(lines.map((line) => field(line, 'parentUuid'))).toEqual([
      null,
      ...turns.slice(0, -1).map(({ uuid }) => uuid),
    ])
    await recording.end()
  })

  test('[REC6] another parent begins a branch; one that is not there is refused', async () => {
    const { record } = await openPlace()
    const recording = await record()
    const first = await recording.user('one')
    await recording.assistant({ content: 'two' })
    const branch = await recording.user('other', { parentUuid: first.uuid })
    await recording.user('anew', { parentUuid: null })
    await expect(recording.user('x', { parentUuid: 'nobody' })).rejects.toMatchObject({
      code: 'entry-not-found',
    })
    const lines = await linesOf(recording.path)
    expect(lines.slice(2).map((line) => [field(line, 'uuid'), field(line, 'parentUuid')])).toEqual([
      [branch.uuid, first.uuid],
      [expect.any(String), null],
    ])
    await recording.end()
  })

  test('[REC7] results stand in a line of their own, before whatever was said with them', async () => {
    const { record } = await openPlace()
    const recording = await record()
    const result = { type: 'tool_result', tool_use_id: 't', content: 'ok' }
    const picture = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const words = { type: 'text', text: 'and now?' }
    await recording.assistant({ content: [{ type: 'tool_use', id: 't', name: 'ls', input: {} }] })
    const turn = await recording.user([words, result, picture], { toolUseResult: { stdout: 'ok' } })
    const [, results, rest] = await linesOf(recording.path)
    expect(results).toMatchObject({ message: { content: [result] }, toolUseResult: { stdout: 'ok' } })
    expect(rest).toMatchObject({ message: { content: [words, picture] }, uuid: turn.uuid })
    expect(field(rest, 'parentUuid')).toBe(field(results, 'uuid'))
    expect(field(rest, 'toolUseResult')).toBeUndefined()
    await recording.end()
    expect(await textOf(recording.folder, 'prompt.txt')).toBe('and now?')
  })

  test('[REC8] an answer has a list and an id, and keeps whatever else the provider said', async () => {
    const { record } = await openPlace()
    const recording = await record({ provider: 'anthropic' })
    await recording.assistant({ content: 'plain' }, { requestId: 'req_1' })
    const block = { type: 'server_tool_use', id: 's', odd: [1] }
    const given = {
      id: 'msg_1',
      model: 'm',
      content: [block],
      container: { id: 'c' },
      role: 'x',
      stop_reason: 'end_turn',
    }
    await recording.assistant(given, { provider: 'openai' })
    const [plain, whole] = await linesOf(recording.path)
    expect(plain).toMatchObject({
      provider: 'anthropic',
      requestId: 'req_1',
      message: {
        id: expect.stringMatching(/^msg_./),
        content: [{ type: 'text', text: 'plain' }],
        stop_reason: null,
      },
    })
    expect(whole).toMatchObject({
      provider: 'openai',
      message: { ...given, role: 'assistant', stop_sequence: null },
    })
    await recording.end()
  })

  test('[REC9] further fields are on every line, and none can take the place of a named one', async () => {
    const { record } = await openPlace()
    const recording = await record({ extra: { gitBranch: 'main', uuid: 'x', blobs: [] } })
    await recording.user('hi', {
      extra: { gitBranch: 'next', sessionId: 'y', isSidechain: true, promptId: 'p' },
    })
    const [line] = await linesOf(recording.path)
    expect(line).toMatchObject({
      gitBranch: 'next',
      promptId: 'p',
      sessionId: recording.sessionId,
      isSidechain: false,
    })
    expect(string(line, 'uuid')).not.toBe('x')
    expect(Object.keys(Object(line))).not.toContain('blobs')
    await recording.end()
  })

  test('[REC10] a turn is what it was when it was given, whatever becomes of it; what is no JSON is refused', async () => {
    const { record } = await openPlace()
    const recording = await record()
    const content = [{ type: 'text', text: 'before' }]
    const done = recording.user(content)
    content.push({ type: 'text', text: 'after' })
    await done
    const circle: unknown[] = []
    circle.push(circle)
    await expect(recording.user([{ type: 'x', circle }])).rejects.toMatchObject({
      code: 'journal-unwritable',
    })
    await recording.user('on')
    const lines = await linesOf(recording.path)
    expect(lines.map((line) => field(field(line, 'message'), 'content'))).toEqual([
      [{ type: 'text', text: 'before' }],
      'on',
    ])
    await recording.end()
  })
})

describe('several at once', () => {
  test.skipIf(findJq() === undefined)(
    '[REC11] recordings in one folder do not disturb each other',
    async () => {
      const { record } = await openPlace()
      const recordings = await Promise.all(Array.from({ length: 8 }, async () => await record()))
      await Promise.all(
        recordings.map(async (recording, n) => {
          for (let turn = 0; turn < 5; turn++) await recording.user(`${n}.${turn}`)
          await recording.end()
        }),
      )
      for (const [n, { path }] of recordings.entries()) {
        const { errors, prompts } = await checkWithEntire(path)
        expect([errors, prompts]).toEqual([{}, Array.from({ length: 5 }, (_, turn) => `${n}.${turn}`)])
      }
    },
  )

  test('[REC12] [D3.1] a recording is gone on with by its id or by the uuid in it, by one process at a time', async () => {
    const { record } = await openPlace()
    const first = await record()
    const { uuid } = await first.user('one')
    await expect(record({ sessionId: first.sessionId })).rejects.toMatchObject({ code: 'journal-locked' })
    await first.end()
    const again = await record({ sessionId: first.sessionId.slice(11) })
    expect(again.path).toBe(first.path)
    // It is not over any more.
    expect(existsSync(join(first.folder, 'context.md'))).toBe(false)
    await again.user('two')
    await again.end()
    const [, second] = await linesOf(first.path)
    expect(field(second, 'parentUuid')).toBe(uuid)
    expect(await textOf(first.folder, 'prompt.txt')).toBe('one')
    expect(existsSync(join(first.folder, 'context.md'))).toBe(true)
    await expect(record({ sessionId: '../../x' })).rejects.toMatchObject({ code: 'session-not-found' })
  })

  test('[REC12] a session that somebody else wrote is not gone on with', async () => {
    const { cwd, record } = await openPlace()
    const id = '2026-01-02-6a1d235a-bb58-40ea-a205-a76f5ad0f6f1'
    mkdirSync(join(cwd, '.entire', 'metadata', id), { recursive: true })
    const path = join(cwd, '.entire', 'metadata', id, 'full.jsonl')
    writeFileSync(
      path,
      '{"type":"user","sessionId":"6a1d235a","message":{"role":"user","content":"x"}}\n{"torn',
    )
    await expect(record({ sessionId: id })).rejects.toMatchObject({ code: 'session-not-found' })
    expect(readFileSync(path, 'utf8')).toMatch(/\{"torn$/)
  })

  test('[REC13] a subagent has a file of its own below its recording', async () => {
    const { record } = await openPlace()
    const main = await record()
    await main.user('go')
    const subagentOf = { sessionId: main.sessionId, agentId: 'a1' }
    const sub = await record({ subagentOf })
    await sub.user('look')
    expect(sub.path).toBe(join(main.folder, 'subagents', 'agent-a1.jsonl'))
    expect(await linesOf(sub.path)).toMatchObject([
      { sessionId: main.sessionId, isSidechain: true, agentId: 'a1', parentUuid: null },
    ])
    await sub.end()
    await main.end()
    const again = await record({ subagentOf })
    await again.assistant({ content: 'seen' })
    await again.end()
    expect(existsSync(join(main.folder, 'context.md'))).toBe(true)
    expect(await linesOf(sub.path)).toHaveLength(2)
    expect(await textOf(main.folder, 'prompt.txt')).toBe('go')
    await expect(record({ subagentOf: { ...subagentOf, agentId: '../x' } })).rejects.toMatchObject({
      code: 'bad-usage',
    })
  })
})

/** Files as Entire and people may have them below `.entire`. */
const ENTIRE_FILES = [
  'settings.json',
  'settings.local.json',
  '.gitignore',
  'logs/entire.log',
  'tmp/pre-prompt.json',
  'metadata/.gitignore',
  'metadata/ee485a46-07f5/full.jsonl',
  'metadata/ee485a46-07f5/prompt.txt',
  'metadata/2026-01-02-6a1d235a-bb58-40ea-a205-a76f5ad0f6f1/full.jsonl',
]
const entireTree = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...ENTIRE_FILES), fc.uint8Array({ maxLength: 40 })),
  { selector: ([path]) => path },
)

type Print = { readonly mode: number; readonly hash: string }

function prints(folder: string): Record<string, Print> {
  const found: Record<string, Print> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    const stats = lstatSync(path)
    const bytes = stats.isFile() ? readFileSync(path) : ''
    found[name] = { mode: stats.mode & 0o777, hash: createHash('sha256').update(bytes).digest('hex') }
  }
  return found
}

async function tempDir(): Promise<{ readonly path: string; [Symbol.asyncDispose](): Promise<void> }> {
  const dir = await openTempDir()
  return { path: dir.path, [Symbol.asyncDispose]: () => dir.remove() }
}
