import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The tmux for tests in a real terminal; without one they are skipped. */
export const TMUX: string | undefined = [
  process.env['TMUX_PROGRAM'],
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'tmux')),
].find((path) => path !== undefined && path !== '' && existsSync(path))

/** A real terminal with a program in it. */
export interface Screen {
  /** What a person sees now. */
  read(): Promise<string>
  /** Types text as it is, then Enter. */
  type(text: string): Promise<void>
  /** Presses a key by the name tmux has for it: `Enter`, `Escape`, `C-c`. */
  press(key: string): Promise<void>
  /** Makes the terminal another size. */
  resize(columns: number, rows: number): Promise<void>
  /** Waits until nothing has changed for a moment. */
  settle(): Promise<void>
  /** Waits until the screen shows this, and gives what it shows. */
  until(pattern: RegExp): Promise<string>
  /** The exit code of the program, once it has ended. */
  ended(): Promise<number>
  /** Ends the program and everything that still belongs to the terminal. */
  close(): Promise<void>
}

export interface ScreenOptions {
  /** Where the socket of its tmux may be. */
  readonly folder: string
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

/** A guard against hanging, on a machine that is slow and busy. */
const HANG_MS = 120_000

let count = 0

export async function openScreen(options: ScreenOptions): Promise<Screen> {
  const { folder, workdir, env, command } = options
  const base = ['-u', '-f', '/dev/null', '-S', join(folder, `tmux-${process.pid}-${++count}`)]
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (
      await run(TMUX ?? 'tmux', [...base, ...args], {
        env: { ...env, LANG: 'C.UTF-8', TERM: 'xterm-256color' },
      })
    ).stdout
  // tmux itself does not always hear that a program has ended.
  const codeFile = join(folder, `tmux-${process.pid}-${count}.code`)
  const line = ['sh', '-c', 'trap : INT; "$@"; echo "$?" > "$0"', codeFile, ...command]
    .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
    .join(' ')
  await tmux('new-session', '-d', '-s', 'test', '-x', '120', '-y', '50', '-c', workdir, `exec ${line}`)
  await tmux('set-option', '-g', 'remain-on-exit', 'on')
  const pid = Number(await tmux('display-message', '-p', '-t', 'test', '#{pane_pid}'))
  const read = (): Promise<string> => tmux('capture-pane', '-p', '-t', 'test')

  async function settle(): Promise<void> {
    const deadline = performance.now() + HANG_MS
    for (let before = '', same = 0; same < 4 && performance.now() < deadline;) {
      await sleep(100)
      const shown = await read()
      same = shown === before ? same + 1 : 0
      before = shown
    }
  }

  return {
    read,
    async type(text) {
      await tmux('send-keys', '-t', 'test', '-l', text)
      // A program that takes fast typing for something pasted takes an Enter in it for a new line.
      await settle()
      await tmux('send-keys', '-t', 'test', 'Enter')
    },
    settle,
    async resize(columns, rows) {
      await tmux('resize-window', '-t', 'test', '-x', String(columns), '-y', String(rows))
    },
    async press(key) {
      await tmux('send-keys', '-t', 'test', key)
    },
    async until(pattern) {
      const deadline = performance.now() + HANG_MS
      for (;;) {
        const shown = await read()
        if (pattern.test(shown)) return shown
        if (performance.now() > deadline) throw new Error(`the screen never showed ${pattern}:\n${shown}`)
        await sleep(100)
      }
    },
    async ended() {
      const deadline = performance.now() + HANG_MS
      for (;;) {
        const code = existsSync(codeFile) ? readFileSync(codeFile, 'utf8').trim() : ''
        if (code !== '') return Number(code)
        if (performance.now() > deadline) throw new Error(`it never ended:\n${await read()}`)
        await sleep(50)
      }
    },
    async close() {
      await tmux('kill-server').catch(() => {})
      // The shell and the program in it are one group.
      for (let at = 0; at < 100 && isThere(pid); at++) await sleep(50)
      if (isThere(pid)) process.kill(-pid, 'SIGKILL')
    },
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(-pid, 0)
    return pid > 1
  } catch {
    return false
  }
}
