import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRecording } from '#recorder'
import {
  createClaudeSource,
  createCodexSource,
  createEntireSource,
  createGeminiSource,
  createOpencodeSource,
} from '#sources'
import {
  createRollout,
  inHalves,
  LATER,
  makeClaudePlace,
  plantLinks,
  toClaudeLine,
  type MakeSourcePlace,
  type SourcePlace,
} from '#testing'
import { addRow, openSqlite, writeOpencode } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const inFolder = (path: string): string => {
  mkdirSync(join(path, '..'), { recursive: true })
  return path
}

/** Real sessions of every agent, and what can happen to them. */
export const SOURCE_PLACES: Readonly<Record<string, MakeSourcePlace>> = {
  'Claude Code': (folder) => {
    const root = join(folder, 'claude')
    return makeClaudePlace(root, () => createClaudeSource(root))
  },

  'what is kept of Claude Code': (folder) => {
    const root = join(folder, 'kept')
    return makeClaudePlace(root, () => createClaudeSource(join(folder, 'claude')).at(root))
  },

  Codex: (folder) => {
    const root = join(folder, 'codex')
    const compacted = 'app-server-inject-compact-interrupt-fork'
    // The first Codex did not write down where it worked.
    const older = readdirSync(join(fixtures, 'codex')).filter((name) => /^version-(?!0\.1-)/u.test(name))
    for (const scenario of [
      'plain',
      'tools',
      'thinking',
      'subagent',
      'reverted-forked-archived',
      compacted,
      ...older,
    ])
      cpSync(join(fixtures, 'codex', scenario), root, { recursive: true })
    const days = join(root, 'sessions/2026/11/15')
    const plain = `rollout-2026-11-15T07-25-13-${CODEX_PLAIN}.jsonl`
    return {
      open: () => createCodexSource(root),
      agentDir: root,
      growing: CODEX_PLAIN,
      say: (words) => {
        const line = createRollout({ ordinal: 100 }).prompt(words)
        return inHalves(join(days, plain), line.replace(/"timestamp":"[^"]*"/u, `"timestamp":"${LATER}"`))
      },
      plantLinks: (target) => {
        plantLinks(days, {
          target,
          link: plain.replace(CODEX_PLAIN, '01a1de18-0000-7000-8000-000000000001'),
          pipe: plain.replace(CODEX_PLAIN, '01a1de18-0000-7000-8000-000000000002'),
        })
        symlinkSync(target, join(root, 'sessions/2026/11/14'))
      },
      remove() {
        rmSync(join(days, 'rollout-2026-11-15T07-25-18-01a1de18-a03e-7c20-8eaf-01686548e355.jsonl'))
        return '01a1de18-a03e-7c20-8eaf-01686548e355'
      },
      subagents: { '01a1e448-a67f-7712-a875-2443974a6c3e': ['01a1e448-a6f6-73f2-8546-d3747dd9c308'] },
    }
  },

  'Gemini CLI': (folder) => makeGeminiPlace(folder),

  'what is kept of Gemini CLI': async (folder) => {
    const made = makeGeminiPlace(folder)
    await made.open().find()
    const root = join(folder, 'kept')
    cpSync(join(folder, 'transcribed'), root, { recursive: true })
    const project = join(root, 'projects', '-home-user-work-gem-plain')
    return {
      ...made,
      open: () => createGeminiSource(join(folder, 'nowhere'), join(folder, 'other')).at(root),
      agentDir: root,
      say: (words) => inHalves(join(project, `${GEMINI_PLAIN}.jsonl`), toClaudeLine(GEMINI_PLAIN, words)),
      plantLinks: (target) =>
        plantLinks(project, { target, link: 'aaaaaaaa-1.jsonl', pipe: 'aaaaaaaa-2.jsonl' }),
      remove() {
        rmSync(join(root, 'projects', '-home-user-work-gem-think'), { recursive: true })
        return GEMINI_THINKING
      },
    }
  },

  opencode: (folder) => {
    const dataDir = join(folder, 'opencode')
    const scenarios = ['plain', 'tools', 'thinking', 'compacted']
    const path = writeOpencode(dataDir, ...scenarios.map((name) => join(fixtures, 'opencode', name)))
    const change = (act: (db: ReturnType<typeof openSqlite>) => void): void => {
      const db = openSqlite(path)
      act(db)
      db.close()
    }
    const at = Date.parse(LATER)
    const told = (id: string): object => ({
      id,
      session_id: OPENCODE_PLAIN,
      time_created: at,
      time_updated: at,
    })
    let said = 0
    change((db) => {
      addRow(db, 'session', {
        id: 'ses_delegated',
        parent_id: OPENCODE_PLAIN,
        directory: '/w',
        time_created: 1,
      })
      const data = JSON.stringify({ role: 'user', time: { created: 1 } })
      const times = { session_id: 'ses_delegated', time_created: 1, time_updated: 1 }
      addRow(db, 'message', { id: 'msg_delegated', ...times, data })
      const text = JSON.stringify({ type: 'text', text: 'look around' })
      addRow(db, 'part', { id: 'prt_delegated', message_id: 'msg_delegated', ...times, data: text })
    })
    return {
      open: () => createOpencodeSource(dataDir, join(folder, 'transcribed')),
      agentDir: dataDir,
      growing: OPENCODE_PLAIN,
      say: (words) => {
        const id = `msg_zzz${String(++said)}`
        const message = { role: 'user', time: { created: at }, agent: 'build' }
        const part = { message_id: id, data: JSON.stringify({ type: 'text', text: words }) }
        const rows = [
          ['message', { ...told(id), data: JSON.stringify(message) }],
          ['part', { ...told(`prt_zzz${String(said)}`), ...part }],
        ] as const
        return rows.map(([table, row]) => () => {
          change((db) => {
            addRow(db, table, row)
            // Every change that opencode makes has a number.
            db.prepare('UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = ?').run(OPENCODE_PLAIN)
          })
        })
      },
      plantLinks: (target) => {
        const old = join(dataDir, 'storage', 'session', 'global')
        mkdirSync(old, { recursive: true })
        plantLinks(old, { target, link: 'ses_link.json', pipe: 'ses_pipe.json' })
      },
      remove() {
        change((db) => db.prepare('DELETE FROM session WHERE id = ?').run(OPENCODE_THINKING))
        return OPENCODE_THINKING
      },
      subagents: { [OPENCODE_PLAIN]: ['ses_delegated'] },
    }
  },

  'recordings and what Entire copies': async (folder) => {
    const work = join(folder, 'work')
    const metadata = join(work, '.entire', 'metadata')
    const claude = join(fixtures, 'claude')
    const copied = [
      [CLAUDE_PLAIN, 'plain/config/projects/-home-user-work-plain'],
      [CLAUDE_SUBAGENT, 'subagent/config/projects/-home-user-work-subagent'],
    ] as const
    for (const [id, from] of copied) {
      cpSync(join(claude, from, `${id}.jsonl`), inFolder(join(metadata, id, 'full.jsonl')))
    }
    const side = join(
      claude,
      'subagent/config/projects/-home-user-work-subagent',
      CLAUDE_SUBAGENT,
      'subagents',
    )
    cpSync(side, join(metadata, CLAUDE_SUBAGENT, 'subagents'), { recursive: true })
    const recording = await openRecording({ cwd: work, agent: 'forgeflare', version: '1', register: false })
    await recording.user('explain main.rs')
    await recording.assistant({ content: `It starts things. ${'And so on. '.repeat(2_000)}` })
    await recording.end()
    return {
      open: () => createEntireSource({ folders: () => [work], root: folder }),
      agentDir: work,
      growing: CLAUDE_PLAIN,
      say: (words) => inHalves(join(metadata, CLAUDE_PLAIN, 'full.jsonl'), toClaudeLine(CLAUDE_PLAIN, words)),
      plantLinks: (target) => {
        symlinkSync(target, join(metadata, 'aaaaaaaa-0000-4000-8000-000000000001'))
        const other = join(metadata, 'aaaaaaaa-0000-4000-8000-000000000002')
        mkdirSync(other)
        plantLinks(other, { target, link: 'full.jsonl', pipe: 'prompt.txt' })
      },
      remove() {
        rmSync(recording.path.replace(/full\.jsonl$/u, ''), { recursive: true })
        return recording.sessionId
      },
      subagents: { [CLAUDE_SUBAGENT]: ['a9c4adc48fe6a953f'] },
    }
  },
}

function makeGeminiPlace(folder: string): SourcePlace {
  const root = join(folder, '.gemini')
  for (const scenario of ['plain', 'tools', 'thinking', 'resumed'])
    cpSync(join(fixtures, 'gemini', scenario, 'tmp', 'w'), join(root, 'tmp', scenario), { recursive: true })
  const chats = join(root, 'tmp', 'plain', 'chats')
  const header = { sessionId: 'explorer-1', startTime: LATER, kind: 'subagent' }
  const asked = { id: '1', timestamp: LATER, type: 'user', content: 'look around' }
  const delegated = inFolder(join(chats, GEMINI_PLAIN, 'explorer-1.jsonl'))
  writeFileSync(delegated, `${JSON.stringify(header)}\n${JSON.stringify(asked)}\n`)
  let said = 0
  return {
    open: () => createGeminiSource(root, join(folder, 'transcribed')),
    agentDir: root,
    growing: GEMINI_PLAIN,
    say: (words) => {
      const message = {
        id: `said-${String(++said)}`,
        timestamp: LATER,
        type: 'user',
        content: [{ text: words }],
      }
      const path = join(chats, 'session-2026-11-15T07-32-52ebe1ee.jsonl')
      return inHalves(path, `${JSON.stringify(message)}\n`)
    },
    plantLinks: (target) => {
      plantLinks(chats, {
        target,
        link: 'session-2026-11-15T09-00-aaaaaaaa.jsonl',
        pipe: 'session-2026-11-15T09-00-bbbbbbbb.jsonl',
      })
      symlinkSync(target, join(root, 'tmp', 'linked'))
    },
    remove() {
      rmSync(join(root, 'tmp', 'thinking'), { recursive: true })
      return GEMINI_THINKING
    },
    subagents: { [GEMINI_PLAIN]: ['explorer-1'] },
  }
}

const CLAUDE_PLAIN = 'b1cb2893-e5dc-43a8-98e4-56f0fd022834'
const CLAUDE_SUBAGENT = '64d3dcee-fd77-4351-b97a-8f893ae3c006'
const CODEX_PLAIN = '01a1de18-8bda-70d3-afec-0bf95f6c91d7'
const GEMINI_PLAIN = '52ebe1ee-0b4a-4b2e-8be3-666d282cce1a'
const GEMINI_THINKING = '2cf90de8-e57a-41a4-8f65-e15762d99c36'
const OPENCODE_PLAIN = 'ses_e21d90cd4fferrNdl5Ny8lM9Xc'
const OPENCODE_THINKING = 'ses_e21d84019ffeKJUwJJOF8BLRa0'
