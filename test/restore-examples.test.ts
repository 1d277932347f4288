import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLines, openTempDir, toJsonl, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/restoring.md'), 'utf8')
const examples = new Map(
  [...page.matchAll(/```js ([\w-]+)\n(.*?)```/gs)].map(([, name = '', code = '']) => [name, code]),
)

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
  mkdirSync(join(dir.path, 'node_modules'))
  symlinkSync(root, join(dir.path, 'node_modules', 'throughline'))
  const make = createLines({ cwd: dir.path })
  const turns = Array.from({ length: 5 }, (_none, turn) => [
    make.prompt(`Question ${turn}`),
    make.reply([{ type: 'text', text: `Answer ${turn}` }]),
  ])
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }
  writeFileSync(
    join(dir.path, 'session.jsonl'),
    toJsonl([...turns.flat(), make.prompt('go'), make.reply([call])]),
  )
})
afterAll(() => dir.remove())

const SAID: Readonly<Record<string, readonly string[]>> = {
  restore: ['13 messages in 6 turns, 15 tokens in the window', 'never answered: Bash', 'added pending-call'],
  repair: ['the call of Bash was never answered. A result is added', '1 mended, 0 left'],
  compact: ['time to compact: false', '3 turns summarised, 7 messages left'],
  convert: ['1 file, 2 losses; then codex resume'],
}

test('[RST10] there is an example of everything that can be done with a session', () => {
  expect([...examples.keys()]).toEqual(Object.keys(SAID))
})

test.each(Object.keys(SAID))(
  '[RST10] the example %s says what it wants, and takes no other file',
  async (name) => {
    const path = join(dir.path, `${name}.mjs`)
    writeFileSync(path, examples.get(name) ?? '')
    const start = async (...args: readonly string[]): Promise<unknown> =>
      await promisify(execFile)(process.execPath, [path, ...args], { cwd: dir.path }).catch(
        (error: unknown) => error,
      )
    expect(await start()).toMatchObject({
      stderr: expect.stringContaining('Which transcript? Give its path'),
    })
    const chat = join(
      root,
      'test/fixtures/gemini/killed-HANG/tmp/w/chats/session-2026-11-15T07-38-1d71e290.jsonl',
    )
    for (const [other, what] of [
      [join(root, 'README.md'), 'has no name that an agent gives to a transcript'],
      [chat, 'is a chat of Gemini CLI'],
    ] as const)
      expect(await start(other, 'copy.jsonl')).toMatchObject({
        stdout: '',
        stderr: expect.stringMatching(new RegExp(`${what}[^]*not-a-transcript[^]*createGeminiSource`)),
      })
  },
)

test.each(Object.entries(SAID))('[RST10] the example %s does what it says', async (name, said) => {
  const path = join(dir.path, `${name}.mjs`)
  writeFileSync(path, examples.get(name) ?? '')
  const { stdout } = await promisify(execFile)(process.execPath, [path, 'session.jsonl', 'copy.jsonl'], {
    cwd: dir.path,
    env: { PATH: process.env['PATH'], HOME: dir.path },
  })
  for (const words of said) expect(stdout).toContain(words)
  if (name === 'repair') expect(readFileSync(join(dir.path, 'copy.jsonl'), 'utf8')).toContain('tool_result')
})
