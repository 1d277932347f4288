import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { number, object, parseJson } from '#base'
import type { SessionSummary, Usage } from '#model'
import { createLines, generateCorpus, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { Throughline, UsageRequest } from '#wire'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

async function full(): Promise<{ sessions: readonly SessionSummary[]; usage: Usage | undefined }> {
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: dir.path } })
  const { sessions, usage } = await throughline.list({ full: true })
  return { sessions, usage }
}

const spent = (id: string, output: number, fields: object = {}): object => ({
  requestId: `req_${id}`,
  message: {
    id,
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: output, ...fields },
  },
})

test('[USE9] [USE8] with an index and without one the report is the same', async () => {
  const claudeDir = join(dir.path, 'claude')
  await generateCorpus({ dir: claudeDir, seed: 11, size: 'xs' })
  const lines = createLines({ cwd: '/w/deep' })
  const boundary = lines.system('compact_boundary', {
    compactMetadata: { trigger: 'auto', preTokens: 1000, postTokens: 200 },
  })
  await writeTranscript(claudeDir, toJsonl([lines.prompt('x'), boundary, boundary]))
  const env = { CLAUDE_CONFIG_DIR: claudeDir, THROUGHLINE_HOME: join(dir.path, 'home') }
  const indexed = await openThroughline({ env, index: true })
  const scanning = await openThroughline({ env })
  const { sessions } = await scanning.list()
  while ((await indexed.health()).index.state !== 'complete') await indexed.settled()
  const requests: readonly UsageRequest[] = [
    { by: 'day' },
    { by: 'model' },
    { by: 'session' },
    { by: 'workdir', workdir: '/w' },
    { by: 'day', workdir: sessions.at(-2)?.workdirs[0] ?? '' },
    { by: 'day', since: '2026-11-10', until: '2026-11-15' },
  ]
  for (const request of requests) {
    const report = await indexed.usage(request)
    expect(report).toEqual(await scanning.usage(request))
    if (request.workdir === '/w')
      expect(report.compactions).toEqual({ count: 1, tokens: 800, unknown: 0, unbilled: 1 })
  }
  expect((await scanning.usage({ by: 'day' })).compactions.count).toBeGreaterThan(1)
  await indexed.close()
  await scanning.close()
})

describe('tokens', () => {
  test('[U01] [READ16] usage that is repeated on every line of a message is counted once', async () => {
    const lines = createLines()
    await writeTranscript(dir.path, toJsonl([1, 2, 3, 4].map(() => lines.reply([], spent('msg_1', 50)))))
    expect((await full()).usage).toMatchObject({ input: 10, output: 50 })
  })

  test('[U02] [READ16] repeats that grow count with the last value', async () => {
    const lines = createLines()
    await writeTranscript(
      dir.path,
      toJsonl([1, 1, 1, 512].map((output) => lines.reply([], spent('msg_1', output)))),
    )
    expect((await full()).usage).toMatchObject({ output: 512 })
  })

  test('[U03] [READ16] messages copied into a fork are counted once, and belong to the older session', async () => {
    const lines = createLines()
    const copied = [
      lines.prompt('x'),
      lines.reply([], spent('msg_1', 100)),
      lines.reply([], spent('msg_2', 10)),
    ]
    const later = lines.reply([], { ...spent('msg_3', 1), timestamp: '2026-12-01T00:00:00Z' })
    const queue = {
      type: 'queue-operation',
      operation: 'enqueue',
      timestamp: '2026-12-01T00:00:00Z',
      sessionId: 'fork',
    }
    await writeTranscript(dir.path, toJsonl(copied), { id: 'original' })
    await writeTranscript(
      dir.path,
      toJsonl([queue, ...copied.map((line) => ({ ...line, sessionId: 'fork' })), later]),
      { id: 'fork' },
    )
    const { sessions, usage } = await full()
    expect(usage).toMatchObject({ input: 30, output: 111 })
    const facts = Object.fromEntries(
      sessions.map(({ id, facts: known }) => [id, [known?.usage.output, known?.inherited.output]]),
    )
    expect(facts).toEqual({ original: [110, 0], fork: [111, 110] })
  })

  test('[READ16] cache creation is read flat, divided by lifetime, or both', async () => {
    const lines = createLines()
    const divided = { cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 7 } }
    await writeTranscript(
      dir.path,
      toJsonl([
        lines.reply([], spent('flat', 1, { cache_creation_input_tokens: 5 })),
        lines.reply([], spent('divided', 1, divided)),
        lines.reply([], spent('both', 1, { cache_creation_input_tokens: 37, ...divided })),
        lines.reply(
          [],
          spent('odd', 1, { cache_read_input_tokens: 1e3, input_tokens: 2.5, cache_creation: null }),
        ),
        lines.reply([], { message: { id: 'none', content: [], usage: null } }),
      ]),
    )
    expect((await full()).usage).toEqual({
      input: 32.5,
      output: 4,
      cacheRead: 1000,
      cacheCreation: 79,
      cacheCreation5m: 60,
      cacheCreation1h: 14,
    })
  })

  test('[E4.1] billed in all and in context now are two numbers', async () => {
    const lines = createLines()
    const lots = { cache_read_input_tokens: 100_000, cache_creation_input_tokens: 500 }
    await writeTranscript(
      dir.path,
      toJsonl([lines.reply([], spent('a', 20, lots)), lines.reply([], spent('b', 30, lots))]),
    )
    const [session] = (await full()).sessions
    expect(session?.facts?.usage).toMatchObject({ output: 50, cacheRead: 200_000 })
    expect(session?.facts?.contextTokens).toBe(10 + 100_000 + 500 + 30)
  })
})

const fixtures = join(import.meta.dirname, '../../test/fixtures/claude')
const scenarios = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, 'config/projects')))

type Totals = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheCreation'>

/** What the client's own totals have more or less than the lines of a session, to the token, and why. */
const EXPLAINED: ReadonlyMap<string, { readonly why: string; readonly more: Totals }> = new Map([
  [
    'e1f7333d-06a0-4194-a042-0703964a86f5',
    {
      why: 'two processes wrote the session, and each totals only what it did itself: the reply of writer B is missing',
      more: { input: -12, output: -9, cacheRead: -9620, cacheCreation: -2000 },
    },
  ],
  [
    '3cae3d73-4e4d-428e-91f1-705f21849db9',
    {
      why: 'a fork goes on with the totals of its original, of which it copied only what came after the compaction',
      more: { input: 84, output: 212, cacheRead: 63_748, cacheCreation: 14_000 },
    },
  ],
])

describe("the transcript's own totals", () => {
  test.each(scenarios)(
    '[READ16] %s: tokens agree with the last cost-state, subagents included',
    async (scenario) => {
      const throughline = await openThroughline({
        env: { CLAUDE_CONFIG_DIR: join(fixtures, scenario, 'config') },
      })
      const { sessions } = await throughline.list({ full: true })
      for (const session of sessions) {
        const stated = lastCostState(session.path)
        if (stated === undefined || session.facts === undefined) continue
        // A reply that was cut off is billed, but the client never learned how much, and leaves it out.
        const unfinished = await unfinishedOf(throughline, session)
        const more = EXPLAINED.get(session.id)?.more ?? NOTHING
        expect(plus(minus(session.facts.usage, unfinished), more)).toEqual(stated)
      }
    },
  )
})

const NOTHING: Totals = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }

async function unfinishedOf(throughline: Throughline, session: SessionSummary): Promise<Totals> {
  const open = new Map<string, Usage>()
  for await (const reading of throughline.entries(session)) {
    if (reading.kind === 'damage' || reading.entry.kind !== 'reply') continue
    const { messageId = '', stopReason, usage } = reading.entry
    if (stopReason === undefined && usage) open.set(messageId, usage)
  }
  return [...open.values()].reduce<Totals>(plus, NOTHING)
}

function plus(a: Totals, b: Totals): Totals {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheCreation: a.cacheCreation + b.cacheCreation,
  }
}

function minus(a: Totals, b: Totals): Totals {
  return plus(a, {
    input: -b.input,
    output: -b.output,
    cacheRead: -b.cacheRead,
    cacheCreation: -b.cacheCreation,
  })
}

function lastCostState(path: string): Totals | undefined {
  const lines = readFileSync(path, 'utf8').split('\n')
  const line = lines.findLast((each) => each.includes('"type":"cost-state"'))
  const models = object(parseJson(line ?? ''), 'modelUsage')
  if (models === undefined) return undefined
  const sum = (key: string): number =>
    Object.values(models).reduce<number>((total, model) => total + (number(model, key) ?? 0), 0)
  return {
    input: sum('inputTokens'),
    output: sum('outputTokens'),
    cacheRead: sum('cacheReadInputTokens'),
    cacheCreation: sum('cacheCreationInputTokens'),
  }
}
