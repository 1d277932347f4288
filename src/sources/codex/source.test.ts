import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { SessionSummary } from '#model'
import { createRollout, openTempDir, ROLLOUT, writeRollout, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTranscript } from '../transcript-file.ts'
import { createRegistry } from './registry.ts'
import { createCodexSource } from './source.ts'

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/codex')
const OTHER = '01a1de19-b2cc-7fc2-8158-66c794d84b61'

let dir: TempDir
let home: string
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'codex')
  mkdirSync(home)
})
afterEach(() => dir.remove())

function take(scenario: string): void {
  cpSync(join(FIXTURES, scenario), home, { recursive: true })
}

async function list(): Promise<readonly SessionSummary[]> {
  return (await createCodexSource(home).list()).sessions
}

async function only(): Promise<SessionSummary> {
  const [session, ...more] = await list()
  expect(more).toEqual([])
  if (session === undefined) throw new Error('there is no session')
  return session
}

describe('the sessions of Codex', () => {
  test('[CDX12] [C2.1] a session is listed with the id of its first line, its name, workdir, branch and times', async () => {
    take('subagent')
    const rollout = createRollout()
    const meta = rollout.meta({ git: { branch: 'main' } })
    const body = [meta, rollout.line('turn_context', { cwd: '/home/user/other', model: 'gpt-5.5' })]
    body.push(rollout.prompt('What\n  is it?'), rollout.meta({ id: OTHER, cwd: '/copied' }))
    writeRollout(home, body.join(''))
    const session = (await list()).find(({ id }) => id === ROLLOUT)
    expect(session).toMatchObject({
      agent: 'codex',
      name: 'What is it?',
      nameFrom: 'prompt',
      workdirs: ['/home/user/work', '/home/user/other', '/copied'],
      workdirsComplete: true,
      gitBranch: 'main',
      createdAt: '2026-11-15T00:00:00.000Z',
      lastActivityAt: '2026-11-15T00:00:03.000Z',
      archived: false,
      state: 'ok',
    })
    const rows = [
      { id: ROLLOUT, thread_name: 'First' },
      { id: ROLLOUT, thread_name: 'Last' },
    ]
    writeFileSync(
      join(home, 'session_index.jsonl'),
      `garbage\n${rows.map((row) => `${JSON.stringify(row)}\n`).join('')}`,
    )
    expect((await list()).find(({ id }) => id === ROLLOUT)).toMatchObject({
      name: 'Last',
      nameFrom: 'custom',
    })
  })

  test('[CDX12] text that was put in, and what another agent said, is nobody’s first prompt', async () => {
    const rollout = createRollout()
    const say = (text: string): string =>
      rollout.item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
    const lines = [
      rollout.meta(),
      say('<environment_context>'),
      say('# AGENTS.md instructions'),
      say('<skill>'),
    ]
    lines.push(
      rollout.item({
        type: 'agent_message',
        author: '/root',
        recipient: '/root/a',
        content: [{ type: 'input_text', text: 'do' }],
      }),
    )
    writeRollout(home, [...lines, say('x'.repeat(3_000_000)), say('later')].join(''))
    expect((await only()).firstPrompt?.startsWith('xxx')).toBe(true)
  })

  test('[CDX13] an archived session is listed as archived, from wherever it goes on', async () => {
    take('reverted-forked-archived')
    expect((await list()).map(({ id, archived }) => [id.slice(0, 13), archived])).toEqual([
      ['01a1e439-0e1e', false],
      ['01a1e439-11d9', true],
    ])
  })

  test('[CDX14] [READ15] a subagent hangs under its session at the call that started it, and is no session', async () => {
    take('subagent')
    const session = await only()
    expect(session.subagents).toMatchObject([
      {
        id: '01a1e448-a6f6-73f2-8546-d3747dd9c308',
        description: '/root/sub_one',
        toolUseId: 'call_scripted1x0',
      },
    ])
    // The session that it belonged to is gone: it is not hidden.
    renameSync(session.path, join(dir.path, basename(session.path)))
    expect((await only()).id).toBe('01a1e448-a6f6-73f2-8546-d3747dd9c308')
  })

  test('[CDX15] a session that Codex copied from Claude Code says from which', async () => {
    take('native-import-of-claude-session')
    const id = '01a1de1c-9c53-70d3-a6ad-a02745bad35b'
    const path = '/home/user/.claude/projects/-w/28d0f361-d68b-4694-9a0c-c8722fa961f2.jsonl'
    const records = [
      { source_path: path, content_sha256: '00', imported_thread_id: id, imported_at: 1794727779 },
      { other: 1 },
    ]
    writeFileSync(join(home, 'external_agent_session_imports.json'), JSON.stringify({ records }))
    expect((await only()).copiedFrom).toEqual({
      agent: 'claude',
      id: '28d0f361-d68b-4694-9a0c-c8722fa961f2',
      path,
      kind: 'imported',
      until: '2026-11-15T07:29:41.000Z',
    })
    writeFileSync(join(home, 'external_agent_session_imports.json'), '{"records":7}')
    expect((await only()).copiedFrom).toBeUndefined()
  })

  test('[CDX16] a packed rollout is listed as unreadable, with what to do; unpacked it is one session', async () => {
    const rollout = createRollout()
    const path = writeRollout(home, rollout.meta() + rollout.prompt('hello'))
    renameSync(path, `${path}.zst`)
    const packed = await only()
    expect(packed).toMatchObject({ id: ROLLOUT, state: 'unreadable' })
    expect(packed.problem).toMatch(/zstd.*Unpack it/u)
    cpSync(`${path}.zst`, path)
    expect(await only()).toMatchObject({ id: ROLLOUT, state: 'ok' })
  })

  test('[CDX33] of two files of one thread the one that holds more is read, and the other is told', async () => {
    const rollout = createRollout()
    const short = rollout.meta() + rollout.prompt('hello')
    const active = writeRollout(home, short)
    const copy = join(home, 'archived_sessions', basename(active))
    mkdirSync(dirname(copy))
    const expectRead = async (read: string, other: string): Promise<void> => {
      const { sessions, problems } = await createCodexSource(home).list()
      expect(sessions).toMatchObject([{ id: ROLLOUT, path: read }])
      expect(problems).toMatchObject([{ path: other, message: expect.stringContaining(read) }])
    }
    // Copies that hold the same: the one that Codex would write to.
    writeFileSync(copy, short)
    await expectRead(active, copy)
    writeFileSync(copy, short + rollout.prompt('more'))
    await expectRead(copy, active)
    // Under another name, with the same first line.
    rmSync(copy)
    const renamed = writeRollout(home, short + rollout.reply('an answer'), { name: OTHER })
    await expectRead(renamed, active)
  })

  test('[CDX22] [C3.2] empty, torn, blank and broken rollouts are listed as what they are, and hide nothing', async () => {
    const rollout = createRollout()
    writeRollout(home, '', { name: 'a' })
    writeRollout(home, rollout.meta({ id: 'b' }), { name: 'b' })
    writeRollout(home, rollout.meta({ id: 'c' }).slice(0, 30), { name: 'c' })
    const torn = rollout.meta({ id: 'd' }) + rollout.prompt('said') + rollout.reply('half').slice(0, 40)
    writeRollout(home, torn, { name: 'd' })
    writeRollout(home, `${rollout.meta({ id: 'e' })}garbage\n${rollout.prompt('said')}`, { name: 'e' })
    writeFileSync(join(home, 'sessions/2026/11/15/notes.jsonl'), '')
    symlinkSync('/etc/passwd', join(home, 'sessions/rollout-2026-11-15T07-25-13-f.jsonl'))
    const { sessions, problems } = await createCodexSource(home).list()
    expect(sessions.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual([
      'a empty',
      'b empty',
      'c damaged',
      'd damaged',
      'e damaged',
    ])
    expect(problems.map(({ message }) => message).toSorted()).toEqual([
      'has a name that no rollout has',
      'is not a regular file, and links are not followed',
    ])
    expect(await createCodexSource(join(dir.path, 'nothing')).list()).toEqual({ sessions: [], problems: [] })
  })

  test('[CDX23] [READ18] a session is live while a process holds its lock', async () => {
    take('plain')
    const locks = join(home, 'thread-writer-locks')
    mkdirSync(locks)
    writeFileSync(join(locks, `${ROLLOUT}.lock`), '')
    const { dev, ino } = statSync(join(locks, `${ROLLOUT}.lock`))
    const device = [Math.floor(dev / 256) % 4096, (dev % 256) + Math.floor(dev / 1_048_576) * 256]
    const name = device.map((half) => half.toString(16).padStart(2, '0')).join(':')
    const table = join(dir.path, 'locks')
    writeFileSync(table, `1: FLOCK  ADVISORY  WRITE ${process.pid} ${name}:${ino} 0 EOF\n2: POSIX x\n`)
    expect(createRegistry(home, table).read().holders).toMatchObject([
      { sessionId: ROLLOUT, pid: process.pid },
    ])
    writeFileSync(table, `1: FLOCK  ADVISORY  WRITE ${process.pid} ${name}:${ino + 1} 0 EOF\n`)
    expect(createRegistry(home, table).read().holders).toEqual([])
    expect(createRegistry(home, join(dir.path, 'no-such-table')).read().holders).toEqual([])
    expect((await only()).live).toBeUndefined()
  })

  test('[CDX24] [READ16] bills are one per response, with the model and the workdir of their turn', async () => {
    take('app-server-inject-compact-interrupt-fork')
    const source = createCodexSource(home)
    const totals: number[] = []
    for (const { path } of (await source.list()).sessions) {
      const file = openTranscript(path)
      const { messages, compactions } = await source.createBillReader().read(file)
      file.close()
      expect(new Set(messages.map(({ key }) => key)).size).toBe(messages.length)
      expect(
        messages.every(
          ({ model, workdir }) => model === 'gpt-5.5' && workdir === '/home/user/work/codex_app',
        ),
      ).toBe(true)
      expect(compactions).toMatchObject([{ key: '01a1de1c-220e-7152-b094-bea2899eeafa' }])
      totals.push(messages.length)
    }
    expect(totals.toSorted((a, b) => a - b)).toEqual([4, 5])
  })

  test('[CDX25] [C2.2] every working directory is found, in a file of any size', async () => {
    const rollout = createRollout()
    const lines = [rollout.meta(), rollout.prompt('go')]
    for (let index = 0; index < 300; index++) {
      if (index % 100 === 50) lines.push(rollout.line('turn_context', { cwd: `/home/user/${index}` }))
      lines.push(rollout.reply(`"cwd":"/mentioned" turn_context ${'x'.repeat(2000)}`))
    }
    const path = writeRollout(home, lines.join(''))
    const source = createCodexSource(home)
    expect(await source.findWorkdirs(path)).toEqual([
      '/home/user/work',
      '/home/user/50',
      '/home/user/150',
      '/home/user/250',
    ])
    expect(await only()).toMatchObject({ workdirsComplete: false })
  })

  test('[CDX26] [READ17] reading changes nothing in the home', async () => {
    take('reverted-forked-archived')
    const look = (): readonly string[] =>
      readdirSync(home, { recursive: true, encoding: 'utf8' })
        .toSorted()
        .map((name) => `${name} ${statSync(join(home, name)).mtimeMs} ${statSync(join(home, name)).size}`)
    const before = look()
    for (const { path } of await list()) await createCodexSource(home).findWorkdirs(path)
    expect(look()).toEqual(before)
  })

  test('[CDX27] its folders, their stamp, and the places of its files are those of its layout', async () => {
    take('reverted-forked-archived')
    const source = createCodexSource(home)
    const day = join(home, 'sessions/2026/11/16')
    const path = join(day, readdirSync(day)[0] ?? '')
    expect(source.folders()).toEqual([
      home,
      join(home, 'sessions'),
      join(home, 'sessions/2026'),
      join(home, 'sessions/2026/11'),
      day,
      join(home, 'archived_sessions'),
    ])
    expect(source.folders(day)).toEqual([day])
    expect(source.folders(dir.path)).toEqual([])
    expect(source.findPlace(path)).toBe(path.slice(home.length + 1))
    expect(source.findPlace(join(home, 'config.toml'))).toBeUndefined()
    expect(source.stamp(Date.now())).toBe('')
    const later = Date.now() + 60_000
    const stamp = source.stamp(later)
    expect(source.stamp(later)).toBe(stamp)
    await appendFile(path, '')
    expect(source.stamp(later)).toBe(stamp)
    cpSync(path, join(day, `rollout-2026-11-16T11-58-26-${OTHER}.jsonl`))
    expect(source.stamp(later)).not.toBe(stamp)
    const linked = join(dir.path, 'linked')
    symlinkSync(home, linked)
    expect((await createCodexSource(linked).list()).sessions).toHaveLength(2)
    expect(source.at(linked).root).toBe(linked)
    expect(readFileSync(path).length).toBeGreaterThan(0)
  })
})
