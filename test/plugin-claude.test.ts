import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { list, object, parseJson, string } from '#base'
import { connect, type RemoteThroughline } from '#client'
import type { Attention } from '#model'
import { readDaemonFile, readSecret, toLocalToken } from '#server'
import {
  eventually,
  followCues,
  openModelApi,
  openTempDir,
  type ModelApi,
  type ModelRequest,
  type ModelStep,
  type TempDir,
} from '#testing'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLAUDE, QUIET_CLAUDE } from './drivers-claude-place.ts'
import { openScreen, TMUX, type Screen } from './tmux-screen.ts'

const main = join(import.meta.dirname, '../dist/bin/throughline.js')
const hook = join(import.meta.dirname, '../dist/bin/hook.js')
/** Claude Code remembers an approved key by its end. */
const KEY = 'sk-ant-only-for-the-loopback-0001'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let workdir: string
const config = (): string => join(temp.path, 'config')
const home = (): string => join(temp.path, 'home')

beforeAll(async () => {
  if (!existsSync(hook)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi(followPlan)
  mkdirSync(join(temp.path, 'user'))
  mkdirSync(config())
  env = {
    PATH: `${dirname(CLAUDE)}:${process.env['PATH'] ?? ''}`,
    HOME: join(temp.path, 'user'),
    TMPDIR: temp.path,
    THROUGHLINE_HOME: home(),
    CLAUDE_CONFIG_DIR: config(),
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...QUIET_CLAUDE,
  }
})
afterAll(async () => {
  await cli(['stop'])
  await api.close()
  await temp.remove()
})

const PLAN = '1. Look.\n2. Leap.'

/** Claude Code keeps a plan in a file, and names it to the model; what is in it is what a person is asked about. */
function followPlan(request: ModelRequest): readonly ModelStep[] {
  const messages = list(request.body, 'messages')
  const last = messages.findLastIndex((message) => JSON.stringify(message).includes('MAKE A PLAN'))
  if (last < 0) return followCues(request)
  const said = messages.slice(last).filter((message) => string(message, 'role') === 'assistant').length
  const [file] = /[^\s"`]*plans\/[\w-]+\.md/.exec(JSON.stringify(request.body)) ?? []
  if (said === 0) return [{ kind: 'tool', name: 'Write', input: { file_path: file, content: PLAN } }]
  if (said === 1) return [{ kind: 'tool', name: 'ExitPlanMode', input: {} }]
  return [{ kind: 'text', text: 'That was it.' }]
}

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function program(
  args: readonly string[],
  input = '',
  more: Record<string, string> = {},
): Promise<Result> {
  const child = spawn(process.execPath, args, { cwd: temp.path, env: { ...env, ...more }, stdio: 'pipe' })
  const [out, err] = [[], []] as [Buffer[], Buffer[]]
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  child.stderr.on('data', (piece: Buffer) => err.push(piece))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}

const cli = (args: readonly string[], more?: Record<string, string>): Promise<Result> =>
  program([main, ...args], '', more)

/** Everything below a folder, by path, with what is in it. */
function snapshot(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {}
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name))
  return Object.fromEntries(files.map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]))
}

describe('connecting', () => {
  const folder = (): string => join(config(), 'skills/throughline')

  beforeEach(() => {
    writeFileSync(join(config(), 'settings.json'), '{ "model" :"opus" }')
  })

  test('[PLG1] puts a plugin among the skills, and changes no other file; taken away, all is as it was', async () => {
    const before = snapshot(config())
    expect((await cli(['connect', 'claude-code'])).code).toBe(0)
    const files = Object.keys(snapshot(folder())).toSorted()
    expect(files).toEqual(['.claude-plugin/plugin.json', '.mcp.json', 'hooks/hooks.json'])
    const { 'settings.json': settings } = snapshot(config())
    expect(settings).toBe('{ "model" :"opus" }')
    const again = await cli(['connect', 'claude-code'])
    expect(again.err).toContain('Connected already')
    expect((await cli(['disconnect', 'claude-code'])).code).toBe(0)
    const ours = ([path]: readonly [string, string]): boolean =>
      !/^(?:\.claude\.json|backups|sessions)/.test(path)
    expect(Object.entries(snapshot(config())).filter(ours)).toEqual(Object.entries(before).filter(ours))
    expect(existsSync(join(config(), 'skills'))).toBe(false)
    expect((await cli(['disconnect', 'claude-code'])).err).toContain('nothing of ours')
  })

  test('[PLG1] the real Claude Code takes it for a plugin with one hook, and says so to connect', async () => {
    const { out } = await cli(['connect', 'claude-code', '--json'])
    expect(parseJson(out)).toMatchObject({ state: 'current', dryRun: false })
    const missing = list(parseJson(out), 'missing').map((one) => string(one, 'message'))
    expect(missing).toEqual(['no daemon runs: dialogs can be answered only in their terminals.'])
    writeFileSync(join(config(), 'settings.json'), '{"enabledPlugins":{"throughline@skills-dir":false}}')
    expect((await cli(['connect', 'claude-code'])).err).toContain('the plugin is disabled in Claude Code')
    await cli(['disconnect', 'claude-code'])
  })

  test('[PLG2] a dry run shows every file whole and changes nothing', async () => {
    const before = snapshot(config())
    const { out, code } = await cli(['connect', 'claude-code', '--dry-run'])
    expect(code).toBe(0)
    expect(out).toContain('+ ')
    expect(out).toContain('"PermissionRequest"')
    expect(out).toContain(home())
    expect(snapshot(config())).toEqual(before)
    await cli(['connect', 'claude-code'])
    const connected = snapshot(folder())
    expect((await cli(['disconnect', 'claude-code', '--dry-run'])).out).toContain('- ')
    expect(snapshot(folder())).toEqual(connected)
    await cli(['disconnect', 'claude-code'])
  })

  test("[PLG3] somebody else's folder of that name is refused and left alone", async () => {
    mkdirSync(folder(), { recursive: true })
    writeFileSync(join(folder(), 'SKILL.md'), '---\nname: throughline\n---\n')
    const before = snapshot(config())
    for (const args of [['connect'], ['connect', '--dry-run'], ['disconnect']]) {
      const { code, err } = await cli([...args.slice(0, 1), 'claude-code', ...args.slice(1)])
      expect(code).toBe(1)
      expect(err).toContain('is not ours')
    }
    expect(snapshot(config())).toEqual(before)
    rmSync(join(config(), 'skills'), { recursive: true })
  })

  test('[PLG4] without Claude Code and without a daemon it works, and says what is missing', async () => {
    const { code, err } = await cli(['connect', 'claude-code'], { PATH: dirname(process.execPath) })
    expect(code).toBe(0)
    expect(err).toContain('no `claude` was found')
    expect(err).toContain('no daemon runs')
    const down = await cli(['status', '--json'])
    expect(parseJson(down.out)).toEqual({ running: false, claudeCode: 'current', recorders: [] })
    await cli(['disconnect', 'claude-code'])
  })
})

const PAYLOAD = {
  session_id: '11111111-2222-4333-8444-555555555555',
  cwd: '/tmp',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
}

describe('the hook', () => {
  test('[PLG5] where no daemon runs it says nothing, succeeds, and is gone at once', async () => {
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const began = performance.now()
      expect(await program([hook, home()], JSON.stringify(PAYLOAD))).toEqual({ code: 0, out: '', err: '' })
      times.push(performance.now() - began)
    }
    expect(Math.min(...times)).toBeLessThan(300)
  })

  test('[PLG5] whatever it is given, it says nothing and succeeds', async () => {
    for (const input of ['', 'null', '[]', '{"hook_event_name":"PermissionRequest"}', '\u0000\uFFFF', '{']) {
      expect(await program([hook, home()], input)).toEqual({ code: 0, out: '', err: '' })
    }
    expect(await program([hook], JSON.stringify(PAYLOAD))).toEqual({ code: 0, out: '', err: '' })
  })
})

describe.skipIf(TMUX === undefined)('a session in a terminal', () => {
  let screen: Screen | undefined
  let remote: RemoteThroughline
  let round = 0

  beforeAll(async () => {
    await cli(['connect', 'claude-code'])
  })
  afterAll(async () => {
    await cli(['disconnect', 'claude-code'])
  })
  beforeEach(startDaemon)
  afterEach(async () => {
    await screen?.close()
    screen = undefined
  })

  async function startDaemon(): Promise<void> {
    expect((await cli(['--no-open'])).code).toBe(0)
    const { address = '' } = await readDaemonFile(home())
    remote = await connect({ url: address, token: toLocalToken(await readSecret(home())) })
  }

  /** A terminal with Claude Code in it that has asked all its first questions long ago. */
  async function open(mode: 'default' | 'plan' = 'default'): Promise<Screen> {
    workdir = join(temp.path, `work-${round++}`)
    mkdirSync(workdir)
    writeFileSync(join(config(), 'settings.json'), '{}')
    const answered = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [workdir]: { hasTrustDialogAccepted: true } },
    }
    writeFileSync(join(config(), '.claude.json'), JSON.stringify(answered))
    const command = [CLAUDE, '--permission-mode', mode]
    screen = await openScreen({ folder: temp.path, workdir, env, command })
    await screen.until(/manual mode|plan mode|shortcuts/)
    await screen.settle()
    return screen
  }

  /**
   * Hands a prompt over. An Enter that comes while the terminal is being drawn may be lost. As long as the model was
   * not asked there is no dialog that another one could answer.
   */
  async function say(terminal: Screen, text: string): Promise<void> {
    const asked = (): number => api.requests.filter(({ purpose }) => purpose === 'conversation').length
    const before = asked()
    await terminal.type(text)
    for (let at = 0; at < 100 && asked() === before; at++) {
      await sleep(100)
      if (at % 30 === 29 && asked() === before) await terminal.press('Enter')
    }
  }

  /** Answers the dialog in the terminal. A key that comes as soon as the dialog does is not taken for an answer. */
  async function answer(terminal: Screen, key: 'Enter' | 'Escape'): Promise<void> {
    await terminal.until(DIALOG)
    for (let at = 0; at < 20 && DIALOG.test(await terminal.read()); at++) {
      await terminal.settle()
      if (DIALOG.test(await terminal.read())) await terminal.press(key)
      await sleep(500)
    }
  }

  const attentions = (): Promise<readonly Attention[]> => remote.live.attentions()

  async function untilAsked(): Promise<Attention> {
    let asked: Attention | undefined
    await eventually(async () => {
      ;[asked] = await attentions()
      expect(asked).toBeDefined()
    })
    if (asked === undefined) throw new Error('nothing is asked')
    return asked
  }

  const untilQuiet = (): Promise<void> =>
    eventually(async () => {
      expect(await attentions()).toEqual([])
    })

  const TOUCH = '[[tool Bash {"command":"touch made.txt"}]] [[say That was it.]]'
  const DIALOG = /Do you want to proceed\?/
  /** Said by the agent; the prompt says it too. */
  const DONE = /● That was it\./

  test('[PLG6] allowed from a device: the tool runs, and nobody has touched the terminal', async () => {
    const terminal = await open()
    await say(terminal, TOUCH)
    const { id, hash, ask, sessionId } = await untilAsked()
    expect(ask).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
      workdir,
      input: { command: 'touch made.txt' },
    })
    expect(await remote.live.board()).toMatchObject([
      { sessionId, where: 'elsewhere', state: { state: 'waiting' } },
    ])
    await terminal.until(DIALOG)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(false)
    const outcome = await remote.live.resolve({ id, hash, resolution: { kind: 'allow', rules: [] } })
    expect(outcome.kind).toBe('won')
    await terminal.until(DONE)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(true)
    await untilQuiet()
  })

  test('[PLG7] denied from a device: the tool does not run, and Claude Code hears why', async () => {
    const terminal = await open()
    await say(terminal, TOUCH)
    const { id, hash } = await untilAsked()
    await remote.live.resolve({ id, hash, resolution: { kind: 'deny', words: 'Not in this house.' } })
    await terminal.until(DONE)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(false)
    const heard = JSON.stringify(api.requests.at(-1)?.body)
    expect(heard).toContain('Not in this house.')
  })

  test('[PLG8] answered in the terminal first: the attention lapses, and an answer that comes later is late', async () => {
    const terminal = await open()
    await say(terminal, TOUCH)
    const { id, hash } = await untilAsked()
    await answer(terminal, 'Enter')
    await terminal.until(DONE)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(true)
    await untilQuiet()
    const late = await remote.live.resolve({ id, hash, resolution: { kind: 'deny' } })
    expect(late).toMatchObject({ kind: 'late', state: { state: 'lapsed', reason: 'withdrawn' } })
  })

  test('[PLG8] cancelled in the terminal, or the terminal closed: the attention lapses', async () => {
    const terminal = await open()
    await say(terminal, TOUCH)
    await untilAsked()
    await answer(terminal, 'Escape')
    await untilQuiet()
    await terminal.until(/Interrupted/)
    await say(terminal, TOUCH)
    await untilAsked()
    await terminal.close()
    await untilQuiet()
    expect(existsSync(join(workdir, 'made.txt'))).toBe(false)
  })

  test('[PLG9] no daemon: the dialog is there as ever, and is answered in the terminal', async () => {
    await cli(['stop'])
    const terminal = await open()
    await say(terminal, TOUCH)
    await answer(terminal, 'Enter')
    await terminal.until(DONE)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(true)
    expect(await terminal.read()).not.toMatch(/hook (?:error|failed)/i)
  })

  test('[PLG9] the daemon goes while a dialog is open: the dialog stays, and nothing is allowed', async () => {
    const terminal = await open()
    await say(terminal, TOUCH)
    await untilAsked()
    await terminal.until(DIALOG)
    await cli(['stop'])
    await terminal.until(DIALOG)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(false)
    await answer(terminal, 'Enter')
    await terminal.until(DONE)
    expect(existsSync(join(workdir, 'made.txt'))).toBe(true)
  })

  test('[PLG10] an edited input is what runs; of the rules only the chosen one holds', async () => {
    const terminal = await open()
    await say(
      terminal,
      '[[tool Bash {"command":"touch made.txt"}]] [[tool Write {"file_path":"b.txt","content":"b"}]] [[tool Bash {"command":"touch c.txt"}]] [[say That was it.]]',
    )
    const first = await untilAsked()
    const input = { command: 'touch edited.txt' }
    await remote.live.resolve({ ...first, resolution: { kind: 'allow', rules: [], input } })
    let second = first
    await eventually(async () => {
      second = (await attentions())[0] ?? first
      expect(second.ask).toMatchObject({ tool: 'Write' })
    })
    const rules = second.ask.kind === 'permission' ? second.ask.rules : []
    const edits = rules.find(({ words }) => words === 'All edits without asking')
    expect(edits).toMatchObject({ scope: 'session' })
    await remote.live.resolve({ ...second, resolution: { kind: 'allow', rules: [edits?.id ?? ''] } })
    await eventually(async () => {
      const [third] = await attentions()
      if (third !== undefined && object(third.ask, 'input')?.['command'] === 'touch c.txt')
        await remote.live.resolve({ ...third, resolution: { kind: 'allow', rules: [] } })
      expect(await terminal.read()).toMatch(DONE)
    })
    const made = ['made.txt', 'edited.txt', 'b.txt', 'c.txt'].filter((name) =>
      existsSync(join(workdir, name)),
    )
    expect(made).toEqual(['edited.txt', 'b.txt', 'c.txt'])
    expect(await terminal.read()).toMatch(/accept edits/)
  })

  test('[PLG11] a question is answered from a device', async () => {
    const terminal = await open()
    await say(terminal, '[[ask Which one? | Red | Blue]] [[say That was it.]]')
    const asked = await untilAsked()
    expect(asked.ask).toMatchObject({ kind: 'question', questions: [{ question: 'Which one?' }] })
    await remote.live.resolve({ ...asked, resolution: { kind: 'answer', answers: [['Blue']] } })
    await terminal.until(DONE)
    expect(await terminal.read()).toMatch(/Which one\? → Blue/)
  })

  test('[PLG11] a plan is shown whole, and sent back with words or approved', async () => {
    const terminal = await open('plan')
    await say(terminal, 'MAKE A PLAN')
    const asked = await untilAsked()
    expect(asked.ask).toMatchObject({ kind: 'permission', tool: 'ExitPlanMode', input: { plan: PLAN } })
    await remote.live.resolve({ ...asked, resolution: { kind: 'deny', words: 'Look twice.' } })
    await terminal.until(DONE)
    expect(await terminal.read()).toMatch(/plan mode on/)
    expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('Look twice.')
    await say(terminal, 'MAKE A PLAN')
    await remote.live.resolve({ ...(await untilAsked()), resolution: { kind: 'allow', rules: [] } })
    const shown = await terminal.until(/approved Claude's plan[^]*manual mode on/)
    expect(shown).not.toMatch(/accept edits on|auto mode on/)
  })

  test('[PLG12] a program that nobody attends to is held up by nothing, and asks nobody', async () => {
    const folder = join(temp.path, 'headless')
    mkdirSync(folder)
    const child = spawn(CLAUDE, ['-p', '--permission-mode', 'default', TOUCH], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const seen: number[] = []
    const timer = setInterval(() => void attentions().then((asked) => seen.push(asked.length)), 50)
    await new Promise((done) => child.on('close', done))
    clearInterval(timer)
    expect(existsSync(join(folder, 'made.txt'))).toBe(false)
    expect(Math.max(0, ...seen)).toBe(0)
  })
})
