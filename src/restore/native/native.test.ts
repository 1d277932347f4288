import { readFile, stat, writeFile, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { field, list, object, parseJson, string } from '#base'
import { formatOf, openTranscript, readConversation } from '#sources'
import { createLines, openTempDir, toJsonl } from '#testing'
import { toSaid, type Said } from '../said.ts'
import { toNativeSession } from './convert.ts'
import { toClaudeSession, toSlug } from './claude.ts'
import { toCodexSession } from './codex.ts'
import { toGeminiSession } from './gemini.ts'
import { toOpencodeSession } from './opencode.ts'
import { NATIVE_AGENTS } from '#model'
import type { NativeFacts, NativeSession } from './session.ts'
import { writeNative } from './write.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())
let files = 0

async function saidOf(lines: readonly object[]): Promise<Said> {
  const path = join(temp.path, `${String(++files)}.jsonl`)
  await writeFile(path, toJsonl(lines))
  const file = openTranscript(path)
  try {
    return toSaid((await readConversation(file, formatOf(path))).entries)
  } finally {
    file.close()
  }
}

const FACTS: NativeFacts = {
  source: { agent: 'somewhere', sessionId: 'session-1' },
  workdir: '/home/user/work/two files',
  created: '2026-11-15T08:00:00.000Z',
  title: 'Both files',
  model: 'claude-opus-5-5',
  branch: 'main',
}
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function bothFiles(): Promise<Said> {
  const make = createLines()
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
  const failed = { type: 'tool_result', tool_use_id: 'toolu_B', content: 'no such file', is_error: true }
  return await saidOf([
    make.prompt('What is in both files?'),
    make.reply([
      { type: 'thinking', thinking: 'I should read both.', signature: 'c2ln' },
      { type: 'text', text: 'I read both.' },
      { type: 'tool_use', id: 'toolu_A', name: 'Read', input: { path: 'a' } },
      { type: 'tool_use', id: 'toolu_B', name: 'Read', input: { path: 'b' } },
    ]),
    make.result('toolu_A', 'forty-two'),
    make.result('', '', { message: { role: 'user', content: [failed] } }),
    make.reply([{ type: 'text', text: 'One is missing.' }]),
    make.prompt('', {
      message: { role: 'user', content: [{ type: 'text', text: '/etc, see here' }, image] },
    }),
  ])
}

function linesOf({ files: [file] }: NativeSession): readonly unknown[] {
  return (file?.text ?? '').split('\n').filter(Boolean).map(parseJson)
}

describe('[NAT1] a session of Claude Code', () => {
  test('[NAT1] has a line for each block and each result, hung from each other as the client does it', async () => {
    const session = toClaudeSession(await bothFiles(), FACTS)
    const [file] = session.files
    expect(file?.path).toBe(`projects/-home-user-work-two-files/${session.id}.jsonl`)
    expect(session.resume).toEqual(['claude', '--resume', session.id])
    const lines = linesOf(session)
    const ids = lines.map((line) => string(line, 'uuid'))
    const parents = lines.map((line) => ids.indexOf(string(line, 'parentUuid') ?? 'none'))
    const blocks = lines.map((line) => {
      const content = field(field(line, 'message'), 'content')
      return typeof content === 'string'
        ? 'words'
        : list({ content }, 'content')
            .map((block) => string(block, 'type'))
            .join()
    })
    expect(blocks).toEqual([
      'words',
      'thinking',
      'text',
      'tool_use',
      'tool_use',
      'tool_result',
      'tool_result',
      'text',
      'text,image',
      '',
    ])
    // A result hangs from its call, everything else from the line before it.
    expect(parents.slice(0, 9)).toEqual([-1, 0, 1, 2, 3, 3, 4, 6, 7])
    expect(new Set(lines.map((line) => string(line, 'sessionId')))).toEqual(new Set([session.id]))
    const messages = lines.slice(1, 5).map((line) => string(field(line, 'message'), 'id'))
    expect(new Set(messages).size).toBe(1)
    expect(lines.at(-1)).toEqual({ type: 'custom-title', customTitle: 'Both files', sessionId: session.id })
  })

  test('[NAT1] lies in the folder that the client would name', () => {
    expect(toSlug('/home/user/work/slug/ünïcode-日本')).toBe('-home-user-work-slug--n-code---')
    expect(toSlug('/a/🦊')).toBe('-a---')
    expect(toSlug(`/${'x'.repeat(300)}`)).toMatch(/^-x{199}-[a-z0-9]+$/u)
  })
})

test('[NAT2] a session of Codex tells the model and the person, and names no provider and no context of a turn', async () => {
  const session = toCodexSession(await bothFiles(), FACTS)
  expect(session.files[0]?.path).toBe(`sessions/2026/11/15/rollout-2026-11-15T08-00-00-${session.id}.jsonl`)
  const lines = linesOf(session)
  expect(lines[0]).toMatchObject({
    type: 'session_meta',
    payload: {
      id: session.id,
      cwd: FACTS.workdir,
      originator: 'throughline',
      cli_version: '0.166.0',
      git: { branch: 'main' },
    },
  })
  expect(
    lines
      .slice(1)
      .map((line) => `${string(line, 'type') ?? ''} ${string(field(line, 'payload'), 'type') ?? ''}`),
  ).toEqual([
    'event_msg task_started',
    'response_item message',
    'event_msg user_message',
    'response_item message',
    'event_msg agent_message',
    'response_item function_call',
    'response_item function_call',
    'response_item function_call_output',
    'response_item function_call_output',
    'response_item message',
    'event_msg agent_message',
    'event_msg task_complete',
    'event_msg task_started',
    'response_item message',
    'event_msg user_message',
    'event_msg task_complete',
  ])
  expect(session.files[0]?.text).not.toMatch(/comp_hash|turn_context|model_provider/u)
})

test('[NAT3] a session of Gemini CLI has each result once, and prompts that the client would leave out say that they are prompts', async () => {
  const session = toGeminiSession(await bothFiles(), FACTS)
  expect(session.files[0]?.path).toBe(
    `tmp/two-files/chats/session-2026-11-15T08-00-${session.id.slice(0, 8)}.jsonl`,
  )
  const [header, ...messages] = linesOf(session)
  expect(header).toMatchObject({ sessionId: session.id, kind: 'main', summary: 'Both files' })
  // The client deletes what was changed long ago, and this was made now.
  expect(header).not.toHaveProperty('lastUpdated')
  expect(messages.map((message) => string(message, 'type'))).toEqual(['user', 'gemini', 'gemini', 'user'])
  expect(
    list(messages[1], 'toolCalls').map((call) => [
      string(call, 'id'),
      string(call, 'status'),
      list(call, 'result').length,
    ]),
  ).toEqual([
    ['toolu_A', 'success', 1],
    ['toolu_B', 'error', 1],
  ])
  expect(list(messages[3], 'content')).toEqual([
    { text: '[verbatim] ' },
    { text: '/etc, see here' },
    { inlineData: { mimeType: 'image/png', data: PNG } },
  ])
  expect(session.losses.map(({ kind, how }) => `${kind} ${how}`)).toContain('context added')
})

test('[NAT3] words behind a call stay behind it', async () => {
  const make = createLines()
  const said = await saidOf([
    make.prompt('Do it'),
    make.reply([
      { type: 'tool_use', id: 'toolu_A', name: 'Read', input: {} },
      { type: 'text', text: 'Reading.' },
    ]),
    make.result('toolu_A', 'done'),
  ])
  const [, , answer] = linesOf(toGeminiSession(said, FACTS))
  expect(list(answer, 'content').map((part) => Object.keys(object({ part }, 'part') ?? {}))).toEqual([
    ['functionCall'],
    ['text'],
  ])
  expect(list(answer, 'toolCalls')).toHaveLength(1)
})

test('[NAT4] a session of opencode has ids that go up with time and are never later than what was said', async () => {
  const session = toOpencodeSession(await bothFiles(), FACTS)
  const made = parseJson(session.files[0]?.text ?? '')
  expect(session.id).toMatch(/^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/u)
  expect(session.takeIn).toEqual(['opencode', 'import'])
  const messages = list(made, 'messages')
  const ids = messages.flatMap((message) => string(field(message, 'info'), 'id') ?? [])
  const parts = messages.flatMap((message) =>
    list(message, 'parts').flatMap((part) => string(part, 'id') ?? []),
  )
  expect(ids).toEqual(ids.toSorted())
  expect(parts).toEqual(parts.toSorted())
  expect(new Set([...ids, ...parts]).size).toBe(ids.length + parts.length)
  const latest = (BigInt(Date.parse('2026-11-15T08:00:01Z')) * 0x1000n) & 0xff_ff_ff_ff_ff_ffn
  expect((ids.at(-1) ?? '').slice(4, 16) < latest.toString(16).padStart(12, '0')).toBe(true)
  const states = list(messages[1], 'parts').flatMap((part) => string(field(part, 'state'), 'status') ?? [])
  expect(states).toEqual(['completed', 'error'])
})

test('[NAT4] a session of opencode goes on with the model that is named', async () => {
  const { files: made } = toOpencodeSession(await bothFiles(), { ...FACTS, goOnWith: 'router/some/model' })
  const messages = list(parseJson(made[0]?.text ?? ''), 'messages').map((message) => object(message, 'info'))
  expect(messages.map((info) => object(info, 'model') ?? string(info, 'providerID'))).toEqual([
    { providerID: 'router', modelID: 'some/model' },
    'anthropic',
    'anthropic',
    { providerID: 'router', modelID: 'some/model' },
  ])
})

test.each(NATIVE_AGENTS)('[NAT5] made twice, a session of %s is the same byte for byte', async (agent) => {
  const [first, second] = [await bothFiles(), await bothFiles()].map((said) =>
    toNativeSession(agent, said, FACTS),
  )
  expect(first).toEqual(second)
  const other = toNativeSession(agent, await bothFiles(), {
    ...FACTS,
    source: { agent: 'somewhere', sessionId: 'session-2' },
  })
  const edition = toNativeSession(agent, await bothFiles(), { ...FACTS, edition: '2' })
  expect(new Set([first?.id, other.id, edition.id]).size).toBe(3)
})

test('[NAT5] the copies for two agents are two sessions', async () => {
  const said = await bothFiles()
  expect(new Set(NATIVE_AGENTS.map((agent) => toNativeSession(agent, said, FACTS).id)).size).toBe(4)
})

test.each(NATIVE_AGENTS)(
  '[NAT6] a session of %s says what it was made of, and so does its lineage',
  async (agent) => {
    const session = toNativeSession(agent, await bothFiles(), FACTS)
    expect(session.lineage).toEqual({ from: FACTS.source, to: { agent, sessionId: session.id } })
    expect(session.files[0]?.text).toContain(
      '"throughline":{"from":{"agent":"somewhere","sessionId":"session-1"}}',
    )
  },
)

test('[NAT6] a copy within Claude Code names the line that each of its lines was copied from', async () => {
  const said = await bothFiles()
  const lines = linesOf(
    toClaudeSession(said, { ...FACTS, source: { agent: 'claude', sessionId: 'session-1' } }),
  )
  expect(object(lines[0], 'forkedFrom')).toEqual({
    sessionId: 'session-1',
    messageUuid: '00000000-0000-4000-8000-000000000001',
  })
})

test('[NAT7] times are those of the entries where they are known, and only go forward', async () => {
  const said = await bothFiles()
  const timeOf = (id: string): string | undefined =>
    id.endsWith('2') ? '2026-11-15T09:00:00.000Z' : id.endsWith('3') ? '2026-11-15T08:30:00.000Z' : undefined
  const times = linesOf(toClaudeSession(said, { ...FACTS, timeOf })).flatMap(
    (line) => string(line, 'timestamp') ?? [],
  )
  expect(times[0]).toBe('2026-11-15T08:00:00.001Z')
  expect(times[1]).toBe('2026-11-15T09:00:00.000Z')
  expect(times).toEqual(times.toSorted())
})

describe('[NAT8] writing', () => {
  const rootsIn = (name: string) => ({
    claude: join(temp.path, name, 'claude'),
    codex: join(temp.path, name, 'codex'),
    gemini: join(temp.path, name, 'gemini'),
    opencode: join(temp.path, name, 'imports'),
  })

  test.each(NATIVE_AGENTS)(
    '[NAT8] a session of %s is written once, for nobody else to read',
    async (agent) => {
      const roots = rootsIn('once')
      const session = toNativeSession(agent, await bothFiles(), FACTS)
      const { path, state } = await writeNative(session, roots)
      expect(state).toBe('written')
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect(await readFile(path, 'utf8')).toBe(session.files[0]?.text)
      expect((await writeNative(session, roots)).state).toBe('same')
      expect((await readdir(dirname(path))).filter((name) => name.includes('throughline'))).toEqual([])
    },
  )

  test.each(NATIVE_AGENTS)('[NAT8] what %s has under that id is never touched', async (agent) => {
    const roots = rootsIn('never')
    const session = toNativeSession(agent, await bothFiles(), FACTS)
    const { path } = await writeNative(session, roots)
    const grown = `${await readFile(path, 'utf8')}{"more":true}\n`
    await writeFile(path, grown)
    await expect(writeNative(session, roots)).rejects.toMatchObject({
      code: 'output-exists',
      message: expect.stringContaining('gone on'),
      hint: expect.stringContaining(session.id),
    })
    await writeFile(path, 'another')
    await expect(writeNative(session, roots)).rejects.toMatchObject({ code: 'output-exists' })
    expect(await readFile(path, 'utf8')).toBe('another')
  })

  test('[NAT8] Gemini CLI is told of the project, under the name it has or one that nobody has', async () => {
    const roots = rootsIn('project')
    const registry = join(roots.gemini, 'projects.json')
    await mkdir(join(roots.gemini, 'tmp/two-files'), { recursive: true })
    await writeFile(join(roots.gemini, 'tmp/two-files/.project_root'), '/elsewhere/two files')
    await writeFile(registry, JSON.stringify({ projects: { '/elsewhere/two files': 'two-files' }, kept: 1 }))
    const { path } = await writeNative(toGeminiSession(await bothFiles(), FACTS), roots)
    expect(path).toContain(join('tmp', 'two-files-1', 'chats'))
    expect(parseJson(await readFile(registry, 'utf8'))).toEqual({
      projects: { '/elsewhere/two files': 'two-files', [FACTS.workdir]: 'two-files-1' },
      kept: 1,
    })
    expect(await readFile(join(roots.gemini, 'tmp/two-files-1/.project_root'), 'utf8')).toBe(FACTS.workdir)
  })

  test('[NAT8] an agent whose folder is not known is refused', async () => {
    const session = toCodexSession(await bothFiles(), FACTS)
    await expect(writeNative(session, {})).rejects.toMatchObject({ code: 'request-invalid' })
  })
})
