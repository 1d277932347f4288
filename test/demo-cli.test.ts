import { field, list, number, parseJson, string } from '#base'
import { createLines, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'

const main = join(import.meta.dirname, '../dist/bin/throughline.js')

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
  await writeTranscript(join(temp.path, 'claude'), toJsonl([createLines().prompt('mine')]))
})
afterEach(async () => {
  await cli('stop')
  await temp.remove()
})

/** Runs the built command line the way a person does: as a process of its own. */
async function cli(...args: readonly string[]): Promise<Said> {
  return await cliWith({}, ...args)
}

interface Said {
  readonly stdout: string
  readonly stderr: string
}

async function cliWith(more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Said> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'claude'),
    CODEX_HOME: join(temp.path, 'codex'),
    GEMINI_CLI_HOME: join(temp.path, 'gemini'),
    XDG_DATA_HOME: join(temp.path, 'opencode'),
    TMPDIR: temp.path,
    ...more,
  }
  return await promisify(execFile)(process.execPath, [main, ...args], { env, cwd: temp.path })
}

async function json(...args: readonly string[]): Promise<unknown> {
  return parseJson((await cli(...args, '--json')).stdout)
}

test('[DEMO7] a sandbox reads, keeps and writes nothing of the person, whatever agent it is of', async () => {
  const own = ['claude', 'codex', 'gemini', 'opencode'].map((name) => join(temp.path, name))
  for (const name of ['claude/projects/-w', 'codex/sessions/2026/01/01', 'gemini/.gemini/tmp', 'opencode'])
    mkdirSync(join(temp.path, name), { recursive: true })
  const before = own.map((folder) => readdirSync(folder, { recursive: true }))
  const made = await json('demo', '--sandbox', '--no-open')
  const folder = string(made, 'folder') ?? ''
  const env = parseEnv(readFileSync(string(made, 'envFile') ?? '', 'utf8'))
  onTestFinished(async () => {
    await cliWith(env, 'stop').catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  })
  const samples = number(made, 'samples') ?? 0
  expect(samples).toBeGreaterThan(5)
  const listed = parseJson((await cliWith(env, 'ls', '--json')).stdout)
  expect(list(listed, 'sessions')).toHaveLength(samples)
  expect(list(listed, 'sessions').every((one) => field(one, 'demo') === true)).toBe(true)
  for (const agent of ['codex', 'gemini']) {
    await cliWith(env, 'resume', 'de300001', '--in', agent, '--workdir', temp.path, '--yes')
  }
  expect(own.map((one) => readdirSync(one, { recursive: true }))).toEqual(before)
  expect(existsSync(join(temp.path, 'home'))).toBe(false)
  const { mode } = statSync(folder)
  expect(mode & 0o077).toBe(0)
  // The lines that it prints do what they say, in a shell.
  const { stderr, stdout } = await cli('demo', '--sandbox', '--no-open')
  const remove = /THROUGHLINE_HOME='(.*)' throughline stop && rm -r '(.*)'/.exec(stderr)
  expect(stdout).toBe(`. '${remove?.[2] ?? ''}/env.sh'\n`)
  const shell = promisify(execFile)
  const line = `${stdout.trim()} && echo "$CODEX_HOME" && exec '${process.execPath}' '${main}' stop`
  const { stdout: told } = await shell('/bin/sh', ['-c', line], { env: { PATH: process.env['PATH'] ?? '' } })
  expect(told).toContain(`${remove?.[2] ?? ''}/codex`)
  rmSync(remove?.[2] ?? '', { recursive: true })
})

function parseEnv(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

test('[DEMO5] demo starts the daemon, puts samples into the list, and takes them away again', async () => {
  const made = await json('demo', '--no-open')
  const samples = number(made, 'samples') ?? 0
  expect(samples).toBeGreaterThan(5)
  expect(string(made, 'address')).toMatch(/^http:\/\/throughline\.localhost:\d+$/)
  expect((await cli('status')).stdout).toContain(`${samples + 1} sessions`)
  expect((await cli('demo')).stderr).toContain(`${samples} sample sessions`)
  expect((await cli('ls')).stdout).toContain('[sample] Three ways to keep a cache true')
  expect((await cli('search', 'clocks go back')).stdout).toContain('sample · ')
  expect((await cli('demo', '--remove')).stderr).toContain('are gone')
  expect(list(await json('ls'), 'sessions')).toHaveLength(1)
  expect(await json('demo', '--remove')).toMatchObject({ samples: 0, isOpened: false })
  expect(existsSync(join(temp.path, 'home/demo'))).toBe(false)
})
