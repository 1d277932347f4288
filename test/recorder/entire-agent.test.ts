import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { field, parseJson, string } from '#base'
import { openRecording, type Recording } from '#recorder'
import { checkWithEntire, findJq, openTempDir, type TempDir } from '#testing'

const program = join(import.meta.dirname, '..', '..', 'dist', 'bin', 'entire-agent-throughline.js')

let dir: TempDir
let repo: string
let home: string
beforeEach(async () => {
  dir = await openTempDir()
  repo = join(dir.path, 'repo')
  home = join(dir.path, 'home')
  mkdirSync(repo)
})
afterEach(async () => await dir.remove())

/** One call as Entire makes it. */
function call(
  args: readonly string[],
  input: string | object = '',
): { code: number | null; out: Buffer; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: repo,
    input: typeof input === 'string' ? input : JSON.stringify(input),
    env: {
      PATH: process.env['PATH'],
      THROUGHLINE_HOME: home,
      ENTIRE_REPO_ROOT: repo,
      ENTIRE_PROTOCOL_VERSION: '1',
    },
  })
  return { code: status, out: stdout, err: stderr.toString() }
}

function ask(args: readonly string[], input: string | object = ''): unknown {
  const { code, out, err } = call(args, input)
  expect([code, err]).toEqual([0, ''])
  return parseJson(out.toString())
}

function hookInput(hook: string, more: object = {}): object {
  return {
    hook_type: hook,
    session_id: 'test-session-abc',
    session_ref: '',
    timestamp: '2026-01-13T12:00:00Z',
    ...more,
  }
}

async function record(): Promise<Recording> {
  const recording = await openRecording({ cwd: repo, agent: 'forgeflare', version: '1', register: home })
  await recording.user('add tests')
  await recording.assistant({
    id: 'msg_1',
    model: 'm',
    content: [
      { type: 'tool_use', id: 't1', name: 'Edit', input: { file_path: 'src/main.go' } },
      {
        type: 'tool_use',
        id: 't2',
        name: 'apply_patch',
        input: { input: '*** Update File: src/b.go\n+x\n' },
      },
      { type: 'tool_use', id: 't3', name: 'Read', input: { file_path: 'src/read.go' } },
    ],
    usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  })
  await recording.toolResult(['t1', 't2', 't3'].map((tool_use_id) => ({ tool_use_id, content: 'ok' })))
  await recording.assistant({ id: 'msg_2', content: 'Done.', usage: { input_tokens: 20, output_tokens: 7 } })
  return recording
}

describe('the plugin for Entire', () => {
  test('[REC30] says who it is and what it can do', () => {
    expect(ask(['info'])).toEqual({
      protocol_version: 1,
      name: 'throughline',
      type: 'Throughline',
      description: expect.stringMatching(/./),
      is_preview: false,
      protected_dirs: [],
      hook_names: ['session-start', 'user-prompt-submit', 'stop', 'session-end'],
      capabilities: {
        hooks: true,
        transcript_analyzer: true,
        transcript_preparer: false,
        token_calculator: true,
        text_generator: false,
        hook_response_writer: false,
        subagent_aware_extractor: true,
        uses_terminal: false,
      },
    })
  })

  test('[REC30] is there where something was recorded, and names its session', async () => {
    expect(ask(['detect'])).toEqual({ present: false })
    const recording = await record()
    await recording.end()
    expect(ask(['detect'])).toEqual({ present: true })
    expect(ask(['get-session-dir', '--repo-path', repo])).toEqual({
      session_dir: join(repo, '.entire', 'metadata'),
    })
    const find = (id: string): unknown =>
      ask(['resolve-session-file', '--session-dir', dirname(recording.folder), '--session-id', id])
    expect(find(recording.sessionId)).toEqual({ session_file: recording.path })
    expect(find(recording.sessionId.slice(11))).toEqual({ session_file: recording.path })
    expect(find('test-session-123')).toEqual({
      session_file: join(dirname(recording.folder), 'test-session-123', 'full.jsonl'),
    })
    expect(ask(['get-session-id'], hookInput('stop'))).toEqual({ session_id: 'test-session-abc' })
    expect(
      ask(['get-session-id'], hookInput('stop', { session_id: '', session_ref: recording.path })),
    ).toEqual({
      session_id: recording.sessionId,
    })
    expect(ask(['get-session-id'], hookInput('stop', { session_id: '' }))).toEqual({ session_id: '' })
    expect(ask(['format-resume-command', '--session-id', 'test-session-123'])).toEqual({
      command: 'throughline show test-session-123',
    })
  })

  test('[REC31] refuses what it does not understand, with a reason and an exit code', () => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['get-session-id'], '{"session_id":'],
      [['read-session'], '{"session_id":'],
      [['write-session'], '{"session_id":'],
      [['reassemble-transcript'], '{"chunks":'],
      [['chunk-transcript', '--max-size', '0'], 'test'],
      [['resolve-session-file', '--session-dir', repo, '--session-id', '../x'], ''],
      [['read-transcript', '--session-ref', join(repo, 'none')], ''],
      [['this-subcommand-does-not-exist'], ''],
      [[], ''],
    ]
    for (const [args, input] of wrong) {
      const { code, out, err } = call(args, input)
      expect([args, code, out.toString()]).toEqual([args, 1, ''])
      expect(err).not.toBe('')
    }
  })

  test('[REC32] gives a transcript as it is, in pieces of whole lines, and together again', async () => {
    const recording = await record()
    await recording.end()
    const bytes = readFileSync(recording.path)
    expect(call(['read-transcript', '--session-ref', recording.path]).out).toEqual(bytes)
    const chunked = ask(['chunk-transcript', '--max-size', '700'], bytes.toString())
    const chunks = field(chunked, 'chunks')
    const pieces = (Array.isArray(chunks) ? chunks : []).map((chunk) => Buffer.from(String(chunk), 'base64'))
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.every((piece) => piece.length <= 700)).toBe(true)
    expect(call(['reassemble-transcript'], Object(chunked)).out).toEqual(bytes)
    expect(ask(['chunk-transcript', '--max-size', '1048576'], 'small content')).toEqual({
      chunks: [Buffer.from('small content').toString('base64')],
    })
  })

  test('[REC33] writes a session that Entire brings back, and never over what was recorded', async () => {
    const path = join(repo, '.entire', 'metadata', 'test-roundtrip-session', 'full.jsonl')
    const session = {
      session_id: 'test-roundtrip-session',
      agent_name: 'throughline',
      repo_path: repo,
      session_ref: path,
      start_time: '2026-01-13T12:00:00Z',
      native_data: Buffer.from('{"test": true}').toString('base64'),
      modified_files: ['file1.go'],
      new_files: [],
      deleted_files: [],
    }
    expect(call(['write-session'], session).code).toBe(0)
    const input = hookInput('session_start', { session_id: session.session_id, session_ref: path })
    expect(ask(['read-session'], input)).toEqual({ ...session, modified_files: [] })
    const refused = (change: object): void => {
      const before = existsSync(path) ? readFileSync(path) : undefined
      expect(call(['write-session'], { ...session, ...change }).code).toBe(1)
      expect(readFileSync(path)).toEqual(before)
    }
    refused({ native_data: Buffer.from('{"other": 1}').toString('base64') })
    refused({ session_ref: join(repo, 'elsewhere.jsonl') })
    refused({ session_ref: join(repo, '.entire', 'metadata', '..', '..', 'x', 'full.jsonl') })
    expect(existsSync(join(repo, 'elsewhere.jsonl'))).toBe(false)
    const recording = await record()
    const more = Buffer.concat([readFileSync(recording.path), Buffer.from('{}\n')]).toString('base64')
    const held = {
      ...session,
      session_id: recording.sessionId,
      session_ref: recording.path,
      native_data: more,
    }
    expect(call(['write-session'], held)).toMatchObject({
      code: 1,
      err: expect.stringContaining('being recorded'),
    })
    await recording.end()
    symlinkSync(dir.path, join(repo, '.entire', 'metadata', 'link'))
    expect(
      call(['write-session'], { ...session, session_ref: join(repo, '.entire/metadata/link/full.jsonl') })
        .code,
    ).toBe(1)
  })

  test.skipIf(findJq() === undefined)(
    '[REC34] [D8.1] finds prompts, files, last words and tokens as Entire does, from any offset',
    async () => {
      const recording = await record()
      const sub = await openRecording({
        cwd: repo,
        agent: 'forgeflare',
        version: '1',
        register: false,
        subagentOf: { sessionId: recording.sessionId, agentId: 's' },
      })
      await sub.assistant({
        id: 'msg_s',
        content: [{ type: 'tool_use', id: 'x', name: 'Write', input: { file_path: 'sub.go' } }],
        usage: { input_tokens: 100, output_tokens: 50 },
      })
      await sub.end()
      const bytes = readFileSync(recording.path)
      const subagents = ['--subagents-dir', join(recording.folder, 'subagents')]
      const own = {
        input_tokens: 30,
        cache_creation_tokens: 2,
        cache_read_tokens: 3,
        output_tokens: 12,
        api_call_count: 2,
      }
      const ref = ['--session-ref', recording.path]
      expect(ask(['get-transcript-position', '--path', recording.path])).toEqual({ position: bytes.length })
      expect(ask(['get-transcript-position', '--path', join(repo, 'none')])).toEqual({ position: 0 })
      expect(ask(['extract-modified-files', '--path', recording.path, '--offset', '0'])).toEqual({
        files: ['src/main.go', 'src/b.go'],
        current_position: bytes.length,
      })
      expect(ask(['extract-prompts', ...ref, '--offset', '0'])).toEqual({ prompts: ['add tests'] })
      expect(ask(['extract-summary', ...ref])).toEqual({ summary: 'Done.', has_summary: true })
      expect(ask(['calculate-tokens', '--offset', '0'], bytes.toString())).toEqual({
        ...own,
        subagent_tokens: null,
      })
      const { tokens } = await checkWithEntire(recording.path)
      expect([tokens.input, tokens.output, tokens.cacheRead, tokens.cacheCreation, tokens.calls]).toEqual([
        30, 12, 3, 2, 2,
      ])
      expect(ask(['extract-all-modified-files', '--offset', '0', ...subagents], bytes.toString())).toEqual({
        files: ['src/main.go', 'src/b.go', 'sub.go'],
      })
      expect(ask(['calculate-total-tokens', '--offset', '0', ...subagents], bytes.toString())).toMatchObject({
        ...own,
        subagent_tokens: { input_tokens: 100, output_tokens: 50, api_call_count: 1 },
      })
      const [first = ''] = bytes.toString().split('\n')
      const behind = String(Buffer.byteLength(first) + 1)
      expect(ask(['extract-prompts', ...ref, '--offset', behind])).toEqual({ prompts: [] })
      expect(ask(['extract-modified-files', '--path', recording.path, '--offset', '999999'])).toMatchObject({
        files: [],
      })
      expect(ask(['calculate-tokens', '--offset', '0'], '{}')).toMatchObject({
        input_tokens: 0,
        api_call_count: 0,
      })
      await recording.end()
    },
  )

  test('[REC35] hooks are on or off for a repository, in the home of the person', () => {
    expect(ask(['are-hooks-installed'])).toEqual({ installed: false })
    expect(ask(['install-hooks'])).toEqual({ hooks_installed: 4 })
    expect(ask(['are-hooks-installed'])).toEqual({ installed: true })
    expect(ask(['install-hooks'])).toEqual({ hooks_installed: 0 })
    expect(call(['install-hooks', '--force']).code).toBe(0)
    expect(call(['install-hooks', '--local-dev']).code).toBe(0)
    expect(call(['uninstall-hooks'])).toMatchObject({ code: 0, err: '' })
    expect(ask(['are-hooks-installed'])).toEqual({ installed: false })
    expect(existsSync(join(repo, '.entire'))).toBe(false)
  })

  test('[REC35] a hook is read as the moment it tells of', () => {
    const types = { 'session-start': 1, 'user-prompt-submit': 2, stop: 3, 'session-end': 5 }
    for (const [hook, type] of Object.entries(types)) {
      expect(ask(['parse-hook', '--hook', hook], hookInput(hook, { user_prompt: 'test prompt' }))).toEqual({
        type,
        session_id: 'test-session-abc',
        prompt: 'test prompt',
        timestamp: '2026-01-13T12:00:00Z',
      })
      expect(ask(['parse-hook', '--hook', hook])).toBeNull()
    }
    expect(ask(['parse-hook', '--hook', 'other'], hookInput('other'))).toBeNull()
  })

  test('[REC36] where hooks are on Entire is told, of words before they are written and of answers after', async () => {
    expect(ask(['install-hooks'])).toEqual({ hooks_installed: 4 })
    const heard = join(dir.path, 'heard')
    const lines = '$(cat .entire/metadata/*/full.jsonl 2>/dev/null | wc -l)'
    const entire = `#!/bin/sh\nprintf '{"args":"%s","lines":%s,"payload":%s}\\n' "$*" "${lines}" "$(cat)" >> '${heard}'\n`
    mkdirSync(join(dir.path, 'bin'))
    writeFileSync(join(dir.path, 'bin', 'entire'), entire)
    chmodSync(join(dir.path, 'bin', 'entire'), 0o755)
    const path = process.env['PATH']
    process.env['PATH'] = `${join(dir.path, 'bin')}:${path}`
    let recording: Recording
    try {
      recording = await record()
      await recording.end()
    } finally {
      process.env['PATH'] = path
    }
    const told = readFileSync(heard, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line))
    expect(told.map((each) => [string(each, 'args'), field(each, 'lines')])).toEqual([
      ['hooks throughline session-start', 0],
      ['hooks throughline user-prompt-submit', 0],
      ['hooks throughline stop', 4],
      ['hooks throughline session-end', 4],
    ])
    expect(field(told[1], 'payload')).toMatchObject({
      session_id: recording.sessionId,
      session_ref: recording.path,
      prompt: 'add tests',
    })
  })
})
