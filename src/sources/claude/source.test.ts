import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { appendFile, chmod, link, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionSummary } from '#model'
import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Meter } from '../transcript-file.ts'
import { createClaudeSource } from './source.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

async function list(): Promise<readonly SessionSummary[]> {
  return (await createClaudeSource(dir.path).list()).sessions
}

async function only(): Promise<SessionSummary> {
  const [session, ...others] = await list()
  if (session === undefined || others.length > 0)
    throw new Error(`expected one session, found ${others.length + 1}`)
  return session
}

const say = (text: string): object[] => [{ type: 'text', text }]

describe('discovery', () => {
  test('[READ60] a session that began with /clear is called after the command that gave it its work', async () => {
    const lines = createLines()
    const command = (name: string, args = ''): object =>
      lines.prompt(`<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`)
    const made = [command('clear'), lines.prompt('<local-command-stdout></local-command-stdout>')]
    await writeTranscript(
      dir.path,
      toJsonl([...made, command('plan-phase', '14'), lines.reply(say('Done.'))]),
    )
    expect((await only()).name).toBe('/plan-phase 14')
    await writeTranscript(dir.path, toJsonl(made))
    expect((await only()).name).toBe('/clear')
  })

  test('[C2.1] a session is listed with id, workdir, first prompt, name and times from its lines', async () => {
    const lines = createLines({ cwd: '/home/user/my_project' })
    const path = await writeTranscript(
      dir.path,
      toJsonl([
        { type: 'mode', mode: 'normal', sessionId: SESSION },
        lines.attachment('hook_success'),
        lines.prompt('<local-command-caveat>x', { isMeta: true }),
        lines.prompt('what is this?'),
        lines.reply(say('a test')),
      ]),
    )
    expect(await only()).toMatchObject({
      id: SESSION,
      agent: 'claude',
      path,
      name: 'what is this?',
      nameFrom: 'prompt',
      firstPrompt: 'what is this?',
      workdirs: ['/home/user/my_project'],
      workdirsComplete: true,
      gitBranch: 'main',
      createdAt: '2026-11-15T08:00:01.000Z',
      lastActivityAt: '2026-11-15T08:00:04.000Z',
      state: 'ok',
      archived: false,
    })
  })

  test('[D01] [C2.1] an index file that is stale, empty or wrong changes nothing', async () => {
    await writeTranscript(dir.path, toJsonl([createLines().prompt('here')]))
    await writeFile(
      join(dir.path, 'projects/-home-user-work-made/sessions-index.json'),
      '{"version":1,"entries":[]}',
    )
    expect(await list()).toHaveLength(1)
  })

  test('[D02] [C2.1] lines of old versions that lack session ids, entrypoints or branches are listed all the same', async () => {
    const old = {
      type: 'user',
      uuid: 'u',
      parentUuid: null,
      cwd: '/old',
      timestamp: '2025-01-01T00:00:00.000Z',
      message: { role: 'user', content: 'from 2025' },
    }
    await writeTranscript(dir.path, toJsonl([{ type: 'summary', summary: 's', leafUuid: 'u' }, old]))
    expect(await only()).toMatchObject({
      firstPrompt: 'from 2025',
      workdirs: ['/old'],
      createdAt: '2025-01-01T00:00:00.000Z',
    })
  })

  test('[D03] [C2.1] folders that share one slug are told apart by the cwd of their lines', async () => {
    const one = createLines({ cwd: '/home/user/a_b' })
    const two = createLines({ cwd: '/home/user/a.b' })
    await writeTranscript(dir.path, toJsonl([one.prompt('x')]), { id: 'one', project: '-home-user-a-b' })
    await writeTranscript(dir.path, toJsonl([two.prompt('x')]), { id: 'two', project: '-home-user-a-b' })
    const found = await list()
    expect(found.map(({ id, workdirs }) => [id, workdirs])).toEqual([
      ['one', ['/home/user/a_b']],
      ['two', ['/home/user/a.b']],
    ])
  })

  test('[D04] [C2.1] a project that was moved or deleted is still listed', async () => {
    const lines = createLines({ cwd: join(dir.path, 'no-such-project') })
    await writeTranscript(dir.path, toJsonl([lines.prompt('x')]))
    expect(await only()).toMatchObject({ state: 'ok', workdirs: [join(dir.path, 'no-such-project')] })
  })

  test('[D06] [C2.1] touching a file does not change when the session was active', async () => {
    const path = await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]))
    const before = await only()
    await utimes(path, new Date('2030-01-01'), new Date('2030-01-01'))
    expect(await only()).toEqual(before)
  })

  test('[C2.1] every working directory of a session is listed, first one first', async () => {
    const lines = createLines({ cwd: '/first' })
    const all = [
      lines.prompt('a'),
      lines.reply(say('b'), { cwd: '/second' }),
      lines.prompt('c', { cwd: '/third "quoted"' }),
    ]
    const nested = lines.reply([{ type: 'tool_use', id: 't', name: 'X', input: { cwd: '/not/a/workdir' } }], {
      cwd: '/first',
    })
    await writeTranscript(
      dir.path,
      toJsonl([...all, nested, { type: 'relocated', relocatedCwd: '/fourth', sessionId: SESSION }]),
    )
    expect((await only()).workdirs).toEqual(['/first', '/second', '/third "quoted"', '/fourth'])
  })

  test('[C2.1] of a large file both ends are read and the rest is not; that it is not all is said', async () => {
    const lines = createLines({ cwd: '/first' })
    const filler = Array.from({ length: 4000 }, () => lines.reply(say('word '.repeat(60))))
    filler[2000] = lines.prompt('in between', { cwd: '/hidden' })
    await writeTranscript(
      dir.path,
      toJsonl([lines.prompt('begin'), ...filler, lines.prompt('end', { cwd: '/last' })]),
    )
    const meter: Meter = { bytesRead: 0 }
    const source = createClaudeSource(dir.path, meter)
    const [session] = (await source.list()).sessions
    expect(session).toMatchObject({ workdirs: ['/first', '/last'], workdirsComplete: false, state: 'ok' })
    expect(meter.bytesRead).toBeLessThan(80 * 1024)
    expect(await source.findWorkdirs(session?.path ?? '')).toEqual(['/first', '/hidden', '/last'])
  })

  test('[C2.1] a first prompt behind a megabyte of pictures is found', async () => {
    const lines = createLines()
    const picture = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_500_000) },
    }
    const prompt = lines.prompt('', {
      message: { role: 'user', content: [picture, { type: 'text', text: 'what is it?' }] },
    })
    await writeTranscript(dir.path, toJsonl([prompt, lines.reply(say('a picture'))]))
    expect(await only()).toMatchObject({ firstPrompt: 'what is it?', workdirs: ['/home/user/work/made'] })
  })

  test('[C2.1] a huge last line still gives the time of the last activity', async () => {
    const lines = createLines()
    await writeTranscript(dir.path, toJsonl([lines.prompt('x'), lines.reply(say('y'.repeat(900_000)))]))
    expect(await only()).toMatchObject({ lastActivityAt: '2026-11-15T08:00:02.000Z', state: 'ok' })
  })

  test("[C2.1] a name is the custom one, else the agent's, else the first prompt", async () => {
    const lines = createLines()
    const path = await writeTranscript(dir.path, toJsonl([lines.prompt('the prompt')]))
    expect(await only()).toMatchObject({ name: 'the prompt', nameFrom: 'prompt' })
    await appendFile(
      path,
      toJsonl([
        { type: 'ai-title', aiTitle: 'By the agent', sessionId: SESSION },
        lines.reply(say('the type "custom-title" is only mentioned')),
      ]),
    )
    expect(await only()).toMatchObject({ name: 'By the agent', nameFrom: 'agent' })
    await appendFile(
      path,
      toJsonl([
        { type: 'custom-title', customTitle: 'First', sessionId: SESSION },
        { type: 'custom-title', customTitle: 'Second', sessionId: SESSION },
      ]),
    )
    expect(await only()).toMatchObject({ name: 'Second', nameFrom: 'custom' })
    await mkdir(join(path, '..', SESSION))
    await writeFile(join(path, '..', SESSION, 'custom-title.json'), '{"customTitle":"From the terminal"}')
    await writeFile(join(path, '..', SESSION, 'archived.json'), '{"archived":true,"by":"sdk"}')
    expect(await only()).toMatchObject({ name: 'From the terminal', nameFrom: 'custom', archived: true })
  })

  test("[G10] [READ15] subagents are found in the session's folder, nested ones, and those older versions left beside it", async () => {
    const lines = createLines()
    const path = await writeTranscript(dir.path, toJsonl([lines.prompt('x')]))
    const side = join(path, '..', SESSION, 'subagents')
    await mkdir(join(side, 'deeper'), { recursive: true })
    await writeFile(join(side, 'agent-a1.jsonl'), toJsonl([lines.prompt('sub')]))
    await writeFile(
      join(side, 'agent-a1.meta.json'),
      '{"agentType":"Explore","description":"look","toolUseId":"toolu_1"}',
    )
    await writeFile(join(side, 'deeper', 'agent-a2.jsonl'), toJsonl([lines.prompt('sub')]))
    await writeTranscript(dir.path, toJsonl([lines.prompt('loose')]), {
      id: 'agent-a3',
      project: '-another-project',
    })
    await writeTranscript(dir.path, toJsonl([createLines({ sessionId: 'gone' }).prompt('orphan')]), {
      id: 'agent-a4',
    })
    const found = await list()
    expect(found.map(({ id }) => id).toSorted()).toEqual([SESSION, 'a4'].toSorted())
    expect(found.find(({ id }) => id === SESSION)?.subagents).toMatchObject([
      { id: 'a1', agentType: 'Explore', description: 'look', toolUseId: 'toolu_1' },
      { id: 'a2' },
      { id: 'a3' },
    ])
  })
})

describe('what is in the way', () => {
  test('[T14] [C3.2] empty, blank, snapshot-only and garbage files are listed as what they are, and hide nothing', async () => {
    const lines = createLines()
    await writeTranscript(dir.path, '', { id: 'empty' })
    await writeTranscript(dir.path, '\n\n', { id: 'blank' })
    await writeTranscript(dir.path, '{"type":"file-history-snapshot","messageId":"m"}\n', { id: 'snapshot' })
    await writeTranscript(dir.path, 'what is this\n', { id: 'garbage' })
    await writeTranscript(dir.path, toJsonl([lines.prompt('x')]).slice(0, -20), { id: 'torn' })
    await writeTranscript(dir.path, toJsonl([lines.prompt('y')]), { id: 'fine' })
    const states = Object.fromEntries((await list()).map(({ id, state }) => [id, state]))
    expect(states).toEqual({
      empty: 'empty',
      blank: 'empty',
      snapshot: 'empty',
      garbage: 'damaged',
      torn: 'damaged',
      fine: 'ok',
    })
  })

  test('[READ19] links, pipes and devices in the transcript folder are not opened, and nothing waits for them', async () => {
    const outside = await openTempDir()
    const secret = join(outside.path, 'secret.jsonl')
    await writeFile(secret, toJsonl([createLines().prompt('SECRET')]))
    await writeTranscript(dir.path, toJsonl([createLines().prompt('fine')]), { id: 'fine' })
    const project = join(dir.path, 'projects/-home-user-work-made')
    await symlink(secret, join(project, 'linked.jsonl'))
    await symlink(outside.path, join(dir.path, 'projects/-linked-project'))
    execFileSync('mkfifo', [join(project, 'pipe.jsonl')])
    await symlink('/proc/self/environ', join(project, 'environment.jsonl'))
    const { sessions, problems } = await createClaudeSource(dir.path).list()
    expect(sessions.map(({ id }) => id)).toEqual(['fine'])
    expect(problems.map(({ path }) => path.split('/').at(-1) ?? '').toSorted()).toEqual([
      '-linked-project',
      'environment.jsonl',
      'linked.jsonl',
      'pipe.jsonl',
    ])
    expect(JSON.stringify(sessions)).not.toContain('SECRET')
    await outside.remove()
  })

  test('[READ19] a file that turns into a link between listing and opening is refused', async () => {
    const { openTranscript } = await import('../transcript-file.ts')
    await symlink('/etc/passwd', join(dir.path, 'late.jsonl'))
    expect(() => openTranscript(join(dir.path, 'late.jsonl'))).toThrow(
      expect.objectContaining({ code: 'not-a-transcript' }),
    )
  })

  test('[READ19] a config folder that is itself a link is followed: people keep it among their dotfiles', async () => {
    const dotfiles = await openTempDir()
    await writeTranscript(dotfiles.path, toJsonl([createLines().prompt('x')]))
    await symlink(dotfiles.path, join(dir.path, 'claude'))
    expect((await createClaudeSource(join(dir.path, 'claude')).list()).sessions).toHaveLength(1)
    await dotfiles.remove()
  })

  test('[READ17] a name that no session has is reported, and a config folder that is not there is empty', async () => {
    await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]), { id: 'bad name; rm -rf' })
    const { sessions, problems } = await createClaudeSource(dir.path).list()
    expect(sessions).toEqual([])
    expect(problems).toMatchObject([{ message: 'has a name that no session id has' }])
    expect((await createClaudeSource(join(dir.path, 'nowhere')).list()).sessions).toEqual([])
  })

  test("[READ17] reading changes nothing in the agent's folder", async () => {
    const path = await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]))
    await chmod(path, 0o400)
    const before = await readdir(dir.path, { recursive: true })
    await list()
    expect(await readdir(dir.path, { recursive: true })).toEqual(before)
  })
})

describe('live sessions', () => {
  async function register(pid: number, fields: object, name = `${pid}.json`): Promise<void> {
    await mkdir(join(dir.path, 'sessions'), { recursive: true })
    await writeFile(
      join(dir.path, 'sessions', name),
      JSON.stringify({ pid, sessionId: SESSION, status: 'busy', ...fields }),
    )
  }
  const startOf = (pid: number): string =>
    readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19] ?? ''

  test('[READ18] a session whose process lives has its state; the process is known by pid and start time', async () => {
    await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]))
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
    const pid = child.pid ?? 0
    await register(pid, {
      procStart: startOf(pid),
      status: 'waiting',
      waitingFor: 'permission prompt',
      statusUpdatedAt: 1794727991561,
    })
    expect((await only()).live).toEqual({
      pid,
      status: 'waiting',
      waitingFor: 'permission prompt',
      updatedAt: new Date(1794727991561).toISOString(),
    })
    await register(pid, { procStart: '12' })
    expect((await only()).live).toMatchObject({ pid, status: 'gone' })
    await register(pid, { procStart: startOf(pid), status: 'something new', updatedAt: 1e300 })
    expect((await only()).live).toEqual({ pid, status: 'unknown' })
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
    await register(pid, { procStart: '12' })
    expect((await only()).live).toMatchObject({ pid, status: 'gone' })
    await register(pid, { procStart: '12', statusUpdatedAt: 1_000 })
    expect((await only()).live).toBeUndefined()
  })

  test('[READ18] garbage in the registry is passed over, and key files are never opened', async () => {
    await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]))
    await register(process.pid, {}, '1.json.bak')
    await writeFile(join(dir.path, 'sessions', '77.json'), '{"pid":77,')
    // Opening a pipe that nobody writes to would hang.
    execFileSync('mkfifo', [join(dir.path, 'sessions', `${process.pid}.abcdef.key`)])
    expect((await only()).live).toBeUndefined()
  })

  test('[READ18] a registry left behind by kill -9 is not live: the recorded one names a process that is gone', async () => {
    const config = join(import.meta.dirname, '../../../test/fixtures/claude/kill9_intool/config')
    const [session] = (await createClaudeSource(config).list()).sessions
    expect(session?.id).toBe('2306a037-994e-431d-93c7-8ac8f48f2539')
    expect(session?.live).toBeUndefined()
  })
})

test('[C2.1] outputs that were too long for their line are found in full beside the transcript', async () => {
  const config = join(import.meta.dirname, '../../../test/fixtures/claude/bigout/config')
  const [session] = (await createClaudeSource(config).list()).sessions
  expect(session?.toolResults).toMatchObject([
    { path: expect.stringMatching(/tool-results.bfk3hdqbt\.txt$/), size: 348_894 },
  ])
})

test('[READ17] a hard link to a transcript is a transcript, and is read once for each name it has', async () => {
  const path = await writeTranscript(dir.path, toJsonl([createLines().prompt('x')]))
  await link(path, path.replace(SESSION, 'copy'))
  expect((await list()).map(({ id }) => id).toSorted()).toEqual([SESSION, 'copy'].toSorted())
})

test('[C3.2] a record that follows a torn one on its line counts for the list as it does for the reader', async () => {
  const lines = createLines({ cwd: '/work' })
  const torn = JSON.stringify(lines.prompt('torn')).slice(0, 30)
  const first = `${torn}${toJsonl([lines.prompt('saved', { gitBranch: 'early' })])}`
  const last = `{${toJsonl([lines.prompt('last', { gitBranch: 'late', cwd: '/elsewhere' })])}"rest":1}\n`
  await writeTranscript(dir.path, `${first}${toJsonl([lines.reply(say('yes'))])}${last}`)
  expect(await only()).toMatchObject({
    firstPrompt: 'saved',
    createdAt: '2026-11-15T08:00:02.000Z',
    lastActivityAt: '2026-11-15T08:00:03.000Z',
    gitBranch: 'late',
    workdirs: ['/work', '/elsewhere'],
    state: 'damaged',
  })
})
