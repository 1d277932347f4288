import { homedir } from 'node:os'
import { ThroughlineError } from '#base'
import { createLedger, type SessionSummary } from '#model'
import {
  createClaudeSource,
  openTranscript,
  readConversation,
  readForward,
  readPageAfter,
  readPageBefore,
  type Reading,
  type Source,
  type TranscriptFile,
} from '#sources'
import { toReport } from './check.ts'
import { readConfig, realPathOf } from './config.ts'
import { getSession } from './get-session.ts'
import { listSessions, withFacts } from './list-sessions.ts'
import { readLastPassages, readPassages } from './passages.ts'
import { surveySession } from './survey-session.ts'
import type { Config, Page, PageOptions, Throughline } from './throughline.ts'

export interface OpenOptions {
  /** Where settings are read from. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Settings that win over the environment. */
  readonly config?: Partial<Config>
}

/** Opens Throughline in this process. Reads the environment once, here. */
export async function openThroughline(options: OpenOptions = {}): Promise<Throughline> {
  const fromEnv = readConfig({ env: options.env ?? process.env, homeDir: homedir() })
  const given = { ...fromEnv, ...options.config }
  const config: Config = { ...given, allowedRoots: given.allowedRoots.map(realPathOf) }
  const source = createClaudeSource(config.claudeDir)

  return {
    config,
    list: (filter = {}) => listSessions(source, config, filter),
    async get(query) {
      const { sessions } = await listSessions(source, config, {})
      return getSession(sessions, query)
    },
    async survey(session) {
      const { result } = await surveySession(source, session, createLedger())
      return withFacts(session, result)
    },
    async *passages(session, { subagent, last } = {}) {
      const path = subagent === undefined ? session.path : subagentPath(session, subagent)
      yield* withFile(path, async function* (file) {
        if (last === undefined) yield* readPassages(file, source.format)
        else yield await readLastPassages(file, source.format, last)
      })
    },
    async *entries(session) {
      yield* withFile(session.path, async function* (file): AsyncGenerator<Reading> {
        for await (const { readings } of readForward(file, source.format)) yield* readings
      })
    },
    page: (session, request) => readPage(source, session, request),
    async conversation(session) {
      const file = openTranscript(session.path)
      try {
        return (await readConversation(file, source.format)).entries
      } finally {
        file.close()
      }
    },
    async check(session) {
      if (session.state === 'unreadable') return toReport(session, undefined, new Map())
      const { result, subagentDamage } = await surveySession(source, session, createLedger())
      return toReport(session, result, subagentDamage)
    },
    async *bytes(session) {
      yield* withFile(session.path, readBytes)
    },
    async close() {
      // Nothing is held open between calls yet.
    },
  }
}

async function readPage(source: Source, session: SessionSummary, request: PageOptions): Promise<Page> {
  const { limit, before, after } = request
  const file = openTranscript(session.path)
  try {
    const page =
      after === undefined
        ? await readPageBefore(file, source.format, { limit, ...(before === undefined ? {} : { before }) })
        : await readPageAfter(file, source.format, { limit, after })
    return {
      readings: page.readings,
      ...(page.start > 0 ? { before: page.start } : {}),
      ...(page.end < file.size ? { after: page.end } : {}),
    }
  } finally {
    file.close()
  }
}

function subagentPath(session: SessionSummary, id: string): string {
  const found = session.subagents.find((subagent) => subagent.id === id)
  if (found) return found.path
  throw new ThroughlineError('session-not-found', `session ${session.id} has no subagent ${id}`, {
    hint: 'Its subagents are listed by `throughline show`.',
  })
}

async function* withFile<T>(
  path: string,
  use: (file: TranscriptFile) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const file = openTranscript(path)
  try {
    yield* use(file)
  } finally {
    file.close()
  }
}

const PIECE = 256 * 1024

async function* readBytes(file: TranscriptFile): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < file.size;) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, file.size - position))
    const count = await file.read(buffer, buffer.length, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}
