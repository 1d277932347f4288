import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { isObject, list, parseJson, string, type JsonObject } from '#base'
import { createOpencodeSource, type Source } from '#sources'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addRow, openOpencode, openSqlite, outlinesOf, writeOpencode } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures/opencode')
let temp: TempDir
let data: string
let source: Source
beforeEach(async () => {
  temp = await openTempDir()
  data = join(temp.path, 'data')
  source = createOpencodeSource(data, join(temp.path, 'opencode'))
})
afterEach(() => temp.remove())

function picture(): readonly unknown[] {
  return readdirSync(data)
    .toSorted()
    .map((name) => {
      const { mtimeMs, ino, nlink } = statSync(join(data, name))
      const isIndex = name.endsWith('-shm')
      const hash = isIndex
        ? ''
        : createHash('sha256')
            .update(readFileSync(join(data, name)))
            .digest('hex')
      return [name, isIndex ? 0 : mtimeMs, ino, nlink, hash]
    })
}

test('[OPC2] a database at rest is read without a trace: no file beside it, no time changed', async () => {
  writeOpencode(data, join(fixtures, 'tools'))
  const before = picture()
  expect(before.map((row) => (Array.isArray(row) ? row[0] : ''))).toEqual(['opencode.db'])
  expect((await source.list()).sessions).toHaveLength(1)
  expect(picture()).toEqual(before)
  expect(readdirSync(join(temp.path, 'opencode')).filter((name) => name.startsWith('at-rest'))).toEqual([])
})

test('[OPC2] a database whose opencode was killed is read with its log, and neither is changed', async () => {
  const path = writeOpencode(data, join(fixtures, 'plain'))
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3')
  const code = `const db = new (require(${JSON.stringify(sqlite)}))(${JSON.stringify(path)})
    db.exec("UPDATE session SET title = 'in the log', time_updated = 7"); process.kill(process.pid, 'SIGKILL')`
  expect(() => execFileSync(process.execPath, ['-e', code])).toThrow(/Command failed|SIGKILL/u)
  const before = picture()
  expect(before).toHaveLength(3)
  expect((await source.list()).sessions.map(({ name }) => name)).toEqual(['in the log'])
  expect(picture()).toEqual(before)
})

test('[OPC3] tables with tokens and accounts are never asked', async () => {
  const path = writeOpencode(data, join(fixtures, 'plain'))
  const asked: string[] = []
  const db = openSqlite(path)
  db.close()
  await source.list()
  const kept = readdirSync(join(temp.path, 'opencode'), { recursive: true, withFileTypes: true })
  for (const each of kept.filter((file) => file.isFile()))
    expect(readFileSync(join(each.parentPath, each.name), 'utf8')).not.toContain('not-to-be-read')
  const code = readFileSync(join(import.meta.dirname, '../src/sources/opencode/database.ts'), 'utf8')
  for (const [, table = ''] of code.matchAll(/\bFROM "?([a-z_]+)/gu)) asked.push(table)
  expect([...new Set(asked)].toSorted()).toEqual(['event_sequence', 'part', 'pragma_table_info', 'session'])
  expect(code).toContain("['session', 'message', 'part', 'event_sequence']")
})

test('[OPC4] other versions have other tables and columns: what is there is read', async () => {
  const path = writeOpencode(data, join(fixtures, 'plain'))
  const db = openSqlite(path)
  db.exec(
    'DROP TABLE event_sequence; ALTER TABLE session DROP COLUMN version; ALTER TABLE session DROP COLUMN time_archived',
  )
  db.close()
  const { sessions, problems } = await source.list()
  expect(problems).toEqual([])
  expect(sessions.map(({ firstPrompt }) => firstPrompt)).toEqual(['"Say hi [[PLAIN]]"'])
  const bare = openSqlite(path)
  bare.exec('DROP TABLE part')
  bare.close()
  expect((await source.list()).sessions).toHaveLength(1)
})

test('[OPC4] a file that is no database is a problem, and nothing that was known is lost', async () => {
  const path = writeOpencode(data, join(fixtures, 'plain'))
  await source.list()
  const db = openSqlite(path)
  db.close()
  execFileSync(process.execPath, [
    '-e',
    `require('fs').writeFileSync(${JSON.stringify(path)}, 'x'.repeat(5000))`,
  ])
  const { sessions, problems } = await source.list()
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('not a database')])
  expect(sessions).toHaveLength(1)
})

let seq = 0
function put(
  db: Database,
  table: 'message' | 'part',
  row: { readonly id: string; readonly message_id?: string; readonly data: JsonObject },
): void {
  seq += 1
  addRow(db, table, {
    session_id: 'ses_1',
    time_created: seq,
    time_updated: seq,
    ...row,
    data: JSON.stringify(row.data),
  })
  addRow(db, 'event_sequence', { aggregate_id: 'ses_1', seq })
}

function tool(
  id: string,
  state: JsonObject,
): { readonly id: string; readonly message_id: string; readonly data: JsonObject } {
  return { id, message_id: 'msg_2', data: { type: 'tool', tool: 'bash', callID: `call_${id}`, state } }
}

async function linesNow(): Promise<readonly JsonObject[]> {
  const [files] = (await source.find()).sessions
  const text = readFileSync(files?.path ?? '', 'utf8')
  return text.split('\n').map(parseJson).filter(isObject)
}

test('[OPC6] calls that run at the same time are told as they begin and end, and nothing that was told changes', async () => {
  const db = openSqlite(openOpencode(data))
  addRow(db, 'session', { id: 'ses_1', directory: '/w', title: 't', time_updated: 1 })
  put(db, 'message', { id: 'msg_1', data: { role: 'user', time: { created: 1 } } })
  put(db, 'part', { id: 'prt_1', message_id: 'msg_1', data: { type: 'text', text: 'go' } })
  const answer = { role: 'assistant', parentID: 'msg_1', modelID: 'm', providerID: 'anthropic' }
  put(db, 'message', { id: 'msg_2', data: { ...answer, time: { created: 2 } } })
  const states: (readonly JsonObject[])[] = []
  const look = async (): Promise<void> => void states.push(await linesNow())
  const running = (start: number): JsonObject => ({
    status: 'running',
    input: { command: 'ls' },
    time: { start },
  })
  const done = (start: number, end: number): JsonObject => ({
    ...running(start),
    status: 'completed',
    output: 'ok',
    time: { start, end },
  })
  await look()
  put(db, 'part', { id: 'prt_2', message_id: 'msg_2', data: { type: 'text', text: '' } })
  put(db, 'part', tool('prt_3', running(10)))
  await look()
  put(db, 'part', {
    id: 'prt_2',
    message_id: 'msg_2',
    data: { type: 'text', text: 'well', time: { end: 11 } },
  })
  await look()
  put(db, 'part', tool('prt_4', { status: 'pending', input: {} }))
  put(db, 'part', tool('prt_4', running(12)))
  await look()
  put(db, 'part', tool('prt_4', done(12, 13)))
  await look()
  put(
    db,
    'part',
    tool('prt_3', { ...running(10), status: 'error', error: 'no', time: { start: 10, end: 14 } }),
  )
  const tokens = { input: 5, output: 3, reasoning: 2, cache: { read: 7, write: 1 } }
  put(db, 'message', {
    id: 'msg_2',
    data: { ...answer, tokens, finish: 'tool-calls', time: { created: 2, completed: 15 } },
  })
  await look()
  db.close()
  expect(states.map((lines) => lines.map(({ uuid }) => uuid))).toEqual([
    ['msg_1'],
    ['msg_1'],
    ['msg_1', 'prt_2', 'prt_3'],
    ['msg_1', 'prt_2', 'prt_3', 'prt_4'],
    ['msg_1', 'prt_2', 'prt_3', 'prt_4', 'prt_4:result'],
    ['msg_1', 'prt_2', 'prt_3', 'prt_4', 'prt_4:result', 'prt_3:result', 'msg_2'],
  ])
  for (const [index, lines] of states.entries())
    expect(lines.slice(0, states[index - 1]?.length ?? 0)).toEqual(states[index - 1] ?? [])
  const usage = {
    input_tokens: 5,
    output_tokens: 5,
    cache_read_input_tokens: 7,
    cache_creation_input_tokens: 1,
  }
  expect(states.at(-1)?.at(-1)).toMatchObject({
    provider: 'anthropic',
    message: { id: 'msg_2', stop_reason: 'tool_use', usage },
  })
})

test('[OPC7] a fork does not bill what it copied', async () => {
  const db = openSqlite(writeOpencode(data, join(fixtures, 'tools')))
  const [session] = db.prepare('SELECT * FROM session').all()
  const messages = db.prepare('SELECT * FROM message').all()
  const parts = db.prepare('SELECT * FROM part').all()
  if (isObject(session))
    addRow(db, 'session', {
      ...session,
      id: 'ses_fork',
      title: `${string(session, 'title') ?? ''} (fork #1)`,
    })
  for (const row of messages)
    if (isObject(row))
      addRow(db, 'message', { ...row, id: `${string(row, 'id') ?? ''}f`, session_id: 'ses_fork' })
  for (const row of parts)
    if (isObject(row))
      addRow(db, 'part', {
        ...row,
        id: `${string(row, 'id') ?? ''}f`,
        message_id: `${string(row, 'message_id') ?? ''}f`,
        session_id: 'ses_fork',
      })
  db.close()
  const outline = await outlinesOf(source)
  expect(outline).toContain('in all {"input":1860,"output":40,"cacheRead":200')
  expect(outline.match(/inherited 1860 in/gu)).toHaveLength(1)
})

test('[OPC8] a subagent lies with the session that began it, and with the call', async () => {
  const db = openSqlite(writeOpencode(data, join(fixtures, 'tools')))
  const parent = string(db.prepare('SELECT id FROM session').get(), 'id') ?? ''
  addRow(db, 'session', {
    id: 'ses_child',
    parent_id: parent,
    directory: '/w',
    title: 'child',
    time_updated: 1,
  })
  addRow(db, 'message', {
    id: 'msg_c',
    session_id: 'ses_child',
    time_updated: 1,
    data: JSON.stringify({ role: 'user' }),
  })
  addRow(db, 'part', {
    id: 'prt_c',
    message_id: 'msg_c',
    session_id: 'ses_child',
    time_updated: 1,
    data: JSON.stringify({ type: 'text', text: 'look around' }),
  })
  const call = db.prepare(`SELECT id, data FROM part WHERE data LIKE '%"callID"%'`).get()
  const part = parseJson(string(call, 'data') ?? '')
  const state = isObject(part) && isObject(part['state']) ? part['state'] : {}
  db.prepare('UPDATE part SET data = ? WHERE id = ?').run(
    JSON.stringify({
      ...(isObject(part) ? part : {}),
      tool: 'task',
      state: { ...state, metadata: { sessionId: 'ses_child' } },
    }),
    string(call, 'id'),
  )
  db.close()
  const { sessions } = await source.list()
  expect(sessions.map(({ id, subagents }) => [id, subagents.map((each) => each.id)])).toEqual([
    [parent, ['ses_child']],
  ])
  expect(await outlinesOf(source)).toMatch(/task .* agent ses_child/u)
  expect(list(sessions[0], 'subagents')).toHaveLength(1)
})

test('[OPC9] what failed and what was stopped is told as that', async () => {
  const db = openSqlite(openOpencode(data))
  addRow(db, 'session', { id: 'ses_1', directory: '/w', title: '', time_updated: 1 })
  const prompt = (id: string, created: number): void => {
    put(db, 'message', { id, data: { role: 'user', time: { created } } })
    put(db, 'part', { id: `${id}p`, message_id: id, data: { type: 'text', text: `said ${id}` } })
    put(db, 'part', {
      id: `${id}q`,
      message_id: id,
      data: { type: 'text', text: 'read it first', synthetic: true },
    })
    put(db, 'part', {
      id: `${id}r`,
      message_id: id,
      data: { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA' },
    })
  }
  const failed = (id: string, error: JsonObject): void =>
    put(db, 'message', { id, data: { role: 'assistant', time: { created: 1, completed: 2 }, error } })
  prompt('msg_1', 1)
  failed('msg_2', { name: 'APIError', data: { message: 'overloaded' } })
  prompt('msg_3', 3)
  failed('msg_4', { name: 'MessageAbortedError', data: { message: 'aborted' } })
  db.close()
  const outline = await outlinesOf(source)
  expect(outline).toContain('turn 1: failed')
  expect(outline).toContain('turn 2: interrupted')
  expect(outline).toContain('> person: text "said msg_1" + image')
  expect(outline).not.toContain('read it first')
})
