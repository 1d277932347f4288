import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportSession, openThroughline, type LocalThroughline } from '#app'
import { field, isObject, parseJson, string } from '#base'
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

/** Words of a person or a model, each line for itself. */
function* wordsOf(line: unknown): Generator<string> {
  const type = string(line, 'type')
  if (type === 'user' || type === 'assistant') {
    const message = field(line, 'message')
    // Neither is said by anybody: what the client adds for the model, and what it puts in the place of an answer.
    if (field(line, 'isMeta') === true || string(message, 'model') === '<synthetic>') return
    yield* contentOf(field(message, 'content'))
  } else if (type === 'attachment' && string(field(line, 'attachment'), 'type') === 'queued_command') {
    if (field(field(line, 'attachment'), 'isMeta') !== true)
      yield* contentOf(field(field(line, 'attachment'), 'prompt'))
  } else if (type === 'progress') yield* wordsOf(field(field(line, 'data'), 'message'))
  else if (type === 'queue-operation' && string(line, 'operation') === 'enqueue')
    yield* queuedOf(string(line, 'content') ?? '')
  else if (type === 'response_item') yield* itemOf(field(line, 'payload'))
}

/** Reports of background tasks, and notes of the client, go through the same queue. */
function* queuedOf(content: string): Generator<string> {
  if (!content.startsWith('{"task_id":')) yield content
}

/** What clients put around a command that was typed, and what they say for a person who pressed a key. */
const MARKS =
  /<\/?(?:command-(?:name|message|args)|local-command-std(?:out|err)|bash-(?:input|stdout|stderr))>/gu
const STOPPED = /^\[Request interrupted by user[^\]]*\]$/u

function* contentOf(content: unknown): Generator<string> {
  if (typeof content === 'string') yield content.replaceAll(MARKS, '').replace(STOPPED, '')
  if (!Array.isArray(content)) return
  for (const block of content) {
    yield (string(block, 'text') ?? '').replace(STOPPED, '')
    yield string(block, 'thinking') ?? ''
    if (string(block, 'type') === 'tool_use') yield* stringsIn(field(block, 'input'))
    if (string(block, 'type') === 'tool_result') yield* contentOf(field(block, 'content'))
  }
}

/** Codex: what was said, thought, called and answered. */
function* itemOf(item: unknown): Generator<string> {
  switch (string(item, 'type') ?? '') {
    case 'message':
      if (string(item, 'role') === 'assistant') yield* contentOf(field(item, 'content'))
      return
    case 'reasoning':
      yield* contentOf(field(item, 'summary'))
      return
    case 'function_call':
      yield* stringsIn(parseJson(string(item, 'arguments') ?? ''))
      return
    case 'custom_tool_call':
      yield string(item, 'input') ?? ''
      return
    case 'custom_tool_call_output':
    case 'function_call_output':
      yield* contentOf(field(item, 'output'))
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const inner of value) yield* stringsIn(inner)
  else if (isObject(value)) for (const inner of Object.values(value)) yield* stringsIn(inner)
}

/** Letters and digits: what markup, wrapping and escapes leave. Secrets are masked on the way out. */
const toLetters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, '')

function linesOf(text: string): readonly string[] {
  return redact(text)
    .text.split('\n')
    .map(toLetters)
    .filter((line) => line.length > 2)
}

function recordsOf(path: string): readonly unknown[] {
  return readFileSync(path, 'utf8').split('\n').map(parseJson).filter(isObject)
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
      lines.reply([
        { type: 'text', text: '| one | two |\n|---|---|\n| a \\| b | medlar fruit | quince beyond |' },
      ]),
    ]),
  )
}

const SCENARIOS = [
  ['claude', 'older forms'] as const,
  ...readdirSync(join(fixtures, 'claude'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) => readdirSync(join(fixtures, 'claude', name, 'config')).includes('projects'))
    .map(({ name }) => ['claude', name] as const),
  ...readdirSync(join(fixtures, 'codex')).map((name) => ['codex', name] as const),
]

async function openAt(agent: 'claude' | 'codex', name: string): Promise<LocalThroughline> {
  const nowhere = join(dir.path, 'nowhere')
  const made = join(dir.path, 'made')
  if (name === 'older forms') await makeOlder(made)
  const claude = name === 'older forms' ? made : join(fixtures, 'claude', name, 'config')
  return await openThroughline({
    index: false,
    env: {
      HOME: dir.path,
      CLAUDE_CONFIG_DIR: agent === 'claude' ? claude : nowhere,
      CODEX_HOME: agent === 'codex' ? join(fixtures, 'codex', name) : nowhere,
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
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

let strings = 0
let questions = 0
let bills = 0
describe.each(SCENARIOS)('%s %s', (agent, name) => {
  let throughline: LocalThroughline
  let sessions: readonly SessionSummary[] = []
  beforeAll(async () => {
    throughline = await openAt(agent, name)
    sessions = (await throughline.list()).sessions
  })
  afterAll(() => throughline.close())
  const saidIn = (session: SessionSummary): ReadonlySet<string> =>
    new Set(
      transcriptsOf(session)
        .flatMap(recordsOf)
        .flatMap((line) => [...wordsOf(line)]),
    )

  test('[READ32] every string of a person or a model is shown and exported', async () => {
    const missing = new Set<string>()
    for (const session of sessions) {
      const ways = Object.entries(await waysOut(throughline, session)).map(
        ([way, text]): [string, string] => [way, toLetters(text)],
      )
      for (const text of saidIn(session))
        for (const line of linesOf(text)) {
          strings++
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
        questions++
        const { hits } = await throughline.search({ q, limit: 1 })
        if (hits.length === 0) lost.push(q)
      }
    expect(lost).toEqual([])
  })

  test.runIf(agent === 'claude')(
    '[READ32] every record of usage is billed once, or there is a reason',
    async () => {
      const reader = createBillReader()
      for (const path of sessions.flatMap(transcriptsOf)) {
        const lines = recordsOf(path)
        const records = lines.flatMap((line) => [...usageIn(line)])
        expect(records).toHaveLength(lines.reduce<number>((sum, line) => sum + countUsage(line), 0))
        const expected = new Set(records.flatMap(([key]) => key ?? []))
        const file = openTranscript(path)
        const { messages } = await reader.read(file)
        file.close()
        const billed = messages.map(({ key }) => key).filter((key) => !key.startsWith('compaction '))
        expect(billed.toSorted()).toEqual([...expected].toSorted())
        bills += billed.length
      }
    },
  )
})

test('[READ32] there is something to find: a test of nothing would pass', () => {
  expect(strings).toBeGreaterThan(500)
  expect(questions).toBeGreaterThan(200)
  expect(bills).toBeGreaterThan(100)
})
