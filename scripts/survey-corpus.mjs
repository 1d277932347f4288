import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { exportSession, openThroughline } from '../dist/app/index.js'
import { toSearchText } from '../dist/store/index.js'
import { provideOpencode } from './opencode.mjs'
import { billingOf, reasonFor } from './survey/explained.mjs'
import { gather, parse, valuesOf } from './survey/gather.mjs'
import { createHaystack, leavesOf, toWords, usagesOf } from './survey/words.mjs'

/**
 * `npm run build && node scripts/survey-corpus.mjs <folder>`: what of the transcripts below a folder is not shown, not
 * found, not exported, not restored or not billed, by agent, kind of line and place in it, with counts.
 *
 * The folder may hold anything: transcripts are told by their content and copied into a scratch home, where the
 * product reads them as it reads a person's. opencode's exports are imported by opencode itself. Nothing of the
 * folder is changed, and nothing is kept.
 *
 *   --least N     strings of fewer words are not looked at (default 3)
 *   --example     shows the beginning of one string of each row
 *   --all         also rows that are explained in docs/formats, and those of which nothing is missing
 *   --agent NAME  only this agent
 *   --json        one JSON object
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    least: { type: 'string', default: '3' },
    example: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    agent: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const [folder] = positionals
if (folder === undefined) {
  console.error(
    'usage: node scripts/survey-corpus.mjs <folder> [--least N] [--example] [--all] [--agent NAME] [--json]',
  )
  process.exit(2)
}
const least = Number(options.least)

/** Where the words of a line may be missing. */
const WAYS = ['shown', 'found', 'exported', 'restored']

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"' }

const home = mkdtempSync(join(tmpdir(), 'throughline-survey-'))

async function survey(files) {
  const throughline = await openThroughline({
    env: {
      HOME: join(home, 'person'),
      THROUGHLINE_HOME: join(home, 'throughline'),
      CLAUDE_CONFIG_DIR: join(home, 'claude'),
      CODEX_HOME: join(home, 'codex'),
      GEMINI_CLI_HOME: join(home, 'gemini'),
      XDG_DATA_HOME: join(home, 'data'),
    },
  })
  const report = {
    sessions: 0,
    problems: [],
    unknown: {},
    places: {},
    usages: {},
    billed: {},
    other: countOther(files),
  }
  const { sessions, problems } = await throughline.list()
  report.problems = problems.map(({ message }) => message)
  for (const session of sessions) {
    if (options.agent !== undefined && session.agent !== options.agent) continue
    report.sessions++
    if (process.stderr.isTTY) process.stderr.write(`\r${report.sessions} of ${sessions.length} sessions`)
    try {
      await surveySession(throughline, session, report)
    } catch (error) {
      report.problems.push(
        `${session.agent} ${session.id}: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  const usage = await throughline.usage({ by: 'session' })
  const agentOf = new Map(sessions.map(({ id, agent }) => [id, agent]))
  for (const { key, messages, usage: used } of usage.rows) {
    const row = (report.billed[agentOf.get(key) ?? '?'] ??= { sessions: 0, messages: 0, output: 0 })
    row.sessions++
    row.messages += messages
    row.output += used.output
  }
  await throughline.close()
  return report
}

function countOther({ other }) {
  const kinds = {}
  for (const path of other) {
    const first = parse(readFileSync(path, 'utf8').split('\n', 1)[0] ?? '')
    const kind =
      first === undefined
        ? 'no JSON line'
        : `type ${first?.type ?? '–'}: ${Object.keys(first ?? {})
            .slice(0, 6)
            .join(', ')}`
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  return kinds
}

async function surveySession(throughline, session, report) {
  const hays = await readHaystacks(throughline, session)
  const { facts } = await throughline.survey(session)
  for (const [type, count] of Object.entries(facts?.unknownTypes ?? {})) {
    const key = `${session.agent} ${type}`
    report.unknown[key] = (report.unknown[key] ?? 0) + count
  }
  for await (const { value, version, label } of linesOf(session)) {
    if (value === undefined) continue
    for (const { path, tokens } of usagesOf(value)) {
      const row = (report.usages[`${session.agent} ${label}${path}`] ??= {
        count: 0,
        keys: Object.keys(tokens).join(' '),
      })
      row.count++
    }
    for (const { path, text } of leavesOf(value)) {
      if (text.length < 6 || isSealed(text) || toWords(text).length < least) continue
      const row = (report.places[`${session.agent} ${label}${path}`] ??= newRow())
      row.count++
      if (version !== undefined && !row.versions.includes(version)) row.versions.push(version)
      for (const way of WAYS) {
        if (hays[way].has(text)) continue
        row[way]++
        if (way === 'shown') row.example ??= text.slice(0, 120)
      }
    }
  }
}

function newRow() {
  return { count: 0, shown: 0, found: 0, exported: 0, restored: 0, versions: [] }
}

/** Base64, hashes and the like hold no words. */
function isSealed(text) {
  return text.length > 60 && !/\s/.test(text.slice(0, 400)) && /^[\w+/=-]+$/.test(text.slice(0, 400))
}

async function readHaystacks(throughline, session) {
  const hays = Object.fromEntries(WAYS.map((way) => [way, createHaystack()]))
  const conversations = [undefined, ...session.subagents.map(({ id }) => id)]
  for (const subagent of conversations) {
    const how = subagent === undefined ? {} : { subagent }
    for await (const batch of throughline.passages(session, how))
      for (const passage of batch) for (const { text } of leavesOf(passage)) hays.shown.add(text)
  }
  for (const path of [session.path, ...session.subagents.map(({ path: own }) => own)]) {
    for await (const { kind, entry } of throughline.entries({ ...session, path })) {
      const found = kind === 'entry' ? toSearchText(entry) : undefined
      for (const text of Object.values(found?.text ?? {})) hays.found.add(text)
    }
  }
  let markdown = ''
  for await (const piece of exportSession(throughline, session, { format: 'md', secrets: 'keep' }))
    markdown += piece
  hays.exported.add(decode(markdown))
  const { messages } = await throughline.restoring
    .restore(session.id, 'anthropic')
    .catch(() => ({ messages: [] }))
  for (const { text } of leavesOf(messages)) hays.restored.add(text)
  return hays
}

function decode(text) {
  return text
    .replaceAll(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name])
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/\\([\\`*_{}[\]<>()#+.!|~-])/g, '$1')
}

/** What the agent itself wrote of a session. */
async function* linesOf(session) {
  if (session.agent === 'opencode') yield* rowsOfOpencode(session)
  else if (session.agent === 'gemini') yield* valuesOfGemini(session)
  else {
    let version
    for (const path of [session.path, ...session.subagents.map(({ path: own }) => own)]) {
      for await (const value of valuesOf(path)) {
        version = value?.version ?? value?.payload?.cli_version ?? version
        yield { value, version, label: toLabel(value) }
      }
    }
  }
}

function toLabel(value) {
  const inner =
    value?.data?.type ?? value?.payload?.type ?? value?.attachment?.type ?? value?.subtype ?? value?.operation
  return [value?.type ?? 'untyped', inner].filter((one) => typeof one === 'string').join('/')
}

async function* valuesOfGemini(session) {
  const below = join(home, 'gemini/.gemini/tmp')
  for (const name of readdirSync(below, { recursive: true })) {
    if (!/\.jsonl?$/.test(name)) continue
    let own = basename(name).replace(/\.jsonl?$/, '') === session.id
    for await (const value of valuesOf(join(below, name))) {
      own ||= value?.sessionId === session.id
      if (!own) break
      const messages = Array.isArray(value?.messages) ? value.messages : [value]
      for (const message of messages)
        yield { value: message, version: undefined, label: message?.type ?? 'operation' }
    }
  }
}

async function* rowsOfOpencode(session) {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const database = new Database(join(home, 'data/opencode/opencode.db'), { readonly: true })
  try {
    for (const table of ['message', 'part']) {
      const rows = database.prepare(`SELECT data FROM ${table} WHERE session_id = ?`).all(session.id)
      for (const { data } of rows) {
        const value = parse(String(data))
        yield { value, version: undefined, label: `${table}/${value?.type ?? value?.role ?? ''}` }
      }
    }
  } finally {
    database.close()
  }
}

function print(report) {
  console.log(`${report.sessions} sessions`)
  for (const problem of report.problems) console.log(`problem: ${problem}`)
  for (const [kind, count] of Object.entries(report.other))
    console.log(`not a transcript of ours, ${count}: ${kind}`)
  for (const [type, count] of Object.entries(report.unknown)) console.log(`unknown type, ${count}: ${type}`)
  console.log(`\n${'strings'.padStart(8)}${WAYS.map((way) => `not ${way}`.padStart(14)).join('')}  place`)
  for (const [place, row] of Object.entries(report.places).toSorted(([, a], [, b]) => b.shown - a.shown)) {
    const reason = reasonFor(place)
    if (!options.all && (reason !== undefined || row.shown + row.found + row.exported === 0)) continue
    const figures = WAYS.map((way) => String(row[way]).padStart(14)).join('')
    console.log(
      `${String(row.count).padStart(8)}${figures}  ${place}  ${toVersions(row.versions)}${reason === undefined ? '' : `  (${reason})`}`,
    )
    if (options.example && row.example !== undefined)
      console.log(`${' '.repeat(66)}${JSON.stringify(row.example)}`)
  }
  console.log('\nCounts of tokens, by place:')
  for (const [place, { count, keys }] of Object.entries(report.usages).toSorted(
    ([, a], [, b]) => b.count - a.count,
  ))
    console.log(`${String(count).padStart(8)}  ${place}  (${keys}): ${billingOf(place)}`)
  console.log('\nBilled:')
  for (const [agent, row] of Object.entries(report.billed))
    console.log(
      `${agent}: ${row.messages} messages of ${row.sessions} sessions, ${row.output} tokens written`,
    )
}

function toVersions(versions) {
  if (versions.length < 3) return versions.join(', ')
  const sorted = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return `${sorted[0]} … ${sorted.at(-1)}`
}

try {
  const root = dirname(import.meta.dirname)
  const files = await gather(
    folder,
    home,
    provideOpencode(root, () => undefined),
  )
  console.error(
    Object.entries(files)
      .map(([agent, paths]) => `${paths.length} ${agent}`)
      .join(', '),
  )
  const report = await survey(files)
  if (options.json) console.log(JSON.stringify(report, undefined, 1))
  else print(report)
} finally {
  rmSync(home, { recursive: true, force: true })
}
