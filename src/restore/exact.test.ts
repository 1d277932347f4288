import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelMessageSchema } from 'ai'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { TARGETS } from '#model'
import {
  anyConversation,
  createLines,
  findAnthropicFaults,
  findGeminiFaults,
  findResponsesFaults,
  openTempDir,
  readLines,
  toAnyLines,
} from '#testing'
import { restore } from './restore.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** Everything that Anthropic's blocks can be, with fields that nobody here knows and keys in an order of their own. */
const PROMPT = [
  { text: 'Look at these.', type: 'text', cache_control: { type: 'ephemeral' } },
  { type: 'image', source: { data: PNG, media_type: 'image/png', type: 'base64' } },
  { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
  {
    type: 'document',
    title: 'a.pdf',
    context: 'c',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  },
  { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
]
const ANSWER = [
  { type: 'thinking', thinking: 'hm — ✓', signature: 'EqQB+/=' },
  { type: 'redacted_thinking', data: 'Zm9v' },
  { type: 'text', text: 'I look.' },
  {
    type: 'tool_use',
    id: 'toolu_1',
    name: 'Read',
    input: { b: 1, a: [null, { '2': 2 }] },
    caller: { type: 'direct' },
  },
  { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: {} },
]
const FAILED = { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: 'no' }
const READ_RESULT = {
  tool_use_id: 'toolu_1',
  type: 'tool_result',
  content: [
    { type: 'text', text: 'seen' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  ],
}

function toEverything(): readonly object[] {
  const make = createLines()
  const own = (content: readonly object[]): object => ({ message: { role: 'user', content } })
  return [
    make.prompt('', own(PROMPT)),
    // One answer is several lines, and results come in any order.
    make.reply(ANSWER.slice(0, 3), {
      message: { id: 'msg_a', role: 'assistant', model: 'm', content: ANSWER.slice(0, 3) },
    }),
    make.reply([], { message: { id: 'msg_a', role: 'assistant', model: 'm', content: ANSWER.slice(3, 4) } }),
    make.reply([], { message: { id: 'msg_a', role: 'assistant', model: 'm', content: ANSWER.slice(4) } }),
    make.prompt('', own([FAILED])),
    make.prompt('', own([READ_RESULT])),
    make.reply([{ type: 'text', text: 'Done.' }]),
  ]
}

describe('restoring', () => {
  test('[E2.1] [E8.1] [P05] to the same provider every block goes back as it was, to the byte, in its order', async () => {
    const { messages, losses } = restore(await readLines(toEverything()), 'anthropic')
    expect(losses).toEqual([])
    expect(JSON.stringify(messages)).toBe(
      JSON.stringify([
        { role: 'user', content: PROMPT },
        { role: 'assistant', content: ANSWER },
        { role: 'user', content: [READ_RESULT, FAILED] },
        { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      ]),
    )
  })

  test('[E2.1] restoring changes nothing: done twice it gives the same', async () => {
    const entries = await readLines(toEverything())
    for (const target of TARGETS) expect(restore(entries, target)).toEqual(restore(entries, target))
  })

  test('[E4.1] [E8.1] tokens, turns, model, folder and open calls are those of before', async () => {
    const make = createLines({ cwd: '/w' })
    const usage = (output_tokens: number): object => ({
      input_tokens: 10,
      output_tokens,
      cache_read_input_tokens: 80,
    })
    const message = (id: string, output: number, content: readonly object[]): object => ({
      message: { id, role: 'assistant', model: 'claude-opus-5-5', content, usage: usage(output) },
      requestId: `req_${id}`,
    })
    const lines = [
      make.prompt('one', { permissionMode: 'plan' }),
      make.reply([], message('m1', 1, [{ type: 'text', text: 'a' }])),
      make.reply([], message('m1', 9, [{ type: 'text', text: 'b' }])),
      make.prompt('two', { permissionMode: 'acceptEdits' }),
      make.reply([], message('m2', 4, [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }])),
    ]
    const restored = restore(await readLines(lines), 'anthropic')
    expect(restored.tokens.context).toBe(94)
    expect(restored.tokens.billed).toMatchObject({ input: 20, output: 13, cacheRead: 160 })
    expect(restored.turns).toHaveLength(2)
    expect(restored).toMatchObject({
      model: 'claude-opus-5-5',
      workdir: '/w',
      mode: 'acceptEdits',
      branch: 'main',
    })
    expect(restored.pending.map(({ id }) => id)).toEqual(['toolu_1'])
    expect(restored.losses.map(({ kind, how }) => [kind, how])).toEqual([['pending-call', 'added']])
  })

  test('[E6.1] [P06] [P07] [P08] a session that changes its provider midway restores for each of them', async () => {
    const make = createLines()
    const openai = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA', summary: [] }
    const lines = [
      make.prompt('one'),
      make.reply(
        [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
        ],
        { provider: 'claude' },
      ),
      make.result('toolu_1', 'a'),
      make.reply(
        [
          { type: 'thinking', thinking: '', openai },
          {
            type: 'tool_use',
            id: 'call_2',
            name: 'exec_command',
            input: { cmd: 'ls' },
            openai: { type: 'function_call', id: 'fc_2' },
          },
        ],
        { provider: 'codex' },
      ),
      make.result('call_2', 'b'),
      make.reply(
        [
          {
            type: 'tool_use',
            id: 'g3',
            name: 'run_shell_command',
            input: {},
            gemini: { thoughtSignature: 'ts3' },
          },
        ],
        { provider: 'gemini' },
      ),
      make.result('g3', 'c'),
      make.reply([{ type: 'text', text: 'done' }], { provider: 'gemini' }),
    ]
    const entries = await readLines(lines)
    const anthropic = restore(entries, 'anthropic')
    expect(findAnthropicFaults(anthropic.messages)).toEqual([])
    expect(JSON.stringify(anthropic.messages)).toContain('"signature":"sig"')
    expect(JSON.stringify(anthropic.messages)).not.toContain('openai')
    expect(anthropic.losses.map(({ kind }) => kind)).toEqual(['thinking'])
    const responses = restore(entries, 'openai-responses')
    expect(findResponsesFaults(responses.messages)).toEqual([])
    expect(responses.messages).toContainEqual(openai)
    expect(responses.messages).toContainEqual({
      id: 'fc_2',
      type: 'function_call',
      call_id: 'call_2',
      name: 'exec_command',
      arguments: '{"cmd":"ls"}',
    })
    expect(responses.losses.map(({ kind }) => kind)).toEqual(['thinking'])
    const gemini = restore(entries, 'gemini')
    expect(findGeminiFaults(gemini.messages)).toEqual([])
    expect(JSON.stringify(gemini.messages)).toContain('"thoughtSignature":"ts3"')
    expect(JSON.stringify(gemini.messages)).toContain('skip_thought_signature_validator')
  })

  test('[E2.2] what a target cannot take is told, with where it was and why', async () => {
    const entries = await readLines(toEverything())
    const kinds = (target: (typeof TARGETS)[number]): readonly string[] => [
      ...new Set(restore(entries, target).losses.map(({ kind, how }) => `${kind} ${how}`)),
    ]
    expect(kinds('openai-responses')).toEqual(['media changed', 'thinking dropped', 'error-mark changed'])
    expect(kinds('openai-chat')).toEqual(['media changed', 'thinking dropped', 'error-mark changed'])
    expect(kinds('gemini')).toEqual(['media changed', 'thinking dropped', 'signature changed'])
    expect(kinds('ai-sdk')).toEqual([])
    for (const target of TARGETS)
      for (const { origin, why } of restore(entries, target).losses) {
        expect(entries.some(({ id }) => id === origin.entryId)).toBe(true)
        expect(why).not.toBe('')
      }
  })

  test("[RST2] what is made is right by the types of the providers' own SDKs", async () => {
    const entries = await readLines(toEverything())
    const literal = (target: (typeof TARGETS)[number]): string =>
      JSON.stringify(restore(entries, target).messages, undefined, 1)
    const generated = await Promise.all(
      fc
        .sample(anyConversation, { numRuns: 20, seed: 8 })
        .map(async (each) => await readLines(toAnyLines(each))),
    )
    const literals = (target: (typeof TARGETS)[number]): string =>
      JSON.stringify(generated.map((each) => restore(each, target).messages))
    for (const message of generated.flatMap((each) => restore(each, 'ai-sdk').messages))
      expect(modelMessageSchema.safeParse(message).error).toBeUndefined()
    for (const message of restore(entries, 'ai-sdk').messages)
      expect(modelMessageSchema.safeParse(message).error).toBeUndefined()
    const folder = join(temp.path, 'types')
    mkdirSync(folder)
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const source = [
      "import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'",
      "import type { ResponseInputItem } from 'openai/resources/responses/responses'",
      "import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'",
      "import type { Content } from '@google/genai'",
      `export const a: MessageParam[] = ${withoutUnknown(literal('anthropic'))}`,
      `export const b: ResponseInputItem[] = ${literal('openai-responses')}`,
      `export const c: ChatCompletionMessageParam[] = ${literal('openai-chat')}`,
      `export const d: Content[] = ${literal('gemini')}`,
      `export const e: ResponseInputItem[][] = ${literals('openai-responses')}`,
      `export const f: ChatCompletionMessageParam[][] = ${literals('openai-chat')}`,
      `export const g: Content[][] = ${literals('gemini')}`,
    ]
    writeFileSync(join(folder, 'made.ts'), source.join('\n'))
    const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      '--target',
      'es2023',
    ]
    expect(run(tsc, [...flags, 'made.ts'], folder)).toBe('')
    writeFileSync(join(folder, 'made.ts'), source.join('\n').replace('"tool_use_id"', '"tool_use"'))
    expect(run(tsc, [...flags, 'made.ts'], folder)).toContain('tool_use')
  })
})

/** A field that this version of the SDK has no type for yet is kept all the same. */
function withoutUnknown(json: string): string {
  return json.replace(/,\s*"caller": \{[^}]*\}/u, '')
}

function run(program: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  }
}
