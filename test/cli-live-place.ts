import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, object, parseJson, string } from '#base'
import { eventually, openTempDir } from '#testing'

const built = join(import.meta.dirname, '../dist/bin/throughline.js')

/** The built command line in scratch folders, with the scripted agent. */
export interface CliPlace {
  readonly path: string
  readonly workdir: string
  readonly env: Record<string, string>
  readonly command: readonly [string, string]
  /** Runs it the way a script does: no terminal. */
  run(args: readonly string[], options?: RunOptions): Promise<Result>
  /** Starts it and goes on. */
  start(args: readonly string[], options?: RunOptions): Running
  json(args: readonly string[]): Promise<unknown>
  /** The id of the first attention, once there is one. */
  untilAsked(): Promise<string>
  /** Ends every session and the daemon. */
  clear(): Promise<void>
  close(): Promise<void>
}

interface RunOptions {
  readonly input?: string
  readonly env?: Record<string, string>
}

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface Running {
  readonly pid: number
  readonly done: Promise<Result>
  /** Waits until the standard output or the standard error has this. */
  until(pattern: RegExp): Promise<void>
}

/** `main`: another copy of the program than the one that was built here. */
export async function openCliPlace(main: string = built): Promise<CliPlace> {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  const temp = await openTempDir()
  const workdir = join(temp.path, 'work')
  mkdirSync(workdir)
  mkdirSync(join(temp.path, 'claude'))
  mkdirSync(join(temp.path, 'home'), { mode: 0o700 })
  // What one session said is not told to the next.
  writeFileSync(join(temp.path, 'home', 'config.json'), '{"wakeUp":{"on":false}}', { mode: 0o600 })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    TMPDIR: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'claude'),
    COLUMNS: '100',
  }

  function start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: workdir,
      env: { ...env, ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => (out += piece))
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => (err += piece))
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input)
    const done = new Promise<Result>((resolve) => {
      child.on('close', (code) => resolve({ code, out, err }))
    })
    return {
      pid: child.pid ?? 0,
      done,
      until: (pattern) =>
        eventually(async () => {
          if (!pattern.test(out) && !pattern.test(err)) throw new Error(`no ${pattern} in ${out}${err}`)
        }),
    }
  }

  const run: CliPlace['run'] = async (args, options) => await start(args, options).done

  async function json(args: readonly string[]): Promise<unknown> {
    const { out, err } = await run([...args, '--json'])
    if (out === '') throw new Error(err)
    return parseJson(out)
  }

  async function clear(): Promise<void> {
    for (const card of list(await json(['board']), 'cards')) {
      if (string(object(card, 'state'), 'state') !== 'ended')
        await run(['end', string(card, 'sessionId') ?? ''])
    }
    await run(['stop'])
  }

  return {
    path: temp.path,
    workdir,
    env,
    command: [process.execPath, main],
    run,
    start,
    json,
    async untilAsked() {
      let id: string | undefined
      await eventually(async () => {
        id = string(list(await json(['attentions']), 'attentions')[0], 'id')
        if (id === undefined) throw new Error('nothing is asked')
      })
      return id ?? ''
    },
    clear,
    async close() {
      await clear()
      await temp.remove()
    },
  }
}
