import { list, number, parseJson, string } from '#base'
import { createLines, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

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
async function cli(
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: join(temp.path, 'claude'),
  }
  return await promisify(execFile)(process.execPath, [main, ...args], { env, cwd: temp.path })
}

async function json(...args: readonly string[]): Promise<unknown> {
  return parseJson((await cli(...args, '--json')).stdout)
}

test('[DEMO5] demo starts the daemon, puts samples into the list, and takes them away again', async () => {
  const made = await json('demo', '--no-open')
  const samples = number(made, 'samples') ?? 0
  expect(samples).toBeGreaterThan(5)
  expect(string(made, 'address')).toMatch(/^http:\/\/throughline\.localhost:\d+$/)
  expect((await cli('status')).stdout).toContain(`${samples + 1} sessions`)
  expect((await cli('demo')).stderr).toContain(`${samples} sample sessions`)
  expect((await cli('ls')).stdout).toContain('Three ways to keep a cache true')
  expect((await cli('demo', '--remove')).stderr).toContain('are gone')
  expect(list(await json('ls'), 'sessions')).toHaveLength(1)
  expect(await json('demo', '--remove')).toMatchObject({ samples: 0, isOpened: false })
  expect(existsSync(join(temp.path, 'home/demo'))).toBe(false)
})
