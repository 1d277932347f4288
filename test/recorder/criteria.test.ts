import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parseJson, string } from '#base'
import { finishRecordings, openRecording, recordAnthropicStream, type Recording } from '#recorder'
import { checkWithEntire, findJq, openTempDir, type TempDir } from '#testing'

const root = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

let dir: TempDir
beforeAll(async () => {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // The children run what is in `dist`. Errors in rooms that they do not enter are of no concern here.
  await run(process.execPath, [tsc, '-b', 'src/testing'], { cwd: root }).catch(() => {})
})
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => await dir.remove())

async function open(now?: () => number): Promise<Recording> {
  return await openRecording({ cwd: dir.path, agent: 'forgeflare', version: '0.0.44', register: false, now })
}

function linesOf({ path }: Recording): readonly unknown[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseJson(line))
}

/** Records in a process of its own until so many turns were acknowledged, and kills it. */
async function recordAndKill(turns: number): Promise<string> {
  const child = spawn(
    process.execPath,
    [join(root, 'dist/testing/recording-writer.js'), dir.path, '3', 'lines'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  for await (const piece of child.stdout.setEncoding('utf8')) {
    said += piece
    if (said.split('\n').length > turns + 2) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return said
}

describe('what an agent that leaves no trace leaves now', () => {
  test('[D1.1] [D6.1] the transcript is written turn by turn, and survives a crash in the middle', async () => {
    const said = await recordAndKill(6)
    const uuids = [...said.matchAll(/^\S+ ([0-9a-f-]{36})$/gm)].map(([, uuid]) => uuid)
    expect(uuids.length).toBeGreaterThan(3)
    const paths = [...said.matchAll(/^open (.+)$/gm)].map(([, path = '']) => path)
    const there = paths.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .map((line) => string(parseJson(line), 'uuid')),
    )
    expect(uuids.filter((uuid) => !there.includes(uuid))).toEqual([])
    const [first] = readFileSync(paths[0] ?? '', 'utf8').split('\n')
    expect(parseJson(first ?? '')).toEqual({
      type: 'user',
      sessionId: expect.any(String),
      uuid: expect.any(String),
      parentUuid: null,
      timestamp: expect.any(String),
      cwd: dir.path,
      version: '1',
      agent: 'writer',
      isSidechain: false,
      userType: 'external',
      message: { role: 'user', content: expect.any(String) },
    })
  })

  test('[D2.1] token usage is read from the stream of the API and stands on the answer', async () => {
    const recording = await open()
    const usage = {
      input_tokens: 1200,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 800,
      output_tokens: 1,
    }
    const events = [
      {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me read.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 350 } },
      { type: 'message_stop' },
    ]
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const { stream, recorded } = recordAnthropicStream(response, recording)
    const passed = await stream.text()
    await recorded
    await recording.end()
    expect(passed).toBe(body)
    expect(linesOf(recording)).toMatchObject([
      { type: 'assistant', message: { id: 'msg_1', usage: { ...usage, output_tokens: 350 } } },
    ])
  })

  test('[D3.1] a session id is a date and a uuid of version 4', async () => {
    const recording = await open(() => Date.UTC(2026, 1, 10, 23, 59))
    expect(recording.sessionId).toMatch(
      /^2026-02-10-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(recording.path).toBe(join(dir.path, '.entire', 'metadata', recording.sessionId, 'full.jsonl'))
    await recording.end()
  })

  test('[D4.1] every turn has the time at which it was added, in UTC', async () => {
    let time = Date.UTC(2026, 1, 10, 23, 31)
    const recording = await open(() => (time += 1000))
    const turns = [recording.user('one'), recording.assistant({ content: 'two' }), recording.user('three')]
    time += 3_600_000
    await Promise.all(turns)
    await recording.end()
    expect(linesOf(recording).map((line) => string(line, 'timestamp'))).toEqual([
      '2026-02-10T23:31:02.000Z',
      '2026-02-10T23:31:03.000Z',
      '2026-02-10T23:31:04.000Z',
    ])
  })

  test('[D5.1] prompt.txt is there with the first input, and survives a crash', async () => {
    const said = await recordAndKill(1)
    const [session] = [...said.matchAll(/^(\S+) [0-9a-f-]{36}$/gm)].map(([, id = '']) => id)
    expect(readFileSync(join(dir.path, '.entire/metadata', session ?? '', 'prompt.txt'), 'utf8')).toMatch(
      /^begin /,
    )
  })

  test('[D5.1] context.md says what the session was and what was done in it, at the end or after a crash', async () => {
    const recording = await open(() => Date.UTC(2026, 1, 10, 23, 31))
    await recording.user('explain main.rs')
    await recording.assistant({
      model: 'claude-opus-4-6',
      content: [{ type: 'tool_use', id: 't', name: 'read_file', input: { path: 'src/main.rs' } }],
    })
    await recording.toolResult({ tool_use_id: 't', content: '1: use std::io;' })
    await recording.end()
    const context = readFileSync(join(recording.folder, 'context.md'), 'utf8')
    for (const part of [
      recording.sessionId,
      'claude-opus-4-6',
      '2026-02-10T23:31:00.000Z',
      '\n- **read_file**: src/main.rs\n',
    ]) {
      expect(context).toContain(part)
    }
    expect(existsSync(join(recording.folder, 'summary.txt'))).toBe(false)
    await recordAndKill(6)
    await finishRecordings(dir.path)
    for (const { folder } of await finishRecordings(dir.path)) {
      expect(readFileSync(join(folder, 'context.md'), 'utf8')).toMatch(/- \*\*\w+\*\*: \S/)
    }
  })

  test('[D7.1] what is in .entire already is not modified', async () => {
    mkdirSync(join(dir.path, '.entire'))
    const settings = join(dir.path, '.entire', 'settings.json')
    writeFileSync(settings, '{"enabled": true}')
    const recording = await open()
    await recording.user('hello')
    await recording.end()
    expect(readFileSync(settings, 'utf8')).toBe('{"enabled": true}')
  })

  test('[REC25] a turn costs one write and one sync, and holds nothing else up', async () => {
    const program = join(root, 'dist/testing/recording-faulter.js')
    const { stdout } = await run(process.execPath, [program, dir.path, 'count'])
    expect(Number(stdout)).toBe(20)
  })

  test.skipIf(findJq() === undefined)(
    '[D8.1] jq reads every line, and by the rules of Entire everything is counted right',
    async () => {
      const recording = await open()
      await recording.user('a \u2028 b \u2029 c \u0000 "quoted" \\ \ud83d\ude00')
      const usage = {
        input_tokens: 2800,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 2000,
        output_tokens: 400,
      }
      await recording.assistant({
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'tool_use', id: 't', name: 'Edit', input: { file_path: 'a.txt' } },
        ],
        usage,
      })
      await recording.user([
        {
          type: 'tool_result',
          tool_use_id: 't',
          content: [{ type: 'image', source: { type: 'url', url: 'x' } }],
        },
        { type: 'text', text: 'go on' },
      ])
      await recording.assistant({ content: 'done', usage })
      await recording.end()
      const { stdout } = await run(findJq() ?? 'jq', ['-c', '.', recording.path])
      expect(stdout.trimEnd().split('\n')).toHaveLength(5)
      expect(readFileSync(recording.path, 'utf8')).not.toMatch(/[\u2028\u2029]/)
      expect(await checkWithEntire(recording.path)).toEqual({
        lines: 5,
        user: 3,
        assistant: 2,
        errors: {},
        prompts: ['a \u2028 b \u2029 c \u0000 "quoted" \\ \ud83d\ude00', 'go on'],
        modifiedFiles: ['a.txt'],
        tokens: { input: 5600, output: 800, cacheRead: 4000, cacheCreation: 20, calls: 2 },
      })
    },
  )
})
