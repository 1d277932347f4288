import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { field, list, string } from '#base'
import type { RemoteThroughline } from '#client'
import { openDocuments } from '#memory'
import { isWakeUp, parseWakeUp, readBlocks, textOf, type DocumentDraft } from '#model'
import type { ModelRequest } from '#testing'
import { CLAUDE, QUIET_CLAUDE } from '../drivers-claude-place.ts'
import { openScreen, TMUX, type Screen } from '../tmux-screen.ts'
import { openLivePlace, say, until, waitFor, type LivePlace } from './live-place.ts'

const run = promisify(execFile)
const BIN = join(import.meta.dirname, '../../dist/bin')
/** Claude Code remembers an approved key by its end. */
const KEY = 'sk-ant-only-for-the-loopback-0001'

let place: LivePlace
let device: RemoteThroughline

beforeAll(async () => {
  if (!existsSync(join(BIN, 'hook.js'))) throw new Error('run `npm run build` first')
  place = await openLivePlace({ wakeUp: { on: true }, names: { human: 'Ann', agent: 'Bo' } })
  device = await place.connect()
})
afterAll(async () => await place?.close())

async function remember(content: string, rest: Partial<DocumentDraft> = {}): Promise<string> {
  const documents = await openDocuments({ home: place.home, now: Date.now, mintId: randomUUID })
  try {
    const draft = { type: 'learning', category: 'knowledge', content, ...rest } as const
    return (await documents.put(draft, { by: 'test' })).document.id
  } finally {
    await documents.close()
  }
}

async function retire(id: string): Promise<void> {
  const documents = await openDocuments({ home: place.home, now: Date.now, mintId: randomUUID })
  await documents.retire(id, { by: 'test' })
  await documents.close()
}

/** What the model was asked on behalf of a session, in order. */
const asked = (sessionId: string): readonly ModelRequest[] =>
  place.api.requests.filter((each) => each.purpose === 'conversation' && each.sessionId === sessionId)

/** The texts that were not said by the model, in order. What a hook tells stands in messages of its own. */
function heard(request: ModelRequest | undefined): readonly string[] {
  return list(request?.body, 'messages')
    .filter((message) => string(message, 'role') !== 'assistant')
    .flatMap((message) => readBlocks(field(message, 'content')).map((block) => textOf([block])))
}

function wakeUpsIn(request: ModelRequest | undefined): readonly string[] {
  return heard(request).filter(isWakeUp)
}

/** How often something stands anywhere in a request. */
const countIn = (request: ModelRequest | undefined, words: string): number =>
  JSON.stringify(request?.body ?? {}).split(words).length - 1

function folder(name: string): string {
  const path = join(place.root, name)
  mkdirSync(path, { recursive: true })
  return path
}

describe('Claude Code, run here', () => {
  async function begin(workdir: string, text: string): Promise<string> {
    const { sessionId } = await device.live.start({ agent: 'claude', workdir, prompt: say(text) })
    await done(sessionId, text)
    return sessionId
  }

  /** The agent has answered this, and is idle. */
  async function done(sessionId: string, text: string): Promise<void> {
    await waitFor('the model was asked', () =>
      asked(sessionId).some((request) => heard(request).some((each) => each.includes(text)))
        ? true
        : undefined,
    )
    await until(device, sessionId, ({ state, prompts }) => {
      const isTaken = prompts.every((prompt) => prompt.state !== 'queued' && prompt.state !== 'sent')
      return state.state === 'idle' && isTaken
    })
  }

  test('[WAK18] [A3.1] [A3.2] [A5.1] a new session is told what the last one said and what is known, exactly once', async () => {
    const workdir = folder('here')
    const first = await begin(workdir, '[[say The harbour is full of boats.]]')
    expect(wakeUpsIn(asked(first).at(-1))).toEqual([])
    await device.live.end(first)
    const learned = await remember('The tide table is in docs/tides.md.', { workdir })
    const second = await begin(workdir, '[[say Let us sail.]]')
    const [told = ''] = wakeUpsIn(asked(second)[0])
    const parts = parseWakeUp(told)
    expect(parts?.transcript).toMatchObject({ sessionId: first })
    expect(parts?.transcript?.lines).toContainEqual({
      speaker: 'agent',
      name: 'Bo',
      text: 'The harbour is full of boats.',
    })
    expect(told).toContain('- The tide table is in docs/tides.md.')
    expect(told).toContain('[REMEMBER] {')
    // In every request of the session, and never more than once.
    for (const request of asked(second)) {
      expect(wakeUpsIn(request)).toEqual([told])
      expect(countIn(request, 'The tide table is in docs/tides.md.')).toBe(1)
    }
    const kept = await device.memory.wakeUps(second)
    expect(kept).toMatchObject([{ text: told, way: 'prompt', receipt: { documents: [{ id: learned }] } }])
    const session = await device.get(second)
    expect([session.firstPrompt, session.name]).toEqual(['[[say Let us sail.]]', '[[say Let us sail.]]'])

    // NEW: the one just ended, with nothing of what woke it up.
    const { sessionId: third } = await device.live.renew(second, { prompt: say('[[say Where were we?]]') })
    await done(third, 'Where were we?')
    const [again = ''] = wakeUpsIn(asked(third)[0])
    expect(parseWakeUp(again)?.transcript).toMatchObject({ sessionId: second })
    expect(again).toContain('Let us sail.')
    expect(again).not.toContain('The harbour is full of boats.')
    expect(again.split('<previous-session').length).toBe(2)
    await device.live.end(third)
    await retire(learned)
  })

  test('[WAK21] [R02] resumed it is told only what is new; a fork and a start that was asked for twice nothing more', async () => {
    const workdir = folder('again')
    const known = await remember('Known from the first day.', { workdir })
    const sessionId = randomUUID()
    const request = { agent: 'claude', workdir, sessionId, prompt: say('[[say one]]') }
    await device.live.start(request)
    await device.live.start(request)
    await done(sessionId, '[[say one]]')
    expect(wakeUpsIn(asked(sessionId).at(-1))).toHaveLength(1)
    await device.live.end(sessionId)
    await device.live.resume(sessionId, { prompt: say('[[say two]]') })
    await done(sessionId, '[[say two]]')
    expect(wakeUpsIn(asked(sessionId).at(-1))).toHaveLength(1)
    await device.live.end(sessionId)
    const late = await remember('Learned meanwhile.', { workdir })
    await device.live.resume(sessionId, { prompt: say('[[say three]]') })
    await done(sessionId, '[[say three]]')
    const all = wakeUpsIn(asked(sessionId).at(-1))
    expect(all).toHaveLength(2)
    expect(all[1]).toContain('- Learned meanwhile.')
    expect(all[1]).not.toContain('Known from the first day.')
    await device.live.end(sessionId)
    const fork = await device.live.fork(sessionId, { prompt: say('[[say four]]') })
    await done(fork.sessionId, '[[say four]]')
    expect(wakeUpsIn(asked(fork.sessionId).at(-1))).toEqual(all)
    await device.live.end(fork.sessionId)
    for (const id of [known, late]) await retire(id)
  })

  test('[B5.1] [B3.1] what the agent asked to be remembered is known to the one after it, as a note and not as its words', async () => {
    const workdir = folder('asked')
    const first = await begin(workdir, '[[say Noted. [REMEMBER] {"content":"Boats need tar in spring."} ]]')
    const { sessionId } = await device.live.renew(first, { prompt: say('[[say and now]]') })
    await done(sessionId, '[[say and now]]')
    const [told = ''] = wakeUpsIn(asked(sessionId)[0])
    const parts = parseWakeUp(told)
    expect(parts?.contexts).toEqual([
      { section: 'knowledge', items: [{ text: 'Boats need tar in spring.' }] },
    ])
    expect(parts?.transcript?.lines.at(-1)).toMatchObject({ speaker: 'agent', text: 'Noted.' })
    await device.live.end(sessionId)
  })

  test('[A4.1] [WAK25] Codex is told what Claude Code said, and after NEW what it said itself', async () => {
    const workdir = folder('both')
    const first = await begin(workdir, '[[say The lighthouse is dark.]]')
    await device.live.end(first)
    const from = place.api.requests.length
    const asks = (words: string): ModelRequest | undefined =>
      place.api.requests.slice(from).findLast((each) => countIn(each, words) > 0)
    const prompt = say('[[say I shall light it.]]')
    const { sessionId } = await device.live.start({ agent: 'codex', workdir, prompt })
    const told = await waitFor('Codex was told', () => asks('I shall light it.'))
    expect(countIn(told, '<previous-session')).toBe(1)
    expect(countIn(told, '[agent — Bo]: The lighthouse is dark.')).toBe(1)
    await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined && turn.promptId === prompt.id)
    const next = await device.live.renew(sessionId, { prompt: say('[[say Is it lit?]]') })
    const again = await waitFor('the next one was told', () => asks('Is it lit?'))
    expect(countIn(again, `session-id=\\"${sessionId}\\"`)).toBe(1)
    expect(countIn(again, '[agent — Bo]: I shall light it.')).toBe(1)
    await until(device, next.sessionId, ({ state }) => state.state === 'idle')
    await device.live.end(next.sessionId)
  })

  test('[A4.3] a transcript that the device sends is what the session is told', async () => {
    const workdir = folder('sent')
    const previousTranscript = {
      sessionId: 'of-an-old-app',
      ended: '2026-02-15T08:30:00.000Z',
      messages: [
        { speaker: 'human', name: 'Ann', text: 'Do you know me?' },
        { speaker: 'agent', name: 'Julian', text: 'Of course.' },
      ],
    } as const
    const prompt = say('[[say yes]]')
    const { sessionId } = await device.live.start({ agent: 'claude', workdir, previousTranscript, prompt })
    await done(sessionId, '[[say yes]]')
    const [told = ''] = wakeUpsIn(asked(sessionId)[0])
    expect(told).toContain(
      '[human — Ann]: Do you know me?\n[agent — Julian]: Of course.\n</previous-session>',
    )
    expect((await device.memory.wakeUp({ workdir, previousTranscript })).text).toBe(told)
    await device.live.end(sessionId)
  })
})

describe.skipIf(TMUX === undefined)('Claude Code in a terminal', () => {
  let screen: Screen | undefined
  let env: Record<string, string>

  beforeAll(async () => {
    env = {
      PATH: `${dirname(CLAUDE)}:${process.env['PATH'] ?? ''}`,
      HOME: folder('user'),
      TMPDIR: place.root,
      THROUGHLINE_HOME: place.home,
      CLAUDE_CONFIG_DIR: place.claudeDir,
      ANTHROPIC_BASE_URL: place.api.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_MAX_RETRIES: '1',
      ...QUIET_CLAUDE,
    }
    await run(process.execPath, [join(BIN, 'throughline.js'), 'connect', 'claude-code'], { env })
  })
  afterEach(async () => {
    await screen?.close()
    screen = undefined
  })

  async function open(workdir: string, args: readonly string[] = []): Promise<Screen> {
    const answered = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [workdir]: { hasTrustDialogAccepted: true } },
    }
    writeFileSync(join(place.claudeDir, '.claude.json'), JSON.stringify(answered))
    screen = await openScreen({
      folder: place.root,
      workdir,
      env,
      command: [CLAUDE, '--permission-mode', 'default', ...args],
    })
    await screen.until(/manual mode|shortcuts/)
    await screen.settle()
    return screen
  }

  const conversations = (): readonly ModelRequest[] =>
    place.api.requests.filter(({ purpose }) => purpose === 'conversation')

  /** Types something until the model hears it, and gives the request. */
  async function tell(terminal: Screen, text: string): Promise<ModelRequest> {
    const before = conversations().length
    await terminal.type(text)
    let looks = 0
    const request = await waitFor('the model was asked', async () => {
      const found = conversations()
        .slice(before)
        .find((each) => heard(each).some((words) => words.includes(text)))
      // An Enter that comes while the terminal is being drawn may be lost.
      if (found === undefined && ++looks % 120 === 0) await terminal.press('Enter')
      return found
    })
    await terminal.settle()
    return request
  }

  test('[PLG14] [PLG15] [WAK22] [R01] it is told once what is known, after /compact what is pinned, and resumed what is new', async () => {
    const workdir = folder('terminal')
    await remember('Pinned in the terminal.', { workdir, pinned: true })
    for (let n = 0; n < 60; n += 1)
      await remember(`Note ${n}: ${'so it was decided. '.repeat(20)}`, { workdir })
    const terminal = await open(workdir)
    const first = await tell(terminal, '[[say Good morning.]]')
    const id = first.sessionId ?? ''
    expect(countIn(first, '- Pinned in the terminal.')).toBe(1)
    const [kept] = await device.memory.wakeUps(id)
    expect(kept).toMatchObject({ way: 'hook' })
    expect(kept?.text.length).toBeLessThanOrEqual(9000)
    expect(kept?.text.length).toBeGreaterThan(7000)
    // The whole of it has arrived, to its last word.
    const arrived = heard(first).find((each) => each.includes('Pinned in the terminal.')) ?? ''
    expect(arrived).toContain(kept?.text ?? 'nothing')
    expect(kept?.text.split('[REMEMBER] {').length).toBe(2)
    const second = await tell(terminal, '[[say Go on.]]')
    expect(countIn(second, '- Pinned in the terminal.')).toBe(1)

    await terminal.type('/compact')
    await waitFor('it was compacted, and told again', async () =>
      (await device.memory.wakeUps(id)).length > 1 ? true : undefined,
    )
    await terminal.settle()
    const third = await tell(terminal, '[[say After it.]]')
    expect(countIn(third, 'These notes were pinned for it')).toBe(1)
    const pinned = heard(third).find((each) => each.includes('These notes were pinned for it')) ?? ''
    expect(pinned).toContain('- Pinned in the terminal.')
    expect(pinned).not.toContain('Note 1:')

    await screen?.close()
    const again = await open(workdir, ['--resume', id])
    const fourth = await tell(again, '[[say Nothing new.]]')
    expect(countIn(fourth, 'These notes are new since')).toBe(0)
    await screen?.close()
    await remember('Learned while it was closed.', { workdir })
    const later = await open(workdir, ['--resume', id])
    const fifth = await tell(later, '[[say Something new.]]')
    expect(countIn(fifth, 'These notes are new since')).toBe(1)
    expect(countIn(fifth, '- Learned while it was closed.')).toBe(1)
    const last = (await device.memory.wakeUps(id)).at(-1)
    expect(parseWakeUp(last?.text ?? '')?.contexts.flatMap(({ items }) => items)).toEqual([
      { text: 'Learned while it was closed.' },
    ])
  })

  test('[PLG16] [R07] what a program or a host runs is told nothing by the hook, but pins after a compaction', async () => {
    const workdir = folder('programs')
    await remember('Only for people.', { workdir, pinned: true })
    const answer = async (source: string, more: Record<string, string>): Promise<string> => {
      const payload = { session_id: randomUUID(), cwd: workdir, hook_event_name: 'SessionStart', source }
      const pending = run(process.execPath, [join(BIN, 'hook.js'), place.home], { env: { ...env, ...more } })
      pending.child.stdin?.end(JSON.stringify(payload))
      return (await pending).stdout
    }
    const program = { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' }
    const host = { THROUGHLINE_AGENT: 'host', CLAUDE_CODE_ENTRYPOINT: 'throughline' }
    expect(await answer('startup', {})).toContain('Only for people.')
    expect(await answer('clear', {})).toContain('Only for people.')
    for (const source of ['startup', 'resume', 'clear', 'compact'])
      expect(await answer(source, program)).toBe('')
    for (const source of ['startup', 'resume', 'clear']) expect(await answer(source, host)).toBe('')
    expect(await answer('compact', host)).toContain('Only for people.')
    expect(await answer('something-new', {})).toBe('')
    const inPrint = place.api.requests.length
    await run(CLAUDE, ['-p', '[[say printed]]'], { env, cwd: workdir })
    expect(countIn(place.api.requests.slice(inPrint).at(-1), 'Only for people.')).toBe(0)
  })

  test('[PLG17] without a daemon it begins at once, and is told nothing', async () => {
    await place.killDaemon()
    try {
      const payload = {
        session_id: randomUUID(),
        cwd: place.workdir,
        hook_event_name: 'SessionStart',
        source: 'startup',
      }
      const pending = run(process.execPath, [join(BIN, 'hook.js'), place.home], { env })
      pending.child.stdin?.end(JSON.stringify(payload))
      expect(await pending).toMatchObject({ stdout: '', stderr: '' })
    } finally {
      await place.startDaemon()
      device = await place.connect()
    }
  })
})
