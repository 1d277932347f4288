import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Attention, PermissionAsk } from '#model'
import { createHandClock, openTempDir, runs } from '#testing'
import type { HandClock, TempDir } from '#testing'
import { createNotifier, createRun } from './desktop-notice.ts'
import type { Notifier, NotifierOptions, RunProgram } from './desktop-notice.ts'

let dir: TempDir
let bin: string
let record: string
let clock: HandClock
let notices: string[]
beforeEach(async () => {
  dir = await openTempDir()
  bin = join(dir.path, 'bin')
  record = join(dir.path, 'argv')
  await mkdir(bin)
  clock = createHandClock()
  notices = []
})
afterEach(() => dir.remove())

/** A program that writes down what it was called with: a line per argument, and an empty one behind the last. */
async function install(name: string, rest = ''): Promise<void> {
  const path = join(bin, name)
  await writeFile(path, `#!/bin/sh\n{ printf '%s\\n' "$@"; echo; } >> '${record}'\n${rest}\n`)
  await chmod(path, 0o755)
}

const env = (): NodeJS.ProcessEnv => ({ PATH: `${bin}:/usr/bin:/bin` })

function notifier(options: Partial<NotifierOptions> = {}): Notifier {
  return createNotifier({
    platform: 'linux',
    run: createRun({ timeoutMs: 20_000, env: env() }),
    onNotice: (message) => notices.push(message),
    after: (ms, work) => clock.after(ms, work),
    quietMs: 1_000,
    ...options,
  })
}

/** Every call so far, with its arguments. */
async function calls(): Promise<readonly (readonly string[])[]> {
  const text = await readFile(record, 'utf8').catch(() => '')
  return text
    .split('\n\n')
    .filter((call) => call !== '')
    .map((call) => call.split('\n'))
}

const PERMISSION: PermissionAsk = {
  kind: 'permission',
  tool: 'Bash',
  input: { command: 'curl -H "Authorization: Bearer sk-secret"' },
  workdir: '/home/user/shop',
  reason: 'sk-secret',
  rules: [],
  canEdit: true,
}

function attention(id: string, ask: Partial<PermissionAsk> = {}, session = id): Attention {
  return {
    id,
    sessionId: session,
    openedAt: '',
    ask: { ...PERMISSION, ...ask },
    hash: '',
    state: { state: 'open' },
  }
}

describe('[NTC1] an attention', () => {
  test('is shown once, with the tool and the last part of the folder and nothing else', async () => {
    await install('notify-send')
    const desktop = notifier()
    desktop.opened(attention('a'))
    desktop.opened(attention('a'))
    clock.pass(5_000)
    desktop.opened(attention('a'))
    const question = { kind: 'question' as const, workdir: '/home/user/shop', questions: [] }
    desktop.opened({ ...attention('b'), ask: question })
    clock.pass(5_000)
    await desktop.close()
    expect(await calls()).toEqual([
      ['--app-name=Throughline', '--', 'A session waits for you', 'Bash needs a permission in shop'],
      ['--app-name=Throughline', '--', 'A session waits for you', 'There is a question in shop'],
    ])
    expect(await readFile(record, 'utf8')).not.toContain('secret')
  })

  test('is an argument on macOS too, and never part of a script', async () => {
    await install('osascript')
    const desktop = notifier({ platform: 'darwin' })
    desktop.opened(attention('a', { workdir: '/x/" & (do shell script "touch bad") & "' }))
    await desktop.close()
    const [call = []] = await calls()
    expect(call.slice(0, 6)).toEqual([
      '-e',
      'on run argv',
      '-e',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      '-e',
      'end run',
    ])
    expect(call.slice(6)).toEqual([
      'A session waits for you',
      'Bash needs a permission in " ＆ (do shell script "touch bad") ＆ "',
    ])
  })

  test('is not shown elsewhere', async () => {
    const ran: string[] = []
    const run: RunProgram = (command) => Promise.resolve(void ran.push(command))
    const desktop = notifier({ platform: 'win32', run })
    desktop.opened(attention('a'))
    await desktop.close()
    expect([ran, notices]).toEqual([[], []])
  })
})

test('[NTC2] a burst is one notice and one summary, without what was answered meanwhile', async () => {
  await install('notify-send')
  const desktop = notifier()
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) desktop.opened(attention(id))
  desktop.opened(attention('more', {}, 'b'))
  desktop.settled('g')
  clock.pass(1_000)
  clock.pass(1_000)
  desktop.opened(attention('later'))
  desktop.opened(attention('gone'))
  desktop.settled('gone')
  clock.pass(10_000)
  await desktop.close()
  expect((await calls()).map((call) => call.slice(2))).toEqual([
    ['A session waits for you', 'Bash needs a permission in shop'],
    ['5 sessions wait for you', '6 permissions and questions are open'],
    ['A session waits for you', 'Bash needs a permission in shop'],
  ])
})

test('[NTC3] whatever a tool or a folder is called, a notice is one short line without anything that acts', async () => {
  const shown: (readonly string[])[] = []
  const run: RunProgram = (_command, args) => Promise.resolve(void shown.push(args))
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom('<b>x</b>', '\u202egnp.exe', '\u001b[31mred', '--urgency=critical', 'a\\nb', '\u0000'),
  )
  await fc.assert(
    fc.asyncProperty(name, name, async (tool, folder) => {
      const desktop = notifier({ run })
      desktop.opened(attention('a', { tool, workdir: `/home/${folder}` }))
      await desktop.close()
      const [, , title = '', body = ''] = shown.pop() ?? []
      expect(title).toBe('A session waits for you')
      expect(body).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f<>&\\]/u)
      expect(body.length).toBeLessThan(200)
      expect(body.startsWith('-') && !tool.startsWith('-')).toBe(false)
    }),
    runs(300),
  )
})

describe('[NTC4] without a program', () => {
  test('nothing is shown, that is said once, and nothing fails', async () => {
    const desktop = notifier({ run: createRun({ timeoutMs: 20_000, env: { PATH: bin } }) })
    for (const id of ['a', 'b', 'c']) {
      desktop.opened(attention(id))
      clock.pass(2_000)
    }
    await desktop.close()
    expect(notices).toEqual(['Desktop notifications are off: the program notify-send is not there.'])
  })

  test('that works it is left alone after a while; one that hangs is ended', async () => {
    await install('notify-send', 'exit 1')
    const desktop = notifier()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      desktop.opened(attention(id))
      clock.pass(2_000)
    }
    await desktop.close()
    expect(await calls()).toHaveLength(3)
    expect(notices).toEqual(['Desktop notifications are off: notify-send failed 3 times.'])
    await install('hang', 'exec sleep 60')
    await expect(createRun({ timeoutMs: 50, env: env() })('hang', [])).rejects.toMatchObject({ killed: true })
  })
})
