import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { exportSession, openThroughline, type LocalThroughline } from '#app'
import { field, isObject, string } from '#base'
import { transcriptsOf, type Passage, type SessionSummary } from '#model'
import { redact } from '#redact'
import { createBillReader, openTranscript } from '#sources'
import {
  createLines,
  joinPieces,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type ChainLine,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeOpencode } from './transcribed-place.ts'
import { chatsBelow, costsOf, partsBelow, recordsOf, type Agent } from './written-records.ts'
import { stringsIn, wordsOf } from './written-words.ts'

/**
 * What stands in a transcript and is of a person or a model is in what is shown, found, exported and billed. What that
 * is, is read here from the lines themselves, with none of the code that reads them elsewhere.
 */
const fixtures = join(import.meta.dirname, 'fixtures')

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

/** Letters and digits: what markup, wrapping and escapes leave. Secrets are masked on the way out. */
const toLetters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, '')

function linesOf(text: string): readonly string[] {
  return redact(text)
    .text.split('\n')
    .map(toLetters)
    .filter((line) => line.length > 2)
}

/** What the agent itself wrote of a session. Gemini CLI and opencode have it under other names than ours. */
function writtenOf(agent: Agent, name: string, session: SessionSummary): readonly unknown[] {
  const folder = join(fixtures, agent, name)
  switch (agent) {
    case 'claude':
    case 'codex':
      return transcriptsOf(session).flatMap(recordsOf)
    case 'gemini':
      return chatsBelow(folder)
        .filter((records) => string(records[0], 'sessionId') === session.id)
        .flat()
    case 'opencode': {
      const own = new Set([session.id, ...session.subagents.map(({ id }) => id)])
      return partsBelow(folder).filter((part) => own.has(part.sessionId))
    }
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/gu, (_, name: string) => ENTITIES[name] ?? '')

/** In Markdown most angle brackets are words. */
const OUR_TAGS = /<\/?(?:details|summary|b|code)(?: open)?>/gu

const PIECE = 60

/** A long text may be cut in one place, and is unfolded there; the number of a list's first item is markup. */
function isIn(out: string, line: string): boolean {
  if (out.includes(line) || out.includes(line.replace(/^\d+/u, ''))) return true
  if (line.length < 4 * PIECE) return false
  const pieces = line.match(new RegExp(`.{1,${PIECE}}`, 'gsu')) ?? []
  return pieces.filter((piece) => !out.includes(piece)).length <= 1
}

/** Paths in the folder of the session are told from there. */
function within(line: string, { workdirs }: SessionSummary): string {
  return workdirs.reduce((rest, workdir) => rest.replace(toLetters(workdir), ''), line)
}

async function* shown(throughline: LocalThroughline, session: SessionSummary): AsyncGenerator<Passage> {
  for (const subagent of [undefined, ...session.subagents.map(({ id }) => id)])
    for await (const batch of throughline.passages(session, subagent === undefined ? {} : { subagent }))
      yield* batch
}

/** Where the words of a session are looked for. */
async function waysOut(
  throughline: LocalThroughline,
  session: SessionSummary,
): Promise<Readonly<Record<string, string>>> {
  const parts: string[] = []
  for await (const passage of shown(throughline, session)) {
    if (passage.kind === 'damage') continue
    const { entries: _entries, ...said } = passage
    parts.push(...stringsIn(redactedOf(said)))
  }
  return {
    passages: parts.join('\n'),
    md: decoded(
      (await joinPieces(exportSession(throughline, session, { format: 'md' }))).replaceAll(OUR_TAGS, ' '),
    ),
    html: decoded(
      (await joinPieces(exportSession(throughline, session, { format: 'html' }))).replaceAll(
        /<[^<>]*>/gu,
        ' ',
      ),
    ),
  }
}

function redactedOf(value: unknown): unknown {
  if (typeof value === 'string') return redact(value).text
  if (Array.isArray(value)) return value.map(redactedOf)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactedOf(inner)]))
}

/** What no recorded session has: forms in which older clients wrote words down. */
async function makeOlder(config: string): Promise<void> {
  const lines = createLines()
  const apart = createLines()
  const inProgress = (inner: ChainLine): object =>
    lines.attachment('', {
      type: 'progress',
      attachment: undefined,
      parentToolUseID: 'toolu_task',
      data: { type: 'agent_progress', agentId: 'a1', message: inner, normalizedMessages: [] },
    })
  const queued = (content: string): object => ({
    type: 'queue-operation',
    operation: 'enqueue',
    sessionId: SESSION,
    content,
  })
  const inline = (some: readonly ChainLine[]): readonly object[] =>
    some.map((line, at) => ({
      ...line,
      isSidechain: true,
      version: '1.0.64',
      parentUuid: at === 0 ? null : `inline-${some[at - 1]?.uuid}`,
      uuid: `inline-${line.uuid}`,
    }))
  const own = (line: ChainLine): ChainLine => ({ ...line, requestId: `sub_${line.uuid}` })
  await writeTranscript(
    config,
    toJsonl([
      lines.prompt('begin with the mirabelle'),
      lines.reply([
        { type: 'tool_use', id: 'toolu_task', name: 'Task', input: { prompt: 'look around there' } },
      ]),
      inProgress(apart.prompt('find the greengage tree')),
      inProgress(
        own(
          apart.reply([
            { type: 'tool_use', id: 'toolu_in', name: 'Grep', input: { pattern: 'kumquat bush' } },
          ]),
        ),
      ),
      inProgress(apart.result('toolu_in', 'orchard: a persimmon here')),
      queued('never delivered mulberry words'),
      lines.result('toolu_task', 'the subagent is done'),
      // Clients before 2.1: lines of the session, marked.
      lines.reply([
        { type: 'tool_use', id: 'toolu_old', name: 'Task', input: { prompt: 'look for the medlar' } },
      ]),
      ...inline([
        own(apart.prompt('look for the medlar')),
        own(apart.reply([{ type: 'text', text: 'behind the whitebeam hedge' }])),
      ]),
      lines.result('toolu_old', 'the old subagent is done'),
      lines.reply([
        { type: 'text', text: '| one | two |\n|---|---|\n| a \\| b | medlar fruit | quince beyond |' },
      ]),
    ]),
  )
}

const SCENARIOS: readonly (readonly [Agent, string])[] = [
  ['claude', 'older forms'] as const,
  ...readdirSync(join(fixtures, 'claude'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) => readdirSync(join(fixtures, 'claude', name, 'config')).includes('projects'))
    .map(({ name }) => ['claude', name] as const),
  ...(['codex', 'gemini', 'opencode'] as const).flatMap((agent) =>
    readdirSync(join(fixtures, agent)).map((name) => [agent, name] as const),
  ),
]

async function openAt(agent: Agent, name: string): Promise<LocalThroughline> {
  const nowhere = join(dir.path, 'nowhere')
  const from = join(fixtures, agent, name)
  const data = join(dir.path, 'data', name)
  if (agent === 'opencode' && readdirSync(from).includes('storage'))
    cpSync(from, join(data, 'opencode'), { recursive: true })
  else if (agent === 'opencode') writeOpencode(join(data, 'opencode'), from)
  const made = join(dir.path, 'made')
  if (name === 'older forms') await makeOlder(made)
  const claude = name === 'older forms' ? made : join(fixtures, 'claude', name, 'config')
  return await openThroughline({
    index: false,
    env: {
      HOME: dir.path,
      CLAUDE_CONFIG_DIR: agent === 'claude' ? claude : nowhere,
      CODEX_HOME: agent === 'codex' ? from : nowhere,
      GEMINI_CLI_HOME: agent === 'gemini' ? homeOfGemini(from) : nowhere,
      XDG_DATA_HOME: agent === 'opencode' ? data : nowhere,
      THROUGHLINE_HOME: join(dir.path, 'home', agent, name),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
}

/** It looks into `.gemini` there. */
function homeOfGemini(from: string): string {
  const home = join(dir.path, 'gemini', basename(from))
  cpSync(from, join(home, '.gemini'), { recursive: true })
  return home
}

/** The first words of a text, as somebody would type them who looks for it. */
function toQuestion(text: string): string | undefined {
  const words = text.match(/(?<![\p{L}\p{N}_])[A-Za-z]{3,20}(?![\p{L}\p{N}_])/gu)?.slice(0, 3) ?? []
  return redact(text).text !== text || words.length < 2 ? undefined : words.join(' ')
}

/** Where a line has figures, and why they are billed or not. */
function* usageIn(line: unknown): Generator<readonly [billed: string | undefined, why: string]> {
  const type = string(line, 'type')
  const inner = type === 'progress' ? field(field(line, 'data'), 'message') : line
  const message = field(inner, 'message')
  if (isObject(field(message, 'usage'))) {
    const isReply = (type === 'progress' ? string(inner, 'type') : type) === 'assistant'
    const isMade = string(message, 'model') === '<synthetic>'
    const key = `${string(message, 'id')} ${string(inner, 'requestId') ?? ''}`
    yield isReply && !isMade ? [key, 'a reply'] : [undefined, isMade ? 'made up by the client' : 'no reply']
  }
  if (isObject(field(field(line, 'toolUseResult'), 'usage')))
    yield [undefined, 'repeats what a subagent was billed']
}

/** Every place where a line says `usage` is one of the above. */
const countUsage = (value: unknown): number =>
  isObject(value) || Array.isArray(value)
    ? Object.entries(value).reduce(
        (sum, [key, inner]) => sum + (key === 'usage' && isObject(inner) ? 1 : countUsage(inner)),
        0,
      )
    : 0

const strings = new Map<Agent, number>()
const questions = new Map<Agent, number>()
const bills = new Map<Agent, number>()
const add = (counts: Map<Agent, number>, agent: Agent, more: number): void => {
  counts.set(agent, (counts.get(agent) ?? 0) + more)
}
describe.each(SCENARIOS)('%s %s', (agent, name) => {
  let throughline: LocalThroughline
  let sessions: readonly SessionSummary[] = []
  beforeAll(async () => {
    throughline = await openAt(agent, name)
    sessions = (await throughline.list()).sessions
  })
  afterAll(() => throughline.close())
  const saidIn = (session: SessionSummary): ReadonlySet<string> =>
    new Set(writtenOf(agent, name, session).flatMap((record) => [...wordsOf(record)]))

  test('[READ32] every string of a person or a model is shown and exported', async () => {
    const missing = new Set<string>()
    for (const session of sessions) {
      const ways = Object.entries(await waysOut(throughline, session)).map(
        ([way, text]): [string, string] => [way, toLetters(text)],
      )
      for (const text of saidIn(session))
        for (const line of linesOf(text)) {
          add(strings, agent, 1)
          for (const [way, out] of ways)
            if (!isIn(out, line) && !isIn(out, within(line, session)))
              missing.add(`${way}: ${line.slice(0, 80)}`)
        }
    }
    expect([...missing]).toEqual([])
  })

  test('[READ32] every line is in the export of lines', async () => {
    for (const session of sessions) {
      const out = await joinPieces(exportSession(throughline, session, { format: 'jsonl' }))
      const has = new Set(out.split('\n').map(toLetters))
      const [own = ''] = transcriptsOf(session)
      // The first Codex wrote one object on many lines.
      if (!own.endsWith('.jsonl')) continue
      const lost = readFileSync(own, 'utf8')
        .split('\n')
        .filter((line) => !has.has(toLetters(line)) && !has.has(toLetters(redact(line).text)))
      expect(lost).toEqual([])
    }
  })

  test('[READ32] every string of a person or a model is found', async () => {
    const lost: string[] = []
    for (const session of sessions)
      for (const q of new Set([...saidIn(session)].map(toQuestion))) {
        if (q === undefined) continue
        add(questions, agent, 1)
        const { hits } = await throughline.search({ q, limit: 1 })
        if (hits.length === 0) lost.push(q)
      }
    expect(lost).toEqual([])
  })

  test('[READ32] every record of usage is billed once, or there is a reason', async () => {
    const billed = agent === 'claude' ? await claudeBills(sessions) : await billsOf(agent, name, throughline)
    expect(billed.found).toEqual(billed.expected)
    add(bills, agent, billed.count)
  })
})

/** What is billed, and what the records say. */
interface Bills {
  readonly found: readonly unknown[]
  readonly expected: readonly unknown[]
  readonly count: number
}

async function claudeBills(sessions: readonly SessionSummary[]): Promise<Bills> {
  const reader = createBillReader()
  const found: string[] = []
  const expected: string[] = []
  for (const path of sessions.flatMap(transcriptsOf)) {
    const lines = recordsOf(path)
    const records = lines.flatMap((line) => [...usageIn(line)])
    expect(records).toHaveLength(lines.reduce<number>((sum, line) => sum + countUsage(line), 0))
    expected.push(...[...new Set(records.flatMap(([key]) => key ?? []))].toSorted())
    const file = openTranscript(path)
    const { messages } = await reader.read(file)
    file.close()
    const keys = messages.map(({ key }) => key).filter((key) => !key.startsWith('compaction '))
    found.push(...keys.toSorted())
  }
  return { found, expected, count: found.length }
}

/** Of the other agents the sums are compared: what tells two answers apart is another name for us. */
async function billsOf(agent: Agent, name: string, throughline: LocalThroughline): Promise<Bills> {
  const costs = [...costsOf(agent, name).values()]
  const { total } = await throughline.usage({ by: 'session' })
  const { input, output, cacheRead } = total.usage
  const sums = [0, 1, 2].map((at) => costs.reduce((sum, cost) => sum + (cost[at] ?? 0), 0))
  return {
    found: [total.messages, input, output, cacheRead],
    expected: [costs.length, ...sums],
    count: costs.length,
  }
}

test.each(['claude', 'codex', 'gemini', 'opencode'] as const)(
  '[READ32] there is something of %s to find: a test of nothing would pass',
  (agent) => {
    const found = [strings, questions, bills].map((counts) => counts.get(agent) ?? 0)
    expect(found.map((amount, at) => amount > (LEAST[agent][at] ?? 0))).toEqual([true, true, true])
  },
)

/** Strings, questions, bills. */
const LEAST: Readonly<Record<Agent, readonly number[]>> = {
  claude: [500, 200, 100],
  codex: [150, 80, 40],
  gemini: [60, 50, 10],
  opencode: [50, 40, 15],
}
