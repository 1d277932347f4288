import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { parseJson } from '#base'
import type { Block } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
  anyConversation,
  generatedSteps,
  openTempDir,
  plantOpencode,
  readAgentSessions,
  runs,
  toAnyLines,
  toGeneratedLines,
  toJsonl,
} from '#testing'
import { toSaid, type Said } from '../said.ts'
import { toNativeSession } from './convert.ts'
import { findUntold } from './differences.ts'
import { NATIVE_AGENTS } from '#model'
import type { NativeFacts, NativeSession } from './session.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())
let files = 0

const FACTS: NativeFacts = {
  source: { agent: 'claude', sessionId: 'session-1' },
  workdir: '/home/user/work/made',
  created: '2026-11-15T08:00:00.000Z',
}

async function read(lines: readonly object[]): Promise<Said> {
  const path = join(temp.path, `${String(++files)}.jsonl`)
  writeFileSync(path, toJsonl(lines))
  const file = openTranscript(path)
  try {
    return toSaid((await readConversation(file, formatOf(path))).entries)
  } finally {
    file.close()
  }
}

/** What the reader of that agent's sessions makes of one that was written. */
async function readBack({ agent, files: [file], workdir }: NativeSession): Promise<Said> {
  const root = join(temp.path, `root-${String(++files)}`)
  const path = join(root, file?.path ?? '')
  mkdirSync(dirname(path), { recursive: true })
  if (agent === 'opencode') plantOpencode(root, parseJson(file?.text ?? ''))
  else writeFileSync(path, file?.text ?? '')
  if (agent === 'gemini') writeFileSync(join(dirname(path), '../.project_root'), workdir)
  const sessions = await readAgentSessions(agent, root, join(root, 'scratch'))
  return toSaid([...sessions.values()][0] ?? [])
}

interface Thing {
  readonly what: string
  readonly entryId: string
}

/** Everything that was said and done, in order. Calls are told by their number, because ids may be others. */
function thingsOf({ messages }: Said): readonly Thing[] {
  const numbers = new Map<string, number>()
  return messages.flatMap(({ role, blocks }) =>
    blocks.map(({ block, origin: { entryId } }) => {
      if (block.kind === 'tool-use') numbers.set(block.id, numbers.size)
      const number = block.kind === 'tool-result' ? numbers.get(block.toolUseId) : numbers.size - 1
      return { entryId, what: `${role} ${String(number)} ${contentOf(block)}` }
    }),
  )
}

function contentOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `text ${block.text}`
    case 'thinking':
      return `thinking ${block.thinking}`
    case 'redacted-thinking':
      return 'redacted'
    case 'tool-use':
      return `call ${block.name} ${JSON.stringify(block.input)}`
    case 'tool-result': {
      const texts = block.content.flatMap((each) => (each.kind === 'text' ? [each.text] : []))
      const rest = block.content.filter(({ kind }) => kind !== 'text').map(contentOf)
      return `result ${block.isError ? 'failed ' : ''}${texts.join('\n\n')}${rest.join()}`
    }
    case 'image':
    case 'document':
      return `${block.kind} ${JSON.stringify(block.source)}`
    case 'unknown':
      return `unknown ${JSON.stringify(block.value)}`
  }
}

/** What is in the first and not in the second, where the order counts. */
function findMissing(things: readonly Thing[], among: readonly Thing[]): readonly Thing[] {
  let from = 0
  return things.filter(({ what }) => {
    const at = among.findIndex((other, index) => index >= from && other.what === what)
    if (at === -1) return true
    from = at + 1
    return false
  })
}

test.each(NATIVE_AGENTS)(
  '[NAT9] whatever was said comes back from a session of %s in the same order, or is among the losses',
  async (agent) => {
    await fc.assert(
      fc.asyncProperty(generatedSteps, async (steps) => {
        const said = await read(toGeneratedLines(steps))
        const session = toNativeSession(agent, said, FACTS)
        const back = await readBack(session)
        const lost = new Set(session.losses.map(({ origin: { entryId } }) => entryId))
        const before = thingsOf(said)
        const after = thingsOf(back)
        const unsaid = findMissing(before, after).filter(({ entryId }) => !lost.has(entryId))
        expect(unsaid).toEqual([])
        expect(findMissing(after, before).length).toBeLessThanOrEqual(session.losses.length)
        const calls = (things: readonly Thing[], kind: string): number =>
          things.filter(({ what }) => what.includes(` ${kind} `)).length
        expect([calls(after, 'call'), calls(after, 'result')]).toEqual([
          calls(before, 'call'),
          calls(before, 'result'),
        ])
        expect(back.pending).toEqual([])
        expect(findUntold(said, back, session.losses)).toEqual([])
      }),
      runs(30),
    )
  },
)

test.each(NATIVE_AGENTS)(
  '[NAT9] no kind of content disappears on the way to %s without a loss that names it',
  async (agent) => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        const said = await read(toAnyLines(messages))
        const session = toNativeSession(agent, said, FACTS)
        expect(findUntold(said, await readBack(session), session.losses)).toEqual([])
      }),
      runs(30),
    )
  },
)
