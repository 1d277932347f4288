import { appendFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { list, parseJson } from '#base'
import { connect } from '#client'
import { composeWakeUp, WAKE_UP_BUDGET, WAKE_UP_TEXTS } from '#memory'
import { renderDirective } from '#model'
import type { Bench } from './bench.ts'
import { compare, hold, type Measure } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import { quantile, race, Trial } from './measure.ts'
import { ripgrep } from './ripgrep.ts'
import { ms, type Row } from './table.ts'

const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }
const QUESTIONS = [
  'where is the error of the session index handled?',
  'which function parses the value of a string?',
  'what did we decide about the cache of the worker?',
  'why does the parser drop the last line?',
  'how are tokens counted for a message?',
] as const
const LEARNINGS = 5_000
const SESSION_BYTES = 5e6
const REMEMBERED = 20
const HANG_MS = 30_000

/** What is remembered: composing a wake-up, asking, and from an agent's words to a document on a device. */
export async function rememberingRows(bench: Bench): Promise<readonly Row[]> {
  const daemon = await startSettled(bench.ground())
  try {
    return [await composeRow(bench), ...(await recallRows(bench, daemon)), await promotionRow(bench, daemon)]
  } finally {
    await daemon.stop()
  }
}

/** Nothing but reading the same bytes is the least that anybody could do. */
async function composeRow({ rounds }: Bench): Promise<Row> {
  const words = 'the quick brown fox of the checkout jumps over a lazy parser and tests it twice '
  const messages = Array.from({ length: Math.ceil(SESSION_BYTES / 2000) }, (_, n) => ({
    id: `m${n}`,
    speaker: n % 2 === 0 ? ('human' as const) : ('agent' as const),
    name: n % 2 === 0 ? 'Human' : 'Agent',
    text: `${n} ${words.repeat(25)}`.slice(0, 2000),
  }))
  const documents = Array.from({ length: LEARNINGS }, (_, n) => ({
    id: `learning:${n}`,
    section: 'knowledge' as const,
    text: `Learning ${n}: ${words.slice(n % 20)}`,
    pinned: n % 500 === 0,
    score: (n * 7919) % LEARNINGS,
  }))
  const lines = messages.map((message) => JSON.stringify(message))
  let tokens = 0
  const ours = new Trial('compose', () => {
    const begun = performance.now()
    const { receipt } = composeWakeUp({
      texts: WAKE_UP_TEXTS,
      names: { human: 'Human', agent: 'Agent' },
      previous: { sessionId: 's', ended: '2026-11-15T08:00:00.000Z', messages },
      documents,
      budget: WAKE_UP_BUDGET,
      now: Date.UTC(2026, 10, 15),
    })
    tokens = receipt.tokens
    return Promise.resolve(wall(performance.now() - begun))
  })
  const parse = new Trial('parse', () => {
    const begun = performance.now()
    for (const line of lines) parseJson(line)
    return Promise.resolve(wall(performance.now() - begun))
  })
  await race([ours, parse], Math.max(3, rounds))
  return compare({
    name: 'wake-up of 5,000 learnings and a session of 5 MB: wall',
    ours,
    whom: 'JSON.parse of that session',
    other: parse,
    measure: WALL,
    note: `${tokens} tokens of ${WAKE_UP_BUDGET.total}, secrets looked for in all that went in`,
    fault: tokens > WAKE_UP_BUDGET.total ? 'over its budget' : undefined,
  })
}

async function recallRows({ configDir, rounds }: Bench, daemon: Daemon): Promise<readonly Row[]> {
  const took: number[] = []
  let empty = 0
  for (const question of [...QUESTIONS, ...QUESTIONS, ...QUESTIONS]) {
    const { body, ms: one } = await daemon.get(`/api/recall?q=${encodeURIComponent(question)}`)
    if (list(parseJson(body.toString('utf8')), 'hits').length === 0) empty++
    took.push(one)
  }
  const ours = new Trial('recall', async () => {
    const [question] = QUESTIONS
    return wall((await daemon.get(`/api/recall?q=${encodeURIComponent(question)}`)).ms)
  })
  const rg = ripgrep(configDir, 'error')
  await race([ours, rg], rounds)
  return [
    hold({
      name: 'recall, a question over everything: p50 over HTTP',
      value: quantile(took, 0.5),
      show: ms,
      against: `p95 ${ms(quantile(took, 0.95))}`,
      note: `${took.length} questions, ${empty} without an answer`,
      fault: empty === took.length ? 'nothing was found' : undefined,
    }),
    compare({ name: 'recall, a question: wall', ours, whom: 'rg -c of one word', other: rg, measure: WALL }),
  ]
}

/** From the line of an agent on disk to the document on a device. */
async function promotionRow({ ground }: Bench, daemon: Daemon): Promise<Row> {
  const { id, path } = ground().live
  const throughline = await connect({
    url: `http://127.0.0.1:${daemon.port}`,
    token: daemon.token,
    WebSocket,
  })
  const arrived = new Map<string, number>()
  const subscription = throughline.subscribe(
    { kind: 'documents', query: { type: 'learning' } },
    {
      onEvent(event) {
        if (event.kind !== 'documents.changed') return
        for (const { content } of event.added) arrived.set(content, performance.now())
      },
    },
  )
  const took: number[] = []
  try {
    for (let n = 0; n < REMEMBERED; n++) {
      const content = `Measured thing ${randomUUID()}`
      const begun = performance.now()
      appendFileSync(path, toReply(id, renderDirective('remember', { content })))
      while (!arrived.has(content) && performance.now() < begun + HANG_MS) await sleep(1)
      took.push((arrived.get(content) ?? Number.POSITIVE_INFINITY) - begun)
      await sleep(100)
    }
  } finally {
    subscription.close()
    await throughline.close()
  }
  return hold({
    name: '[REMEMBER] on disk to the document on a device: p50',
    value: quantile(took, 0.5),
    show: ms,
    against: `p95 ${ms(quantile(took, 0.95))}`,
    note: `${REMEMBERED} of them; indexed, compared with all documents, synced`,
    fault: took.some((one) => !Number.isFinite(one)) ? 'one never came' : undefined,
  })
}

function toReply(sessionId: string, text: string): string {
  const line = {
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/user/work',
    sessionId,
    version: '2.1.0',
    type: 'assistant',
    message: {
      id: `msg_${randomUUID()}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-6',
      content: [{ type: 'text', text }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
  }
  return `${JSON.stringify(line)}\n`
}

function wall(took: number): {
  readonly cpu: readonly number[]
  readonly wall: readonly number[]
  readonly peakRssKb: number
  readonly baseRssKb: number
  readonly result: undefined
} {
  return { cpu: [], wall: [took], peakRssKb: 0, baseRssKb: 0, result: undefined }
}
