import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { list, object, parseJson } from '#base'
import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
  findAiSdkFaults,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  generatedSteps,
  openTempDir,
  runs,
  toGeneratedLines,
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

function blocksIn({ raw }: Entry): readonly string[] {
  const content = object(parseJson(new TextDecoder().decode(raw)), 'message')?.['content']
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : list({ content }, 'content')
  return blocks.map((block) => JSON.stringify(block))
}

/** Every request that can be made of a conversation is one that its provider takes. */
async function faultsOf(said: Said): Promise<readonly string[]> {
  return [
    ...findAnthropicFaults(toAnthropic(said).messages).map((fault) => `anthropic ${fault}`),
    ...findResponsesFaults(toOpenAIResponses(said).input).map((fault) => `responses ${fault}`),
    ...findChatFaults(toOpenAIChat(said).messages).map((fault) => `chat ${fault}`),
    ...findGeminiFaults(toGemini(said).contents).map((fault) => `gemini ${fault}`),
    ...(await findAiSdkFaults(toAiSdk(said).messages)).map((fault) => `ai ${fault}`),
  ]
}

describe('a conversation for a provider', () => {
  test('[E2.1] whatever was said and however it broke off, every provider takes what is made of it', async () => {
    await fc.assert(
      fc.asyncProperty(generatedSteps, async (steps) => {
        expect(await faultsOf(await saidOf(toGeneratedLines(steps)))).toEqual([])
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
      expect.soft(await faultsOf(said), name).toEqual([])
    }
  })

  test('[E2.1] every block of a recorded session of Claude Code goes back to Anthropic as it stands in its line', async () => {
    const root = join(import.meta.dirname, '../../test/fixtures/claude')
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    let blocks = 0
    for (const name of names.filter((each) => /projects.*\.jsonl$/u.test(each))) {
      const entries = await entriesOf(join(root, name))
      const { messages, losses } = toAnthropic(toSaid(entries))
      const lines = new Set(entries.flatMap(blocksIn))
      const strange = messages
        .flatMap(({ content }) => content)
        .filter((block) => !lines.has(JSON.stringify(block)))
      // What is not as it stood is told: added, or changed.
      expect
        .soft(strange.length, name)
        .toBeLessThanOrEqual(losses.filter(({ how }) => how !== 'dropped').length)
      blocks += messages.flatMap(({ content }) => content).length - strange.length
    }
    expect(blocks).toBeGreaterThan(300)
  })
})
