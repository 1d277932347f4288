import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { readFile, realpath, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { list, parseJson, string } from '#base'
import { openRecording, type Recording, type RecordingOptions } from '#recorder'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const main = join(root, 'dist/bin/throughline.js')
const ID = '2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890'

let dir: TempDir
let work: string
beforeEach(async () => {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  dir = await openTempDir()
  work = join(await realpath(dir.path), 'work')
  mkdirSync(work)
})
afterEach(() => dir.remove())

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function throughline(...args: readonly string[]): Promise<Result> {
  const home = join(work, '..')
  const env = { PATH: process.env['PATH'], HOME: home, CLAUDE_CONFIG_DIR: join(home, 'claude') }
  const child = spawn(process.execPath, [main, ...args], {
    cwd: work,
    env: { ...env, THROUGHLINE_HOME: join(home, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out, err }
}

/** The example of a session that is recorded: a prompt, a call with its result, an answer. */
async function record(options: Partial<RecordingOptions> = {}): Promise<Recording> {
  const recording = await openRecording({
    cwd: work,
    agent: 'forgeflare',
    version: '0.0.44',
    register: join(work, '..', 'home'),
    large: 'blobs',
    sessionId: ID,
    now: () => Date.parse('2026-02-10T23:31:00Z'),
    ...options,
  })
  await recording.user('explain main.rs')
  const usage = { input_tokens: 1200, output_tokens: 350, cache_read_input_tokens: 800 }
  await recording.assistant({
    model: 'claude-opus-5-5',
    content: [
      { type: 'text', text: 'Let me read that file.' },
      { type: 'tool_use', id: 'toolu_01X', name: 'read_file', input: { path: 'src/main.rs' } },
    ],
    usage,
  })
  await recording.toolResult({ tool_use_id: 'toolu_01X', content: '1: use std::io;\n'.repeat(900) })
  await recording.assistant({ model: 'claude-opus-5-5', content: 'It starts things.', usage })
  return recording
}

/** Without what depends on the day and on where the test runs. */
function plain(out: string): string {
  const sized = out.replaceAll(/(?<= )( *)(\d\.\d kB)/g, (_, pad: string) => `${pad}  SIZE`)
  return sized
    .replaceAll(work, '<work>')
    .replaceAll('·   SIZE', '· SIZE')
    .replace(/ \d+mo| \d+y| \d+d/, ' AGE')
    .replaceAll(/ +\n/g, '\n')
}

test('[ENT1] [D3.1] `ls` and `show` know a recording as they know any session', async () => {
  await (await record()).end()
  const listed = await throughline('ls')
  expect(plain(listed.out)).toBe(`   name             workdir   active    size  id
   explain main.rs  ~/work       AGE    SIZE  a1b2c3d4
`)
  for (const query of ['a1b2c3d4', ID]) {
    const shown = await throughline('show', query)
    expect(plain(shown.out)).toBe(`explain main.rs
Forgeflare session, recorded · <work> · 2026-02-10 23:31 UTC · SIZE
${ID}

▌ Person  23:31
▌ explain main.rs

Let me read that file.

▸ read_file src/main.rs

It starts things.
`)
  }
  const full = await throughline('show', 'a1b2c3d4', '--full')
  expect(full.out).toContain('1: use std::io;')
  const json = await throughline('ls', '--json')
  expect(list(parseJson(json.out), 'sessions')).toMatchObject([
    { id: ID, agent: 'forgeflare', recorded: { as: 'recording' }, state: 'ok' },
  ])
})

test('[ENT16] `check --finish` writes what a killed recorder could not, and says what it did', async () => {
  const recording = await record()
  const bytes = await readFile(recording.path)
  await recording.end()
  for (const name of ['prompt.txt', 'context.md']) await rm(join(recording.folder, name))
  await writeFile(recording.path, Buffer.concat([bytes, Buffer.from('{"type":"user","uuid":"half')]))
  const before = await throughline('check', 'a1b2c3d4')
  expect(before.code).toBe(1)
  for (const code of ['torn', 'no-prompt', 'no-context']) expect(before.out).toContain(`(${code})`)
  expect(before.out).toContain(`check --finish ${work}`)

  const finished = await throughline('check', '--finish')
  expect(finished).toEqual({
    code: 0,
    out: 'a1b2c3d4  set a torn tail aside, wrote prompt.txt, wrote context.md\n1 recording, 0 failed\n',
    err: '',
  })
  expect(await readFile(recording.path)).toEqual(bytes)
  expect(await readFile(join(recording.folder, 'prompt.txt'), 'utf8')).toBe('explain main.rs')
  const after = await throughline('check', 'a1b2c3d4')
  expect(after.code).toBe(0)
  expect(after.out).toContain('(set-aside)')

  const again = await throughline('check', '--finish', work, '--json')
  expect(parseJson(again.out)).toMatchObject({
    folder: work,
    recordings: [{ sessionId: ID, outcome: 'finished', mended: [], wrote: [], swept: 0 }],
  })
})

test('[ENT16] what is being recorded, and what others wrote, is left alone', async () => {
  const recording = await record()
  const other = join(work, '.entire/metadata/b1cb2893-e5dc-43a8-98e4-56f0fd022834')
  mkdirSync(other)
  await writeFile(join(other, 'full.jsonl'), '{"type":"user","uuid":"half')
  const { code, out } = await throughline('check', '--finish', work)
  expect({ code, out }).toEqual({
    code: 0,
    out: 'a1b2c3d4  is being written, left alone\n1 recording, 0 failed\n',
  })
  expect(await readFile(join(other, 'full.jsonl'), 'utf8')).toBe('{"type":"user","uuid":"half')
  expect(existsSync(join(other, 'context.md'))).toBe(false)
  // While it is written nothing is missing.
  expect((await throughline('check', ID)).code).toBe(0)
  await recording.end()
  const nothing = await throughline('check', '--finish', join(work, '..'))
  expect(nothing).toMatchObject({ code: 0, out: 'No recordings in ~.\n' })
  const nowhere = await throughline('check', '--finish', join(work, 'nowhere'), '--json')
  expect(nowhere.code).toBe(1)
  expect(string(parseJson(nowhere.err), 'error')).toBeUndefined()
  expect(nowhere.err).toContain('folder-not-found')
})

test('[ENT12] [ENT17] listing, showing and checking write nothing where people work', async () => {
  const recording = await record()
  await recording.end()
  await truncate(recording.path, (await stat(recording.path)).size - 10)
  const before = await stat(recording.path)
  const shown = await throughline('show', ID)
  expect(shown.out).toContain('could not be read: torn')
  for (const args of [['ls'], ['check'], ['usage'], ['search', 'starts']]) await throughline(...args)
  const after = await stat(recording.path)
  expect([after.size, after.mtimeMs, after.ino]).toEqual([before.size, before.mtimeMs, before.ino])
})
