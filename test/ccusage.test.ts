import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { list, number, object, parseJson, string } from '#base'
import { createBillReader, openTranscript } from '#sources'
import { embeddedPrices, toUsageReport, type StoredBill } from '#store'
import { createLines, generateCorpus, openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/**
 * ccusage counts tokens too, by a rule of its own: of all lines with the same message and request it keeps the one
 * with the most. These tests say where the two agree, and every kind of record on which they do not.
 */
const cli = createRequire(import.meta.url).resolve('ccusage/src/cli.js')
const run = promisify(execFile)

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

interface Totals {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheCreation: number
}

interface Figures {
  readonly days: Readonly<Record<string, Totals>>
  readonly total: Totals
  readonly cost: number
}

function toTotals(value: unknown): Totals {
  return {
    input: number(value, 'inputTokens') ?? 0,
    output: number(value, 'outputTokens') ?? 0,
    cacheRead: number(value, 'cacheReadTokens') ?? 0,
    cacheCreation: number(value, 'cacheCreationTokens') ?? 0,
  }
}

async function theirs(config: string): Promise<Figures> {
  const { stdout } = await run(
    process.execPath,
    [cli, 'claude', 'daily', '--offline', '--json', '--timezone', 'UTC'],
    { env: { CLAUDE_CONFIG_DIR: config, HOME: dir.path, PATH: process.env['PATH'] }, maxBuffer: 1 << 26 },
  )
  const report = parseJson(stdout)
  const totals = object(report, 'totals')
  return {
    days: Object.fromEntries(list(report, 'daily').map((day) => [string(day, 'date') ?? '', toTotals(day)])),
    total: toTotals(totals),
    // Nothing costs minus zero there.
    cost: (number(totals, 'totalCost') ?? 0) + 0,
  }
}

/** What is counted here. The requests of compactions stand on no line: their bills are told apart by `which`. */
async function ours(config: string, which: (bill: StoredBill) => boolean = () => true): Promise<Figures> {
  const reader = createBillReader()
  const bills: StoredBill[] = []
  for (const path of transcriptsIn(join(config, 'projects'))) {
    const file = openTranscript(path)
    const { messages: found } = await reader.read(file)
    file.close()
    // The ids of sessions decide only who a copied message belongs to, which changes no total.
    for (const bill of found) bills.push({ ...bill, path, session: basename(path), createdAt: '' })
  }
  const report = toUsageReport(bills.filter(which), { by: 'day' }, { prices: embeddedPrices() })
  const toKinds = ({ input, output, cacheRead, cacheCreation }: Totals): Totals => ({
    input,
    output,
    cacheRead,
    cacheCreation,
  })
  return {
    days: Object.fromEntries(report.rows.map(({ key, usage }) => [key, toKinds(usage)])),
    total: toKinds(report.total.usage),
    cost: report.total.cost,
  }
}

function transcriptsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
    .toSorted()
}

async function homeWith(name: string, lines: readonly (object | string)[]): Promise<string> {
  const config = join(dir.path, name.replaceAll(/\W+/g, '-'))
  await mkdir(join(config, 'projects/-w'), { recursive: true })
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  await writeFile(join(config, 'projects/-w/11111111-1111-4111-8111-111111111111.jsonl'), `${text}\n`)
  return config
}

const made = createLines()
const spent = (id: string, output: number, fields: object = {}, more: object = {}): object =>
  made.reply([], {
    requestId: 'req_1',
    message: {
      id,
      model: 'claude-opus-4-5',
      content: [],
      usage: { input_tokens: 1, output_tokens: output, ...fields },
    },
    ...more,
  })

describe('the same as ccusage', () => {
  const fixtures = join(import.meta.dirname, 'fixtures/claude')
  const scenarios = readdirSync(fixtures, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => readdirSync(join(fixtures, name, 'config')).includes('projects'))

  test('[USE7] all real sessions have the same tokens on the same days', async () => {
    for (const scenario of scenarios) {
      const config = join(fixtures, scenario, 'config')
      const found = await ours(config, ({ key }) => !key.startsWith('compaction '))
      expect({ scenario, ...found }).toEqual({ scenario, ...(await theirs(config)) })
    }
  })

  test('[USE10] [USE7] the request of a compaction is billed here and not there, once for all copies', async () => {
    const found: Record<string, Totals> = {}
    for (const scenario of scenarios) {
      const config = join(fixtures, scenario, 'config')
      const { total } = await ours(config, ({ key }) => key.startsWith('compaction '))
      if (total.output > 0) found[scenario] = total
    }
    expect(found).toEqual({
      compact_manual: { input: 12, output: 38, cacheRead: 11_519, cacheCreation: 2000 },
      hooks: { input: 12, output: 38, cacheRead: 11_811, cacheCreation: 2000 },
    })
  })

  test('[USE7] so has a generated corpus with forks, subagents, repeats and damage', async () => {
    const config = join(dir.path, 'corpus')
    await generateCorpus({ dir: config, seed: 11, size: process.env['RUNS'] === 'full' ? 's' : 'xs' })
    expect(await ours(config)).toEqual(await theirs(config))
  })

  test('[USE7] [READ30] answers of subagents in the file of their session count the same, once', async () => {
    const answer = (id: string, output: number, type = 'agent_progress'): object => {
      const inner = spent(id, output)
      return {
        ...spent(id, output),
        type: 'progress',
        message: undefined,
        requestId: undefined,
        parentToolUseID: 'toolu_1',
        data: { type, agentId: 'a1', message: inner, normalizedMessages: [] },
      }
    }
    const config = await homeWith('delegated', [
      spent('msg_1', 3),
      answer('msg_2', 5),
      answer('msg_2', 5),
      answer('msg_1', 3),
    ])
    const found = await ours(config)
    expect(found).toEqual(await theirs(config))
    expect(found.total.output).toBe(8)
  })

  test('[USE4] [USE7] models with one price, with two, of a cloud and of a long window cost the same here', async () => {
    const models = [
      'claude-opus-4-5',
      'claude-sonnet-4-5',
      'claude-haiku-4-5-20251001',
      'claude-opus-5',
      'claude-fable-5-1',
      'claude-opus-4-1-20250805',
      'us.anthropic.claude-opus-5',
      'claude-opus-4-5[1m]',
    ]
    let compared = 0
    for (const [n, model] of models.entries()) {
      const lines = [1, 199_999, 200_000, 200_001, 750_000].map((tokens, m) => {
        const usage = {
          input_tokens: tokens,
          output_tokens: tokens + n,
          cache_read_input_tokens: tokens * 3,
          cache_creation_input_tokens: tokens * 2,
          cache_creation: { ephemeral_5m_input_tokens: tokens, ephemeral_1h_input_tokens: tokens },
        }
        return spent(`msg_${m}`, 0, {}, { message: { id: `msg_${m}`, model, content: [], usage } })
      })
      const config = await homeWith(`prices ${n}`, lines)
      const { cost, ...rest } = await ours(config)
      const { cost: theirCost, ...theirRest } = await theirs(config)
      expect({ model, ...rest }).toEqual({ model, ...theirRest })
      expect(cost).toBeGreaterThan(0)
      // Its list is older than ours: what it has no price for costs nothing there.
      if (theirCost === 0) continue
      compared++
      expect([model, Math.abs(cost / theirCost - 1) < 1e-9]).toEqual([model, true])
    }
    expect(compared).toBeGreaterThanOrEqual(5)
  })
})

describe('other than ccusage', () => {
  const torn = JSON.stringify(spent('msg_9', 7)).slice(0, 60)
  const cases: readonly (readonly [string, readonly (object | string)[], ours: number, theirs: number])[] = [
    ['a record behind a torn one on its line is read here', [torn + JSON.stringify(spent('msg_1', 7))], 7, 0],
    ['a record behind zero bytes is read here', [`\0\0\0${JSON.stringify(spent('msg_1', 7))}`], 7, 0],
    ['a line without a time counts here, on no day', [spent('msg_1', 7, {}, { timestamp: undefined })], 7, 0],
    [
      'usage without output has no output in either',
      [spent('msg_1', 0, { output_tokens: undefined, input_tokens: 5 })],
      0,
      0,
    ],
    [
      'a message that shrinks has its last figures here, its largest there',
      [spent('msg_1', 9), spent('msg_1', 4)],
      4,
      9,
    ],
    [
      'what the client made up costs nothing here',
      [
        spent(
          'm',
          5,
          {},
          {
            message: {
              id: 'm',
              model: '<synthetic>',
              content: [],
              usage: { input_tokens: 1, output_tokens: 5 },
            },
          },
        ),
      ],
      0,
      5,
    ],
    [
      'only replies are billed here; there anything with figures is',
      [{ ...spent('msg_1', 5), type: 'user' }],
      0,
      5,
    ],
    [
      'two requests for one message are two bills here, on a side chain one there',
      [spent('msg_1', 5), spent('msg_1', 3, {}, { requestId: 'req_2', isSidechain: true })],
      8,
      5,
    ],
  ]
  test.each(cases)('[USE7] %s', async (name, lines, ourOutput, theirOutput) => {
    const config = await homeWith(name, lines)
    expect((await ours(config)).total.output).toBe(ourOutput)
    expect((await theirs(config)).total.output).toBe(theirOutput)
  })
})
