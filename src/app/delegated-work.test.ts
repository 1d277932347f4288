import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, list } from '#base'
import { factsToCounts, type Passage, type SessionSummary } from '#model'
import { toTerminal } from '#render'
import {
  createLines,
  joinPieces,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type ChainLine,
  type LineMaker,
  type TempDir,
} from '#testing'
import { fromWireReading, toWireReading, type WireBytes } from '#wire'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import { exportSession } from './session-export.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline

beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

const AGENT = 'a0b1c2d'
const CALL = 'toolu_task'

/** A line of the subagent's conversation, as clients wrote it into the session's file. */
function progress(lines: LineMaker, inner: ChainLine, fields: object = {}): object {
  const { type, message, requestId, uuid, timestamp } = inner
  const said = {
    type,
    message,
    uuid: `${uuid}-inner`,
    timestamp,
    ...(requestId === undefined ? {} : { requestId }),
  }
  const data = { message: said, normalizedMessages: [], type: 'agent_progress', prompt: '', agentId: AGENT }
  return lines.attachment('', {
    type: 'progress',
    attachment: undefined,
    data,
    toolUseID: 'agent_msg_1',
    parentToolUseID: CALL,
    uuid,
    ...fields,
  })
}

/** A session of a subagent that looks for a kumquat, found it in a file, and says so in words of its own. */
function session(fields: object = {}): {
  readonly main: readonly object[]
  readonly subagent: readonly ChainLine[]
} {
  const lines = createLines()
  const apart = createLines()
  const own = [
    apart.prompt('find the greengage'),
    apart.reply([{ type: 'tool_use', id: 'toolu_in', name: 'Grep', input: { pattern: 'kumquat' } }]),
    apart.result('toolu_in', 'orchard.txt: a persimmon'),
    apart.reply([{ type: 'text', text: 'There is a mangosteen.' }]),
  ].map((line): ChainLine => ({ ...line, uuid: `sub-${line.uuid}`, message: inMessage(line) }))
  const main = [
    lines.prompt('begin'),
    lines.reply([
      { type: 'tool_use', id: CALL, name: 'Task', input: { prompt: 'look', subagent_type: 'Explore' } },
    ]),
    ...own.map((line) => progress(lines, line, fields)),
    lines.result(CALL, 'done', { toolUseResult: { agentId: AGENT } }),
    lines.reply([{ type: 'text', text: 'ok' }]),
  ]
  return { main, subagent: own }
}

/** The same as clients before 2.1 wrote it: lines of the session's file that are marked, and hang from each other. */
function inlineSession(): readonly object[] {
  const { main, subagent } = session()
  const own = subagent.map((line, at) => ({
    ...line,
    isSidechain: true,
    parentUuid: at === 0 ? null : subagent[at - 1]?.uuid,
  }))
  const rest = main.filter((line) => !('data' in line))
  const told = JSON.stringify(rest).replaceAll('"prompt":"look"', '"prompt":"find the greengage"')
  const [begin, call, result, ...end] = list({ told: JSON.parse(told) }, 'told').filter(isObject)
  const answered = { ...result, parentUuid: call?.['uuid'] }
  return [begin, call, ...own, answered, ...end].map((line) => ({ ...line, version: '1.0.64' }))
}

/** Messages of the subagent have ids of their own. */
function inMessage({ message }: ChainLine): unknown {
  return isObject(message) && typeof message['id'] === 'string'
    ? { ...message, id: `sub_${message['id']}` }
    : message
}

async function open(index: boolean): Promise<SessionSummary> {
  throughline = await openThroughline({
    index,
    restMs: 20,
    env: {
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
  if (index) await expect.poll(async () => (await throughline.health()).index.state).toBe('complete')
  return await throughline.get(SESSION)
}

/** How often a word is said on each way out. */
async function timesSaid(found: SessionSummary, word: string): Promise<Readonly<Record<string, number>>> {
  const count = (text: string): number => text.split(word).length - 1
  const subagent = (id: string): ReturnType<typeof throughline.passages> =>
    throughline.passages(found, { subagent: id })
  const passages = throughline.passages(found)
  const look = { width: 200, colour: false, full: true }
  return {
    hits: (await throughline.search({ q: word })).hits.length,
    terminal: count(await joinPieces(toTerminal({ session: found, passages, subagent }, look))),
    html: count(await joinPieces(exportSession(throughline, found, { format: 'html' }))),
    md: count(await joinPieces(exportSession(throughline, found, { format: 'md' }))),
  }
}

const WORDS = ['greengage', 'kumquat', 'persimmon', 'mangosteen']
const ONCE = { hits: 1, terminal: 1, html: 1, md: 1 }

async function everyWord(found: SessionSummary): Promise<void> {
  for (const word of WORDS) {
    const times = await timesSaid(found, word)
    expect({ word, times }).toEqual({ word, times: ONCE })
  }
}

async function figures(found: SessionSummary): Promise<unknown> {
  const { facts } = await throughline.survey(found)
  const { prompts, replies, toolCalls, turns, usage } = found.counts ?? (facts && factsToCounts(facts)) ?? {}
  const { total } = await throughline.usage({ by: 'day' })
  return {
    prompts,
    replies,
    toolCalls,
    turns,
    output: usage?.output,
    billed: total.usage.output,
    of: total.messages,
  }
}

/** The session's own conversation, and the tokens of both: four replies of five tokens each. */
const FIGURES = { prompts: 1, replies: 2, toolCalls: 1, turns: 1, output: 20, billed: 20, of: 4 }

describe.each([false, true])('[READ30] with an index: %s', (index) => {
  test('what a subagent without a file of its own said is shown under its call, found, exported and billed', async () => {
    const { main } = session()
    await writeTranscript(join(dir.path, 'claude'), toJsonl(main))
    const found = await open(index)
    await everyWord(found)
    expect(await figures(found)).toEqual(FIGURES)
    const [hit] = (await throughline.search({ q: 'persimmon kind:result tool:Grep' })).hits
    expect(hit?.entry.kind).toBe('result')
    const around = await throughline.page(found, { around: { entry: hit?.entry.id ?? '' }, limit: 20 })
    expect(around.readings.length).toBeGreaterThan(3)
    const { entries } = { entries: await throughline.conversation(found) }
    expect(JSON.stringify(entries)).not.toContain('"kind":"reply","messageId":"sub_')
  })

  test('so it is where its lines stand among those of the session, as clients before 2.1 wrote them', async () => {
    await writeTranscript(join(dir.path, 'claude'), toJsonl(inlineSession()))
    const found = await open(index)
    for (const word of WORDS) {
      const times = await timesSaid(found, word)
      // The prompt of the call says it too.
      const isTold = word === 'greengage'
      expect({ word, times }).toEqual({
        word,
        times: isTold ? { hits: 2, terminal: 2, html: 2, md: 2 } : ONCE,
      })
    }
    expect(await figures(found)).toEqual(FIGURES)
    const [hit] = (await throughline.search({ q: 'persimmon kind:result tool:Grep' })).hits
    expect(hit?.entry.kind).toBe('result')
    const said = (await throughline.conversation(found)).map(({ kind }) => kind)
    expect(said).toEqual(['prompt', 'reply', 'result', 'reply'])
    const passages: Passage[] = []
    for await (const batch of throughline.passages(found)) passages.push(...batch)
    expect(passages.map(({ kind }) => kind)).toEqual(['prompt', 'reply', 'reply'])
  })

  test('what a subagent said crosses the network as it is', async () => {
    const { main } = session()
    await writeTranscript(join(dir.path, 'claude'), toJsonl(main))
    const { readings } = await throughline.page(await open(index), { limit: 50 })
    const codec = {
      toWire: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
      fromWire: (bytes: WireBytes) =>
        Uint8Array.from(Buffer.from(typeof bytes === 'string' ? bytes : bytes.base64)),
    }
    const back = readings.map((reading) => {
      const wire: unknown = JSON.parse(JSON.stringify(toWireReading(reading, codec)))
      return fromWireReading(wire, codec)
    })
    const plain = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (key, inner) => (key === 'raw' ? 0 : inner)))
    expect(plain(back)).toEqual(plain(readings))
    const delegated = back.flatMap((reading) =>
      reading.kind === 'entry' && reading.entry.kind === 'delegated' ? [reading.entry] : [],
    )
    expect(delegated).toHaveLength(4)
    for (const { work } of delegated) expect(work.raw).toBeInstanceOf(Uint8Array)
  })

  test('a secret in what a subagent said is in no export', async () => {
    const { main } = session()
    const token = `ghp_${'Aw4zK9xQ2mN7pR1tV5bY'.repeat(2).slice(0, 36)}`
    await writeTranscript(join(dir.path, 'claude'), toJsonl(main).replaceAll('mangosteen', token))
    const found = await open(index)
    for (const format of ['md', 'html'] as const) {
      const text = await joinPieces(exportSession(throughline, found, { format }))
      expect(text).toContain('There is a')
      expect(text).not.toContain(token)
    }
  })

  test('a subagent with a file of its own is shown, found and billed from it, and once', async () => {
    const { main, subagent } = session()
    const path = await writeTranscript(join(dir.path, 'claude'), toJsonl(main))
    const folder = join(path.replace(/\.jsonl$/, ''), 'subagents')
    await mkdir(folder, { recursive: true })
    const file = subagent.map((line) => ({ ...line, isSidechain: true, agentId: AGENT }))
    await writeFile(join(folder, `agent-${AGENT}.jsonl`), toJsonl(file))
    const found = await open(index)
    expect(found.subagents).toHaveLength(1)
    await everyWord(found)
    expect(await figures(found)).toEqual(FIGURES)
  })

  test('a message that the file of the subagent lacks is billed', async () => {
    const { main, subagent } = session()
    const path = await writeTranscript(join(dir.path, 'claude'), toJsonl(main))
    const folder = join(path.replace(/\.jsonl$/, ''), 'subagents')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `agent-${AGENT}.jsonl`), toJsonl(subagent.slice(0, 2)))
    expect(await figures(await open(index))).toEqual(FIGURES)
  })

  test('a subagent whose call was never written is shown where its lines stand', async () => {
    const { main } = session({ parentToolUseID: 'toolu_never' })
    await writeTranscript(join(dir.path, 'claude'), toJsonl(main))
    const found = await open(index)
    for (const word of WORDS) {
      const times = await timesSaid(found, word)
      for (const way of Object.keys(ONCE)) expect([word, way, times[way]]).not.toEqual([word, way, 0])
    }
    expect(await figures(found)).toEqual(FIGURES)
  })
})
