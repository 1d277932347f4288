import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toAiSdk, toAnthropic, toGemini, toOpenAIChat, toOpenAIResponses, toSaid, type Said } from '#restore'
import {
  createGeminiSource,
  createOpencodeSource,
  openTranscript,
  readConversation,
  type Source,
} from '#sources'
import {
  findAiSdkFaults,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  openTempDir,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeOpencode } from './transcribed-place.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

const fixtures = join(import.meta.dirname, 'fixtures')
const scenarios = ['gemini', 'opencode'].flatMap((agent) =>
  readdirSync(join(fixtures, agent)).map((name) => ({ agent, name })),
)

function openSource(agent: string, fixture: string): Source {
  const dir = join(temp.path, 'transcribed')
  if (agent === 'gemini') return createGeminiSource(fixture, dir)
  if (existsSync(join(fixture, 'storage'))) return createOpencodeSource(fixture, dir)
  writeOpencode(join(temp.path, 'data'), fixture)
  return createOpencodeSource(join(temp.path, 'data'), dir)
}

async function faultsOf(said: Said): Promise<readonly string[]> {
  return [
    ...findAnthropicFaults(toAnthropic(said).messages),
    ...findResponsesFaults(toOpenAIResponses(said).input),
    ...findChatFaults(toOpenAIChat(said).messages),
    ...findGeminiFaults(toGemini(said).contents),
    ...(await findAiSdkFaults(toAiSdk(said).messages)),
  ]
}

test.each(scenarios)(
  '[TRS10] what was said in $agent $name can be said to every provider',
  async ({ agent, name }) => {
    const source = openSource(agent, join(fixtures, agent, name))
    const { sessions } = await source.list()
    expect(sessions.length).toBeGreaterThan(0)
    for (const { path, state, firstPrompt } of sessions) {
      const file = openTranscript(path)
      try {
        const { entries, bridges } = await readConversation(file, source.format)
        expect(bridges).toEqual([])
        const said = toSaid(entries)
        if (state === 'empty') continue
        expect(await faultsOf(said)).toEqual([])
        const words = JSON.stringify(toGemini(said).contents)
        expect(words.includes(JSON.stringify(firstPrompt).slice(1, -1)) || name === 'compacted').toBe(true)
        expect(said.pending).toHaveLength(agent === 'opencode' && name === 'killed-HANGTOOL' ? 1 : 0)
      } finally {
        file.close()
      }
    }
  },
)
