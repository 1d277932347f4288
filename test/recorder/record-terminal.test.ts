import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openModelApi, openTempDir, type ModelApi, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CLAUDE, QUIET_CLAUDE } from '../drivers-claude-place.ts'
import { MAIN } from '../mcp-process.ts'
import { openScreen, TMUX, type Screen } from '../tmux-screen.ts'
import { saidInRecording } from './agent-transcripts.ts'
import { readRecordings } from './proxy-place.ts'

/** Claude Code remembers an approved key by its end. */
const KEY = 'sk-ant-only-for-the-loopback-0001'

let temp: TempDir
let api: ModelApi
let env: Record<string, string>

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi()
  for (const folder of ['user', 'config', 'plain', 'claude']) mkdirSync(join(temp.path, folder))
  env = {
    PATH: `${dirname(CLAUDE)}:${process.env['PATH'] ?? ''}`,
    HOME: join(temp.path, 'user'),
    TMPDIR: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'config'),
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...QUIET_CLAUDE,
  }
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})

async function open(workdir: string, ...command: readonly string[]): Promise<Screen> {
  const screen = await openScreen({
    folder: temp.path,
    workdir,
    env,
    command: [process.execPath, MAIN, 'record', '--', ...command],
  })
  onTestFinished(() => screen.close())
  return screen
}

/** Says what it sees of its terminal, and takes an interrupt for what it likes. */
const PROGRAM = `
const say = (what) => console.log(what, process.stdin.isTTY && process.stdout.isTTY, process.stdout.columns + 'x' + process.stdout.rows)
let count = 0
process.stdout.on('resize', () => say('resized'))
process.on('SIGINT', () => { count += 1; say('interrupt ' + count); if (count === 2) process.exit(42) })
process.stdin.on('data', (line) => say('typed ' + String(line).trim()))
say('ready')
`

describe.skipIf(TMUX === undefined)('a terminal', () => {
  test('[PRX20] keys, size, interrupts and the exit code are those of the command', async () => {
    const screen = await open(join(temp.path, 'plain'), process.execPath, '-e', PROGRAM)
    await screen.until(/ready true 120x50/u)
    await screen.type('hello')
    await screen.until(/typed hello true/u)
    await screen.resize(90, 30)
    await screen.until(/resized true 90x30/u)
    await screen.press('C-c')
    await screen.until(/interrupt 1 true/u)
    await screen.press('C-c')
    await screen.until(/interrupt 2/u)
    expect(await screen.ended()).toBe(42)
  })

  test('[PRX5] [PRX20] Claude Code in its own terminal is drawn, interrupted and recorded as it should be', async () => {
    const workdir = join(temp.path, 'claude')
    const answered = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [workdir]: { hasTrustDialogAccepted: true } },
    }
    writeFileSync(join(temp.path, 'config', '.claude.json'), JSON.stringify(answered))
    writeFileSync(join(temp.path, 'config', 'settings.json'), '{}')
    const screen = await open(workdir, CLAUDE, '--permission-mode', 'default')
    await screen.until(/manual mode|shortcuts/u)
    await screen.settle()
    const asked = (): number => api.requests.filter(({ purpose }) => purpose === 'conversation').length
    async function say(text: string): Promise<void> {
      const before = asked()
      await screen.type(text)
      for (let at = 0; at < 100 && asked() === before; at++) {
        await sleep(100)
        if (at % 30 === 29 && asked() === before) await screen.press('Enter')
      }
    }
    await say('[[say The first answer.]]')
    await screen.until(/[●⏺] The first answer\./u)
    await screen.resize(100, 40)
    await screen.settle()
    await say('[[say This one begins.]] [[hang]]')
    // It is drawn over and over while it waits, and never settles.
    await screen.until(/[●⏺] This one begins\./u)
    await screen.press('Escape')
    await screen.until(/[Ii]nterrupted/u)
    await say('[[say The last answer.]]')
    await screen.until(/[●⏺] The last answer\./u)
    await screen.press('C-c')
    await sleep(300)
    await screen.press('C-c')
    expect(await screen.ended()).toBe(0)
    expect(await screen.read()).toContain('recorded 1 conversation')
    const [lines = []] = readRecordings(workdir)
    const said = saidInRecording(lines).map(([role, , words]) => `${role}: ${String(words)}`)
    expect(said.filter((line) => /answer\./u.test(line))).toEqual(
      expect.arrayContaining(['assistant: The first answer.', 'assistant: The last answer.']),
    )
    expect(said.at(-1)).toBe('assistant: The last answer.')
  })
})
