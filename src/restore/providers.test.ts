import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
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

/** Every request that can be made of a conversation is one that its provider takes. */
function faultsOf(said: Said): readonly string[] {
  return [
    ...findAnthropicFaults(toAnthropic(said).messages).map((fault) => `anthropic ${fault}`),
    ...findResponsesFaults(toOpenAIResponses(said).input).map((fault) => `responses ${fault}`),
    ...findChatFaults(toOpenAIChat(said).messages).map((fault) => `chat ${fault}`),
    ...findGeminiFaults(toGemini(said).contents).map((fault) => `gemini ${fault}`),
  ]
}

describe('a conversation for a provider', () => {
  test('[E2.1] whatever was said and however it broke off, every provider takes what is made of it', async () => {
    await fc.assert(
      fc.asyncProperty(generatedSteps, async (steps) => {
        expect(faultsOf(await saidOf(toGeneratedLines(steps)))).toEqual([])
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
