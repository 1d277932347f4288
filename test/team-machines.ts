import { appendFileSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openThroughline, type LocalThroughline } from '#app'
import type { PostgresAddress } from '#store'
import { writeOpencode } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures')

/** One person's machine: a home, and the folders of four agents. */
export interface Machine {
  readonly folder: string
  readonly home: string
  readonly claudeDir: string
  /** Opens what the daemon keeps open. */
  open(): Promise<LocalThroughline>
  /** Writes a session of Claude Code: as many prompts as lines. */
  write(id: string, words: readonly string[]): string
  say(id: string, words: string): void
}

export function makeMachine(folder: string, store: PostgresAddress): Machine {
  const home = join(folder, 'home')
  const claudeDir = join(folder, 'claude')
  const pathOf = (id: string): string => join(claudeDir, 'projects', '-work-demo', `${id}.jsonl`)
  let count = 0
  const toLine = (id: string, words: string): string => {
    const at = new Date(Date.parse('2026-11-16T10:00:00Z') + ++count * 1000).toISOString()
    return `${JSON.stringify({
      type: 'user',
      uuid: `${id}-${count}`,
      parentUuid: null,
      sessionId: id,
      timestamp: at,
      cwd: '/work/demo',
      message: { role: 'user', content: words },
    })}\n`
  }
  mkdirSync(home, { recursive: true, mode: 0o700 })
  return {
    folder,
    home,
    claudeDir,
    open: () =>
      openThroughline({
        env: {},
        index: true,
        sweepMs: 1000,
        config: {
          home,
          claudeDir,
          codexDir: join(folder, 'codex'),
          geminiDir: join(folder, 'gemini'),
          opencodeDir: join(folder, 'opencode'),
          store,
        },
      }),
    write(id, words) {
      mkdirSync(dirname(pathOf(id)), { recursive: true })
      writeFileSync(pathOf(id), words.map((each) => toLine(id, each)).join(''))
      return pathOf(id)
    },
    say: (id, words) => appendFileSync(pathOf(id), toLine(id, words)),
  }
}

const IS_FULL = process.env['RUNS'] === 'full'

/** Puts sessions of every agent onto a machine: all there are with `RUNS=full`, else all but most of Claude Code's. */
export function plantEverything({ folder, claudeDir }: Machine): void {
  for (const path of scenarios('claude').filter((_, n) => IS_FULL || n % 4 === 0)) {
    const from = join(path, 'config', 'projects')
    cpSync(from, join(claudeDir, 'projects'), { recursive: true, force: true, errorOnExist: false })
  }
  for (const path of scenarios('codex')) cpSync(path, join(folder, 'codex'), { recursive: true })
  for (const name of ['plain', 'tools', 'thinking'])
    cpSync(join(fixtures, 'gemini', name), join(folder, 'gemini'), { recursive: true })
  writeOpencode(
    join(folder, 'opencode'),
    ...['plain', 'tools', 'thinking', 'compacted'].map((name) => join(fixtures, 'opencode', name)),
  )
}

function scenarios(agent: string): readonly string[] {
  return readdirSync(join(fixtures, agent), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(fixtures, agent, entry.name)] : [],
  )
}
