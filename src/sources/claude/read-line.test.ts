import { readBlocks, type Entry, type Reading } from '#model'
import { createLines, runs } from '#testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineReaderOf } from '../salvage.ts'
import { claudeFormat } from './read-line.ts'

function read(line: object | string): Entry {
  const bytes = Buffer.from(typeof line === 'string' ? line : JSON.stringify(line))
  const out: Reading[] = []
  lineReaderOf(claudeFormat).readLine(bytes, { from: 0, to: bytes.length, offset: 0 }, out)
  const [first] = out
  if (first?.kind !== 'entry') throw new Error('the line was not read')
  return first.entry
}

function queued(content: unknown): object {
  return { type: 'queue-operation', operation: 'enqueue', content, sessionId: 's' }
}

describe('content', () => {
  test('[E1.1] every type of content is read with all it has', () => {
    const content = [
      { type: 'text', text: 'words', citations: [{ type: 'char_location' }] },
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'thinking', thinking: 'without a signature' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Read',
        input: { file_path: '/a' },
        caller: { type: 'direct' },
      },
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'as a string' },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        content: [{ type: 'text', text: 'as blocks' }],
        is_error: true,
      },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
        title: 'paper',
      },
      { type: 'document', source: { type: 'url', url: 'https://example.test/a.pdf' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
      { type: 'document', source: { type: 'raw', media_type: 'application/pdf', data: [37, 80, 68, 70] } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} },
      'not even an object',
    ]
    expect(readBlocks(content)).toEqual([
      { kind: 'text', text: 'words', extra: { citations: [{ type: 'char_location' }] } },
      { kind: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { kind: 'thinking', thinking: 'without a signature' },
      { kind: 'redacted-thinking', data: 'b3BhcXVl' },
      {
        kind: 'tool-use',
        id: 'toolu_1',
        name: 'Read',
        input: { file_path: '/a' },
        extra: { caller: { type: 'direct' } },
      },
      {
        kind: 'tool-result',
        toolUseId: 'toolu_1',
        content: [{ kind: 'text', text: 'as a string' }],
        isError: false,
      },
      {
        kind: 'tool-result',
        toolUseId: 'toolu_2',
        content: [{ kind: 'text', text: 'as blocks' }],
        isError: true,
      },
      { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { kind: 'image', source: { kind: 'url', url: 'https://example.test/a.png' } },
      {
        kind: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' },
        title: 'paper',
      },
      { kind: 'document', source: { kind: 'url', url: 'https://example.test/a.pdf' } },
      { kind: 'document', source: { kind: 'text', mediaType: 'text/plain', text: 'plain' } },
      { kind: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' } },
      { kind: 'document', source: { kind: 'unknown', value: { type: 'file', file_id: 'file_1' } } },
      { kind: 'unknown', value: { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} } },
      { kind: 'unknown', value: 'not even an object' },
    ])
  })

  test('[E1.1] bytes of a raw document become base64 as anybody else would write it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const [block] = readBlocks([{ type: 'document', source: { type: 'raw', data: [...bytes] } }])
        expect(block).toMatchObject({ source: { data: Buffer.from(bytes).toString('base64') } })
        // As programs wrote them that gave them to JSON as they were.
        const forms = [
          bytes,
          Buffer.from(bytes).toJSON(),
          ...(bytes.length > 0 ? [Object.fromEntries(Object.entries(bytes))] : []),
        ]
        for (const data of forms)
          expect(readBlocks([{ type: 'document', source: { type: 'raw', data } }])).toEqual([block])
      }),
      runs(200),
    )
  })

  test('[READ3] whatever stands where content should be, reading it never throws', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('user', 'assistant', 'attachment', 'system', 'mode', 'cost-state', 'x'),
        (value, type) => {
          for (const key of [
            'message',
            'attachment',
            'compactMetadata',
            'content',
            'error',
            'forkedFrom',
            'toolUseResult',
            'permissionDecision',
            'timestamp',
            'isMeta',
            'customTitle',
          ]) {
            const entry = read({ type, uuid: 'u', [key]: value, subtype: 'compact_boundary' })
            expect(entry.id).toBe('u')
            // The same at the very end of the bytes.
            expect(read({ type, uuid: 'u', [key]: value }).id).toBe('u')
          }
          expect(
            read({ type, uuid: 'u', message: { role: 'user', content: value, usage: value, id: value } }).id,
          ).toBe('u')
        },
      ),
      runs(300),
    )
  })

  test('[READ3] __proto__ and constructor in a line are keys like any other', () => {
    const entry = read(
      '{"type":"user","uuid":"u","__proto__":{"polluted":1},"message":{"content":[{"type":"text","text":"t","__proto__":{"x":1}}]}}',
    )
    expect(entry).toMatchObject({ kind: 'prompt' })
    expect(Object.getPrototypeOf(entry)).toBe(Object.prototype)
    expect('polluted' in {}).toBe(false)
  })
})

describe('envelope', () => {
  test('[E1.2] an assistant line gives all of its envelope and of its message', () => {
    const entry = read({
      parentUuid: 'p',
      isSidechain: false,
      type: 'assistant',
      uuid: 'u',
      timestamp: '2026-11-15T08:00:00.000Z',
      provider: 'claude',
      requestId: 'req_1',
      sessionId: 's',
      cwd: '/w',
      gitBranch: 'main',
      version: '2.1.325',
      entrypoint: 'cli',
      message: {
        id: 'msg_1',
        role: 'assistant',
        model: 'claude-opus-5-5',
        content: [{ type: 'text', text: 'hi' }],
        stop_reason: 'stop_sequence',
        stop_sequence: 'END',
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 4,
        },
      },
    })
    const { raw, place, ...rest } = entry
    expect(rest).toEqual({
      kind: 'reply',
      id: 'u',
      type: 'assistant',
      link: { parentId: 'p', sidechain: false },
      at: '2026-11-15T08:00:00.000Z',
      provider: 'anthropic',
      requestId: 'req_1',
      sessionId: 's',
      cwd: '/w',
      gitBranch: 'main',
      version: '2.1.325',
      entrypoint: 'cli',
      messageId: 'msg_1',
      model: 'claude-opus-5-5',
      blocks: [{ kind: 'text', text: 'hi' }],
      stopReason: 'stop_sequence',
      stopSequence: 'END',
      usage: { input: 1, output: 2, cacheRead: 3, cacheCreation: 4, cacheCreation5m: 0, cacheCreation1h: 0 },
      synthetic: false,
      apiError: false,
    })
    expect(place).toEqual({ offset: 0, length: raw.length })
  })

  test.each([
    ['claude', 'anthropic'],
    ['anthropic', 'anthropic'],
    ['codex', 'openai'],
    ['openai', 'openai'],
    ['gemini', 'gemini'],
    ['somebody-new', 'unknown'],
  ])('[E1.2] the provider %s reads as %s', (name, provider) => {
    expect(read({ type: 'user', uuid: 'u', provider: name, message: { content: 'x' } }).provider).toBe(
      provider,
    )
  })

  test('[E1.2] what a tool printed stays in the raw line, where it can be had in full', () => {
    const toolUseResult = { stdout: 'out', stderr: 'err', interrupted: false, isImage: false }
    const entry = read(createLines().result('toolu_1', 'out', { toolUseResult }))
    expect(entry.kind).toBe('result')
    expect(JSON.parse(Buffer.from(entry.raw).toString())).toMatchObject({ toolUseResult })
  })

  test('[READ12] escapes and other scripts in an id, a folder or a branch are decoded', () => {
    const entry = read(
      '{"type":"user","uuid":"\\u0075-1","cwd":"/h\\u00e4user/日本","gitBranch":"a\\"b","message":{"content":"x"}}',
    )
    expect(entry).toMatchObject({ id: 'u-1', cwd: '/häuser/日本', gitBranch: 'a"b' })
  })
})

describe('kinds', () => {
  const lines = createLines()
  test.each<[string, object | string, object]>([
    ['a typed prompt', lines.prompt('hello'), { kind: 'prompt', origin: 'person', midTurn: false }],
    [
      'a prompt from a person, to an agent that is run here',
      lines.prompt('hello', { promptSource: 'sdk', entrypoint: 'throughline' }),
      { kind: 'prompt', origin: 'person' },
    ],
    [
      'a prompt from a program',
      lines.prompt('hello', { promptSource: 'sdk' }),
      { kind: 'prompt', origin: 'program' },
    ],
    [
      'a prompt of an old client',
      lines.prompt('hello', { promptSource: undefined, entrypoint: undefined }),
      { kind: 'prompt', origin: 'person' },
    ],
    [
      'a task that reports back',
      lines.prompt('<task-notification>\n…', { promptSource: 'system' }),
      { kind: 'prompt', origin: 'system' },
    ],
    ['a caveat', lines.prompt('<local-command-caveat>…', { isMeta: true }), { kind: 'injection' }],
    [
      'a slash command',
      lines.prompt(
        '<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>files</command-args>',
      ),
      { kind: 'command', command: '/compact', args: 'files' },
    ],
    [
      'what a command printed',
      lines.prompt('<local-command-stdout>Compacted </local-command-stdout>'),
      { kind: 'command', output: 'Compacted ' },
    ],
    [
      'a shell escape',
      lines.prompt('<bash-input>ls</bash-input>'),
      { kind: 'command', command: '!', args: 'ls' },
    ],
    [
      'what it printed',
      lines.prompt('<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>'),
      { kind: 'command', output: 'a\nb' },
    ],
    ['a prompt that only looks like a tag', lines.prompt('<div> is what I mean'), { kind: 'prompt' }],
    ['an interruption', lines.prompt('[Request interrupted by user for tool use]'), { kind: 'interruption' }],
    [
      'a summary',
      lines.prompt('This session is being continued', { isCompactSummary: true }),
      { kind: 'summary' },
    ],
    [
      'a mid-turn prompt',
      lines.attachment('queued_command', {
        attachment: { type: 'queued_command', prompt: 'also this', commandMode: 'prompt' },
      }),
      { kind: 'prompt', midTurn: true, origin: 'person', blocks: [{ kind: 'text', text: 'also this' }] },
    ],
    ['an environment', lines.attachment('environment'), { kind: 'context', type: 'attachment/environment' }],
    [
      'an attachment whose type comes last',
      '{"type":"attachment","uuid":"u","attachment":{"body":{"type":"no"},"type":"date"}}',
      { kind: 'context', type: 'attachment/date' },
    ],
    [
      'a boundary',
      lines.system('compact_boundary', { compactMetadata: { trigger: 'auto', preTokens: 9 } }),
      { kind: 'compaction', compaction: { trigger: 'auto', tokensBefore: 9 } },
    ],
    [
      'an API error',
      lines.system('api_error', { level: 'error', content: undefined, error: { formatted: '500 oh' } }),
      { kind: 'notice', level: 'error', text: '500 oh' },
    ],
    [
      'a synthetic reply',
      lines.reply([{ type: 'text', text: 'No response requested.' }], {
        message: { model: '<synthetic>', content: [] },
      }),
      { kind: 'reply', synthetic: true },
    ],
    [
      'a title',
      '{"type":"custom-title","customTitle":"Name","sessionId":"s"}',
      { kind: 'record', value: 'Name' },
    ],
    [
      'what was typed while a turn ran',
      queued('later'),
      {
        kind: 'prompt',
        type: 'queue-operation/enqueue',
        midTurn: true,
        queued: true,
        origin: 'person',
        blocks: [{ kind: 'text', text: 'later' }],
      },
    ],
    [
      'the same in blocks',
      queued(['one', { type: 'text', text: 'two' }]),
      { kind: 'prompt', queued: true, blocks: [{ text: 'one' }, { text: 'two' }] },
    ],
    [
      'the same in one block',
      queued({ type: 'text', text: 'one' }),
      { kind: 'prompt', queued: true, blocks: [{ text: 'one' }] },
    ],
    [
      'a queued command',
      queued('/compact now'),
      { kind: 'command', command: '/compact', args: 'now', queued: true },
    ],
    ['a queued path', queued('/tmp/x is full'), { kind: 'prompt', queued: true, origin: 'person' }],
    [
      'a queued report',
      queued('<task-notification>done</task-notification>'),
      { kind: 'prompt', queued: true, origin: 'system' },
    ],
    [
      'a queued note of the client',
      queued('{"task_id":"b1","task_type":"local_bash"}'),
      { kind: 'record', type: 'queue-operation/enqueue', value: '{"task_id":"b1","task_type":"local_bash"}' },
    ],
    [
      'a queued prompt without its words',
      queued(undefined),
      { kind: 'record', type: 'queue-operation/enqueue' },
    ],
    [
      'what was taken back',
      '{"type":"queue-operation","operation":"popAll","content":"later","sessionId":"s"}',
      { kind: 'record', type: 'queue-operation/popAll', value: 'later' },
    ],
    ['a line without a type', '{"hello":1}', { kind: 'unknown', type: '', id: '@0' }],
  ])('[READ12] %s is recognised', (_name, line, expected) => {
    expect(read(line)).toMatchObject(expected)
  })

  test('[D11] [READ3] a type nobody knows yet is kept with its raw line', () => {
    const line =
      '{"type":"away_summary","uuid":"u","fromTheFuture":{"deep":[1,2]},"timestamp":"2027-01-01T00:00:00Z"}'
    const entry = read(line)
    expect(entry).toMatchObject({
      kind: 'unknown',
      type: 'away_summary',
      id: 'u',
      at: '2027-01-01T00:00:00Z',
    })
    expect(Buffer.from(entry.raw).toString()).toBe(line)
  })

  test('[READ10] how a call was permitted or refused is read from its result', () => {
    const refused = lines.result('toolu_1', 'no', {
      permissionDecision: { decision: 'reject', source: 'user_reject' },
      toolDenialKind: 'user-rejected',
    })
    expect(read(refused)).toMatchObject({
      decision: { outcome: 'rejected', by: 'user_reject', denial: 'user-rejected' },
    })
    // Clients that do not write it down say it to the model.
    const said = (content: string, more: object = { is_error: true }): object => ({
      ...lines.result('toolu_1', ''),
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, ...more }],
      },
    })
    const words = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    expect(read(said(words))).toMatchObject({ decision: { outcome: 'rejected', denial: 'user-rejected' } })
    expect(read(said('Permission to use Bash with command rm has been denied.'))).toMatchObject({
      decision: { outcome: 'rejected', denial: 'permission-rule' },
    })
    // Claude Code calls what a person denied through its SDK a denial by rule.
    for (const ours of ['The user denied this call.', 'The user denied this call; the user said:\nUse pnpm.'])
      expect(read({ ...said(ours), toolDenialKind: 'permission-rule' })).toMatchObject({
        decision: { outcome: 'rejected', denial: 'user-rejected' },
      })
    expect(read({ ...said('Denied by rule.'), toolDenialKind: 'permission-rule' })).toMatchObject({
      decision: { outcome: 'rejected', denial: 'permission-rule' },
    })
    // What a tool prints may begin in the same way.
    expect(read(said(words, {}))).toMatchObject({ decision: undefined })
    expect(read(said('Exit code 1'))).toMatchObject({ decision: undefined })
    const allowed = lines.result('toolu_1', 'yes', {
      permissionDecision: { decision: 'accept', source: 'config' },
    })
    expect(read(allowed)).toMatchObject({ decision: { outcome: 'accepted', by: 'config' } })
  })
})
