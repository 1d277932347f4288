import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
  createLines,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  openTempDir,
  runs,
  toJsonl,
} from '#testing'
import { toAiSdk } from './ai-sdk.ts'
import { toAnthropic } from './anthropic.ts'
import { toGemini } from './gemini.ts'
import { toOpenAIChat } from './openai-chat.ts'
import { toOpenAIResponses } from './openai-responses.ts'
import { toSaid, type Said } from './said.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())
let files = 0

async function entriesOf(path: string): Promise<readonly Entry[]> {
  const file = openTranscript(path)
  try {
    return (await readConversation(file, formatOf(path))).entries
  } finally {
    file.close()
  }
}

async function saidOf(lines: readonly object[]): Promise<Said> {
  const path = join(temp.path, `${String(++files)}.jsonl`)
  mkdirSync(temp.path, { recursive: true })
  writeFileSync(path, toJsonl(lines))
  return toSaid(await entriesOf(path))
}

/** Every request that can be made of a conversation is one that its provider takes. */
function faultsOf(said: Said): readonly string[] {
  return [
    ...findAnthropicFaults(toAnthropic(said).messages).map((fault) => `anthropic ${fault}`),
    ...findResponsesFaults(toOpenAIResponses(said).input).map((fault) => `responses ${fault}`),
    ...findChatFaults(toOpenAIChat(said).messages).map((fault) => `chat ${fault}`),
    ...findGeminiFaults(toGemini(said).contents).map((fault) => `gemini ${fault}`),
  ]
}

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const media = fc.oneof(
  fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }),
  fc.constant({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
  fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'Qk0=' } }),
  fc.constant({
    type: 'document',
    title: 'a',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  }),
  fc.constant({ type: 'document', source: { type: 'text', media_type: 'text/markdown', data: '# A' } }),
)
const output = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words.map((text) => ({ type: 'text', text })),
      media,
    ),
    { maxLength: 3 },
  ),
)

type Step =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'media'; readonly block: object }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string; readonly signature: string }
  | {
      readonly kind: 'call'
      readonly names: readonly string[]
      readonly output: unknown
      readonly answered: number
    }
  | { readonly kind: 'orphan' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('prompt' as const), text: words }),
  fc.record({ kind: fc.constant('media' as const), block: media }),
  fc.record({ kind: fc.constant('say' as const), text: words }),
  fc.record({ kind: fc.constant('think' as const), text: words, signature: fc.constantFrom('', 'sig') }),
  fc.record({
    kind: fc.constant('call' as const),
    names: fc.array(fc.constantFrom('Bash', 'Read', 'mcp__a.b__c', 'ein Werkzeug'), {
      minLength: 1,
      maxLength: 3,
    }),
    output,
    answered: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ kind: fc.constant('orphan' as const) }),
)

function toLines(steps: readonly Step[]): readonly object[] {
  const make = createLines()
  const lines: object[] = [make.prompt('begin')]
  let calls = 0
  for (const each of steps) {
    switch (each.kind) {
      case 'prompt':
        lines.push(make.prompt(each.text))
        break
      case 'media':
        lines.push(make.prompt('', { message: { role: 'user', content: [each.block] } }))
        break
      case 'say':
        lines.push(make.reply([{ type: 'text', text: each.text }]))
        break
      case 'think':
        lines.push(make.reply([{ type: 'thinking', thinking: each.text, signature: each.signature }]))
        break
      case 'call': {
        const ids = each.names.map((name) => `toolu_${name.length}.${String(++calls)}`)
        lines.push(
          make.reply(each.names.map((name, at) => ({ type: 'tool_use', id: ids[at], name, input: { at } }))),
        )
        for (const id of ids.slice(0, each.answered)) lines.push(make.result(id, each.output))
        break
      }
      case 'orphan':
        lines.push(make.result('toolu_nobody', 'lost'))
        break
    }
  }
  return lines
}

describe('a conversation for a provider', () => {
  test('[E2.1] whatever was said and however it broke off, every provider takes what is made of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        expect(faultsOf(await saidOf(toLines(steps)))).toEqual([])
      }),
      runs(150),
    )
  })

  test('[E2.1] every recorded session of Claude Code gives requests that are taken', async () => {
    const root = join(import.meta.dirname, '../../test/fixtures/claude')
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /projects.*\.jsonl$/u.test(name),
    )
    expect(paths.length).toBeGreaterThan(40)
    for (const name of paths) {
      const said = toSaid(await entriesOf(join(root, name)))
      if (said.messages.length === 0) continue
      expect.soft(faultsOf(said), name).toEqual([])
      expect(toAiSdk(said).messages.length).toBeGreaterThan(0)
    }
  })
})
