import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findSessionJournal } from '#live'
import { textOf, type SessionView } from '#model'
import type { LiveEvent } from '#wire'
import { eventually, expectError, openTempDir, type TempDir } from '#testing'
import { toAgentEnvironment } from './agent-environment.ts'
import { readLocalSettings } from './local-settings.ts'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let temp: TempDir
let home: string
let workdir: string
let opened: LocalThroughline[]
beforeEach(async () => {
  temp = await openTempDir()
  home = join(temp.path, 'home')
  workdir = join(temp.path, 'work')
  opened = []
  for (const folder of [home, workdir, join(temp.path, 'claude')]) mkdirSync(folder, { mode: 0o700 })
})
afterEach(async () => {
  for (const throughline of opened) {
    for (const { sessionId } of await throughline.live.board()) {
      await throughline.live.end(sessionId).catch(() => {})
    }
    await throughline.close()
  }
  await temp.remove()
})

async function open(options: Parameters<typeof openThroughline>[0] = {}): Promise<LocalThroughline> {
  const throughline = await openThroughline({
    index: true,
    env: { PATH: process.env['PATH'], HOME: temp.path },
    config: { home, claudeDir: join(temp.path, 'claude') },
    ...options,
  })
  opened.push(throughline)
  return throughline
}

function say(id: string, text: string): { id: string; blocks: [{ kind: 'text'; text: string }] } {
  return { id, blocks: [{ kind: 'text', text }] }
}

async function saidIn(throughline: LocalThroughline, id: string): Promise<readonly string[]> {
  const page = await throughline.page(await throughline.get(id), { limit: 100 })
  return page.readings.flatMap((each) =>
    each.kind === 'entry' && each.entry.kind === 'prompt'
      ? each.entry.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
      : [],
  )
}

describe('a session begins', () => {
  const ID = '00000000-0000-4000-8000-0000000000aa'

  test('[RUN32] with what wakes it up, once, before what the person says, unless they want none', async () => {
    const asked: string[] = []
    const throughline = await open({
      async wakeUp(session) {
        asked.push(session.workdir)
        return 'You are waking up.'
      },
    })
    const start = (): Promise<SessionView> =>
      throughline.live.start({ agent: 'scripted', workdir, sessionId: ID, prompt: say('p1', 'Hello.') })
    await start()
    // Asked for again by a device that did not hear the answer.
    await start()
    await eventually(async () =>
      expect(await saidIn(throughline, ID)).toEqual(['You are waking up.', 'Hello.']),
    )
    expect(asked).toEqual([workdir])
    const next = await throughline.live.renew(ID, { wakeUp: false, prompt: say('p2', 'Alone.') })
    await eventually(async () => expect(await saidIn(throughline, next.sessionId)).toEqual(['Alone.']))
  })

  test('[WAK18] without, when what it is to know cannot be written down; the board says so', async () => {
    const throughline = await open({
      async wakeUp() {
        throw new Error('the disk is full')
      },
    })
    await throughline.live.start({ agent: 'scripted', workdir, sessionId: ID })
    expect(await throughline.live.board()).toMatchObject([
      { trouble: expect.stringContaining('disk is full') },
    ])
    await throughline.live.prompt(ID, say('p1', 'Hello.'))
    await eventually(async () => expect(await saidIn(throughline, ID)).toEqual(['Hello.']))
  })

  test('[WAK29] a scripted one greets what wakes it up, and does nothing that stands in it', async () => {
    const previousTranscript = {
      sessionId: 'old',
      ended: '2026-02-15T08:30:00.000Z',
      messages: [{ speaker: 'human', text: '[[tool Bash {"command":"touch never"}]]' }],
    } as const
    const throughline = await open()
    await throughline.live.start({ agent: 'scripted', workdir, sessionId: ID, previousTranscript })
    await eventually(async () => {
      const { turn } = await throughline.live.view(ID)
      expect(turn?.messages.map(({ blocks }) => textOf(blocks)).at(-1)).toBe('Hello again.')
    })
    expect(await throughline.live.attentions()).toEqual([])
    expect(existsSync(join(workdir, 'never'))).toBe(false)
    expect((await throughline.memory.wakeUps(ID)).map(({ way }) => way)).toEqual(['prompt'])
  })

  test('[RUN33] as config.json says, which is read anew each time; what makes no sense there is named', async () => {
    const write = (value: unknown): void => writeFileSync(join(home, 'config.json'), JSON.stringify(value))
    expect(await readLocalSettings(home)).toMatchObject({ idleMs: 15 * 60_000, orphanMs: 3_600_000 })
    const throughline = await open()
    const start = (mode: 'bypass' | 'accept-edits'): Promise<SessionView> =>
      throughline.live.start({ agent: 'scripted', workdir, mode })
    await expectError(start('bypass'), 'mode-not-allowed')
    write({ live: { widestMode: 'bypass' } })
    expect((await start('bypass')).mode).toBe('bypass')
    for (const bad of [
      'no object',
      { live: [] },
      { live: { idleMinutes: 'soon' } },
      { live: { idleMinutes: -1 } },
      { live: { widestMode: 'everything' } },
      { agents: { claude: 'claude' } },
      { agents: { codex: { args: [1] } } },
    ]) {
      write(bad)
      const error = await expectError(start('accept-edits'), 'config-invalid')
      expect(error.message).toContain('config.json')
    }
  })

  test('[RUN34] [T13] without what another agent left in the environment, and without what is ours', () => {
    const kept = toAgentEnvironment({
      PATH: '/bin',
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CONFIG_DIR: '/c',
      CLAUDE_CODE_MAX_RETRIES: '1',
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: 'x',
      CLAUDE_PID: '1',
      THROUGHLINE_HOME: '/h',
      THROUGHLINE_AGENT: 'x',
      ALLOWED_ROOTS: '/w',
      NOTHING: undefined,
    })
    expect(Object.keys(kept).toSorted()).toEqual([
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_MAX_RETRIES',
      'CLAUDE_CONFIG_DIR',
      'PATH',
    ])
  })

  test('[T13] [RUN35] and is said to be not recorded when its answers are nowhere', async () => {
    const settings = { agents: { scripted: { transcripts: join(temp.path, 'elsewhere') } } }
    writeFileSync(join(home, 'config.json'), JSON.stringify(settings))
    const throughline = await open()
    const { sessionId } = await throughline.live.start({ agent: 'scripted', workdir })
    const answered = async (count: number): Promise<void> => {
      await throughline.live.prompt(sessionId, say(`p${count}`, `[[say answer ${count}]]`))
      await eventually(async () => {
        const { turn, state } = await throughline.live.view(sessionId)
        expect([turn?.promptId, turn?.outcome?.kind, state.state]).toEqual([`p${count}`, 'answered', 'idle'])
      })
    }
    await answered(1)
    await answered(2)
    await eventually(async () => {
      const card = (await throughline.live.board()).find((each) => each.sessionId === sessionId)
      expect(card?.trouble).toContain('Not recording')
    })
  })

  test('[RUN36] only in a folder that may be worked in', async () => {
    const other = join(temp.path, 'other')
    mkdirSync(other)
    const throughline = await open({
      env: { PATH: process.env['PATH'], HOME: temp.path },
      config: { home, claudeDir: join(temp.path, 'claude'), allowedRoots: [workdir] },
    })
    for (const folder of ['work', other, join(workdir, '..', 'other'), join(workdir, 'none')]) {
      await expectError(throughline.live.start({ agent: 'scripted', workdir: folder }), 'folder-not-found')
    }
    expect((await throughline.live.start({ agent: 'scripted', workdir })).workdir).toBe(workdir)
  })
})

describe('a session that is not live', () => {
  test('[RUN41] its folder is listed with whether it still exists, those of the latest session first', async () => {
    const gone = join(temp.path, 'gone')
    const outside = join(temp.path, 'outside')
    for (const folder of [gone, outside]) mkdirSync(folder)
    const throughline = await open()
    const at = async (folder: string, id: string): Promise<void> => {
      await throughline.live.start({ agent: 'scripted', workdir: folder, prompt: say(id, `[[say ${id}]]`) })
      await eventually(async () => {
        expect((await throughline.live.board()).every(({ state }) => state.state === 'idle')).toBe(true)
        const { sessions } = await throughline.list()
        expect(sessions.flatMap(({ workdirs }) => workdirs)).toContain(folder)
      })
    }
    for (const [folder, id] of [
      [outside, 'p1'],
      [gone, 'p2'],
      [workdir, 'p3'],
    ] as const)
      await at(folder, id)
    rmSync(gone, { recursive: true })
    const listed = await throughline.live.workdirs()
    expect(listed).toEqual([
      { workdir, exists: true },
      { workdir: gone, exists: false },
      { workdir: outside, exists: true },
    ])
  })

  test('[RUN37] says how its last run ended when that was not as it should be, and what was left unsaid', async () => {
    const throughline = await open()
    const { sessionId, pid } = await throughline.live.start({
      agent: 'scripted',
      workdir,
      prompt: say('p1', '[[hang]]'),
    })
    await eventually(async () => {
      const { prompts } = await throughline.live.view(sessionId)
      expect(prompts.map(({ state }) => state)).toEqual(['delivered'])
      // What is told a moment before it is on disk would be in doubt.
      const journal = (await findSessionJournal(home, sessionId)) ?? ''
      expect(readFileSync(journal, 'utf8')).toContain('prompt.delivered')
    })
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      await expectError(throughline.live.view(sessionId), 'session-ended')
    })
    const told = await firstOf(await open({ index: false }), sessionId)
    expect(told).toMatchObject({
      kind: 'live.view',
      view: { sessionId, state: { state: 'ended', reason: 'host-gone' } },
    })
    const again = await throughline.live.resume(sessionId)
    await throughline.live.end(again.sessionId)
    await eventually(async () => expect((await firstOf(throughline, sessionId)).kind).toBe('live.none'))
    expect((await firstOf(throughline, 'of-nobody')).kind).toBe('live.none')
  })
})

describe('a session that died before it said anything', () => {
  test('[RUN38] is begun again under its id, and shows the prompts that nobody took', async () => {
    const throughline = await open()
    const { sessionId, pid } = await throughline.live.start({ agent: 'scripted', workdir })
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      await expectError(throughline.live.view(sessionId), 'session-ended')
    })
    const again = await throughline.live.resume(sessionId, { prompt: say('p1', '[[say begun again]]') })
    expect([again.sessionId, again.workdir]).toEqual([sessionId, workdir])
    await eventually(async () =>
      expect(await saidIn(throughline, sessionId)).toEqual(['[[say begun again]]']),
    )
    await expectError(throughline.live.resume('of-nobody'), 'session-not-found')
  })
})

/** What somebody is told first who looks at a live session. */
async function firstOf(throughline: LocalThroughline, id: string): Promise<LiveEvent> {
  return await new Promise((resolve, reject) => {
    const subscription = throughline.subscribe(
      { kind: 'live', id },
      {
        onEvent(event) {
          resolve(event)
          setTimeout(() => subscription.close(), 0)
        },
        onError: reject,
      },
    )
  })
}
