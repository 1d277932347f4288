import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { field, isObject, list, number, parseJson, string } from '#base'

/** What agents write, read from their own files with none of the code that reads them in the product. */
const fixtures = join(import.meta.dirname, 'fixtures')

export type Agent = 'claude' | 'codex' | 'gemini' | 'opencode'

export function recordsOf(path: string): readonly unknown[] {
  return readFileSync(path, 'utf8').split('\n').map(parseJson).filter(isObject)
}

/** The chats of Gemini CLI, each as its records. Older versions wrote one object. */
export function chatsBelow(folder: string): readonly (readonly unknown[])[] {
  const chats = join(folder, 'tmp/w/chats')
  return readdirSync(chats).map((name) => {
    const path = join(chats, name)
    if (name.endsWith('.jsonl')) return recordsOf(path)
    const whole = parseJson(readFileSync(path, 'utf8'))
    return [whole, ...list(whole, 'messages')]
  })
}

interface Part {
  readonly type: 'opencode'
  readonly sessionId: string
  readonly data: unknown
}

/** The parts of opencode: rows of a table, or a file each. */
export function partsBelow(folder: string): readonly Part[] {
  return rowsOf(folder, 'part').map((row) => ({
    type: 'opencode',
    sessionId: string(row, 'session_id') ?? string(row, 'sessionID') ?? '',
    data: dataOf(row),
  }))
}

const dataOf = (row: unknown): unknown => parseJson(string(row, 'data') ?? '') ?? row

function rowsOf(folder: string, table: 'message' | 'part'): readonly unknown[] {
  if (readdirSync(folder).includes(`${table}.json`)) {
    const rows = parseJson(readFileSync(join(folder, `${table}.json`), 'utf8'))
    return Array.isArray(rows) ? rows : []
  }
  return readdirSync(join(folder, 'storage', table), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => parseJson(readFileSync(join(folder, 'storage', table, file), 'utf8')))
}

/** What each answer cost, by what tells it from every other one, as the agent itself wrote it down. */
export function costsOf(agent: Agent, name: string): ReadonlyMap<string, Cost> {
  const folder = join(fixtures, agent, name)
  if (agent === 'codex') return costsOfCodex(folder)
  const found = new Map<string, Cost>()
  if (agent === 'gemini')
    for (const message of chatsBelow(folder).flat().flatMap(inConversation)) {
      const tokens = field(message, 'tokens')
      if (!isObject(tokens)) continue
      const cached = count(tokens, 'cached')
      const cost = [
        count(tokens, 'input') - cached,
        count(tokens, 'output') + count(tokens, 'thoughts'),
        cached,
      ]
      found.set(string(message, 'id') ?? '', cost)
    }
  // A fork copies the answers of its origin: their times tell whose they are.
  for (const row of agent === 'opencode' ? rowsOf(folder, 'message') : []) {
    const message = dataOf(row)
    const tokens = field(message, 'tokens')
    if (!isObject(tokens)) continue
    const cache = field(tokens, 'cache')
    const cost = [
      count(tokens, 'input'),
      count(tokens, 'output') + count(tokens, 'reasoning'),
      count(cache, 'read'),
    ]
    if (cost.some((amount) => amount > 0)) found.set(JSON.stringify(field(message, 'time')), cost)
  }
  return found
}

/** Input that was not cached, output, and what was read from the cache. */
type Cost = readonly number[]

const count = (value: unknown, key: string): number => number(value, key) ?? 0

const inConversation = (record: unknown): readonly unknown[] => [
  record,
  ...list(field(record, '$set'), 'messages'),
]

/** A record of each response; where a version wrote none, the last one behind each new sum. */
function costsOfCodex(folder: string): ReadonlyMap<string, Cost> {
  const found = new Map<string, Cost>()
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /rollout.*jsonl$/u.test(file),
  )
  for (const file of files) {
    const records = recordsOf(join(folder, file))
    const own = records.filter((record) => string(record, 'type') === 'token_usage_record')
    for (const record of own) {
      const payload = field(record, 'payload')
      found.set(string(payload, 'response_id') ?? '', costOfCodex(field(payload, 'usage')))
    }
    if (own.length > 0) continue
    for (const record of records) {
      const payload = field(record, 'payload') ?? record
      const info = field(payload, 'info')
      if (string(payload, 'type') !== 'token_count' || !isObject(info)) continue
      // A fork begins with the sums of what was said before it, and a resumed session repeats its last one.
      const cost = costOfCodex(field(info, 'last_token_usage'))
      if (cost.some((amount) => amount > 0)) found.set(JSON.stringify(field(info, 'total_token_usage')), cost)
    }
  }
  return found
}

function costOfCodex(usage: unknown): Cost {
  // The scripted model says now and then that more was cached than there was.
  const cached = Math.min(count(usage, 'cached_input_tokens'), count(usage, 'input_tokens'))
  return [count(usage, 'input_tokens') - cached, count(usage, 'output_tokens'), cached]
}
