import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { field, list, parseJson, string } from '#base'
import { createLines, openTempDir, toJsonl, writeTranscript, SESSION, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN, openMcpProcess, runCommand } from './mcp-process.ts'

let temp: TempDir
let env: Record<string, string>
let workdir: string

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  workdir = join(temp.path, 'work')
  mkdirSync(workdir)
  const config = join(temp.path, 'config')
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
    CLAUDE_CONFIG_DIR: config,
  }
  const lines = createLines({ cwd: workdir })
  const said = [
    lines.prompt('Where do the needles live?'),
    lines.reply([{ type: 'text', text: 'The needles live in haystack.ts.' }]),
  ]
  await writeTranscript(config, toJsonl(said))
})
afterAll(async () => {
  await runCommand(['stop'], env)
  await temp.remove()
})

test('[MCP1] standard output carries the protocol and nothing else, and the program ends with its input', async () => {
  const { call, lines, child, ended } = await openMcpProcess(env, workdir)
  expect(await call('search', { query: 'needles haystack' })).toContain(`session ${SESSION}`)
  expect(await call('recall', { question: 'where do the needles live?' })).toContain('haystack.ts')
  // The folder it was started in is the one that is meant.
  expect(await call('previous_session')).toContain('The needles live in haystack.ts.')
  child.stdin.write('this is no message\n\n{"jsonrpc":"2.0","id":77,"method":"ping"}\n')
  await expect.poll(() => lines.some((line) => line.includes('"id":77'))).toBe(true)
  for (const line of lines) expect(string(parseJson(line), 'jsonrpc')).toBe('2.0')
  child.stdin.end()
  expect(await ended).toBe(0)
})

test('[MCP18] --json prints how an agent starts it, and ends', async () => {
  const { out } = await runCommand(['mcp', '--json'], env)
  const entry = field(parseJson(out), 'throughline')
  expect(list(entry, 'args')).toEqual([MAIN, 'mcp'])
  expect(string(field(entry, 'env'), 'THROUGHLINE_HOME')).toBe(env['THROUGHLINE_HOME'])
})

test('[MCP15] whoever answers is looked for anew: without a daemon, with one, and without it again', async () => {
  const { call, child, ended } = await openMcpProcess(env, workdir)
  const first = await call('remember', { content: 'Haystacks are sorted by colour in this project.' })
  expect(first).toMatch(/^Remembered as /)
  // Nothing is locked between two calls: a daemon begins, and writes.
  const started = await runCommand(['start', '--no-open'], env)
  expect([started.code, started.err]).toEqual([0, expect.any(String)])
  const second = await call('remember', { content: 'Needles are counted every morning before the build.' })
  expect(second).toMatch(/^Remembered as /)
  expect(await call('recall', { question: 'how are haystacks sorted?' })).toContain('sorted by colour')
  expect((await runCommand(['stop'], env)).code).toBe(0)
  expect(await call('recall', { question: 'when are needles counted?' })).toContain('every morning')
  expect(await call('remember', { content: 'Haystacks are sorted by colour in this project.' })).toContain(
    'Already remembered',
  )
  child.stdin.end()
  expect(await ended).toBe(0)
})

test('[MCP15] two calls at once share what was opened', async () => {
  const { call } = await openMcpProcess(env, workdir)
  const answers = await Promise.all([
    call('search', { query: 'needles' }),
    call('previous_session'),
    call('remember', { content: 'Pins are kept apart from needles, in a tin on the shelf.' }),
    call('read_session', { session: SESSION }),
  ])
  expect(answers.filter((answer) => answer.startsWith('Error'))).toEqual([])
})
