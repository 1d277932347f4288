import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  createReadStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

const HEAD_BYTES = 256 * 1024

/**
 * Copies every transcript below a folder to where its agent would keep it in a new home, told by its content: the
 * product then reads it like any other. Returns the copies by agent, and the files that are no transcript of theirs.
 */
export async function gather(folder, home, opencode) {
  const found = { claude: [], codex: [], gemini: [], opencode: [], other: [] }
  for (const { path, agent } of largestOfEach(folder)) {
    if (agent === 'opencode' && !importToOpencode(path, home, opencode)) found.other.push(path)
    else if (agent === undefined) found.other.push(path)
    else found[agent].push(agent === 'opencode' ? path : copy(path, PLACES[agent](path, home)))
  }
  return found
}

/** Snapshots of one session at several times stand for it once: the largest. */
function largestOfEach(folder) {
  const kept = new Map()
  for (const path of filesBelow(folder)) {
    const agent = sniff(path)
    const own = agent === undefined || agent === 'opencode' ? path : toKey(agent, path)
    const before = kept.get(own)
    if (before === undefined || statSync(before.path).size < statSync(path).size)
      kept.set(own, { path, agent })
  }
  return kept.values()
}

function toKey(agent, path) {
  const parts = PLACES[agent](path, '').split('/')
  return parts.slice(parts.includes('subagents') ? -3 : -1).join('/')
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile() && /\.jsonl?$/.test(entry.name)) yield path
  }
}

function sniff(path) {
  const head = readHead(path)
  const whole = head.length < HEAD_BYTES ? parse(head) : undefined
  if (whole?.info !== undefined || /^\s*\{\s*"info":\s*\{/.test(head)) return 'opencode'
  if (
    whole?.messages !== undefined ||
    /^\s*\{\s*"(?:sessionId|kind|lastUpdated|projectHash)":/.test(head.slice(0, 200))
  ) {
    if (!isLines(head)) return 'gemini'
  }
  for (const line of head.split('\n').slice(0, 40)) {
    const value = parse(line)
    if (value === undefined || value === null) continue
    if (value.type === 'session_meta' || (value.payload !== undefined && value.timestamp !== undefined))
      return 'codex'
    if (value.id !== undefined && value.instructions !== undefined) return 'codex'
    if (value.parentUuid !== undefined || (value.sessionId !== undefined && value.type !== undefined))
      return 'claude'
    if (value.type === 'file-history-snapshot' || (value.type === 'summary' && value.leafUuid !== undefined))
      return 'claude'
  }
  return undefined
}

function isLines(head) {
  const [first = '', second = ''] = head.split('\n')
  return parse(first) !== undefined && (second === '' || parse(second) !== undefined) && head.includes('\n{')
}

function readHead(path) {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(HEAD_BYTES, statSync(path).size))
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

export function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  return to
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

const PLACES = {
  claude(path, home) {
    const project = `-${dirname(path)
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .slice(-80)}`
    const beside = /([^/]+)\/subagents\/(agent-[^/]+\.jsonl)$/.exec(path)
    if (beside !== null) {
      const parent = `-${dirname(dirname(dirname(path)))
        .replaceAll(/[^A-Za-z0-9]+/g, '-')
        .slice(-80)}`
      return join(home, 'claude/projects', parent, beside[1], 'subagents', beside[2])
    }
    const id = UUID.exec(basename(path))?.[0] ?? UUID.exec(readHead(path))?.[0] ?? basename(path, '.jsonl')
    const name = basename(path).startsWith('agent-') ? basename(path) : `${id}.jsonl`
    return join(home, 'claude/projects', project, name)
  },
  codex(path, home) {
    const head = readHead(path)
    const id = UUID.exec(head)?.[0] ?? '00000000-0000-4000-8000-000000000000'
    const [, year = '2025', month = '01', day = '01', time = '00-00-00'] =
      /"timestamp":\s*"(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(head) ?? []
    const name = `rollout-${year}-${month}-${day}T${time.replaceAll(':', '-')}-${id}.jsonl`
    return join(home, 'codex/sessions', year, month, day, name)
  },
  gemini(path, home) {
    const head = readHead(path)
    const project = /"projectHash":\s*"([0-9a-f]+)"/.exec(head)?.[1] ?? 'unknown'
    const id = /"sessionId":\s*"([^"]+)"/.exec(head)?.[1] ?? basename(path).replace(/\.jsonl?$/, '')
    const time = (
      /"startTime":\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d)/.exec(head)?.[1] ?? '2026-01-01T00:00'
    ).replace(':', '-')
    const suffix = isLines(head) ? '.jsonl' : '.json'
    return join(home, 'gemini/.gemini/tmp', project, 'chats', `session-${time}-${id.slice(0, 8)}${suffix}`)
  },
}

function importToOpencode(path, home, program) {
  if (program === undefined) return false
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(home, 'opencode-home'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'opencode-config'),
    XDG_STATE_HOME: join(home, 'opencode-state'),
    XDG_CACHE_HOME: join(home, 'opencode-cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }
  mkdirSync(env.HOME, { recursive: true })
  const { status } = spawnSync(program, ['import', path], {
    env,
    cwd: env.HOME,
    timeout: 120_000,
    stdio: 'ignore',
  })
  return status === 0
}

/** The JSON values of a file of ours: one for each line, or the whole file. Lines that are no JSON are counted. */
export async function* valuesOf(path) {
  if (path.endsWith('.json')) {
    yield parse(readFileSync(path, 'utf8'))
    return
  }
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line.trim() !== '') yield parse(line)
}
