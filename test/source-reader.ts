import {
  createLedger,
  createPassageFold,
  createSurvey,
  type Chain,
  type Entry,
  type Passage,
  type Reading,
  type SessionSummary,
} from '#model'
import { openTranscript, readConversation, readForward, type Source } from '#sources'

/** What a source and the folds make of its sessions, without an index, a daemon or settings in between. */
export interface SourceReader {
  readonly list: () => Promise<readonly SessionSummary[]>
  readonly readings: (path: string) => Promise<readonly Reading[]>
  readonly passages: (
    session: SessionSummary,
    options?: { readonly subagent?: string },
  ) => AsyncIterable<readonly Passage[]>
  readonly conversation: (session: Pick<SessionSummary, 'path'>) => Promise<readonly Entry[]>
}

export function createSourceReader(source: Source): SourceReader {
  const ledger = createLedger()

  async function readings(path: string): Promise<readonly Reading[]> {
    const file = openTranscript(path)
    try {
      const found: Reading[] = []
      for await (const batch of readForward(file, source.format)) found.push(...batch.readings)
      return found
    } finally {
      file.close()
    }
  }

  async function survey(session: SessionSummary): Promise<SessionSummary> {
    const fold = createSurvey(session.id, ledger)
    const all = await readings(session.path)
    fold.addLines(all.length)
    for (const reading of all) {
      if (reading.kind === 'entry') fold.addEntry(reading.entry)
      else fold.addDamage(reading.damage)
    }
    for (const { path } of session.subagents) {
      for (const reading of await readings(path))
        if (reading.kind === 'entry') fold.addSubagentEntry(reading.entry, path)
    }
    return { ...session, facts: fold.finish().facts }
  }

  async function chainOf(path: string): Promise<Chain> {
    const fold = createSurvey(path)
    for (const reading of await readings(path)) if (reading.kind === 'entry') fold.addEntry(reading.entry)
    return fold.finish().chain
  }

  return {
    async list() {
      const { sessions } = await source.list()
      const full: SessionSummary[] = []
      for (const session of sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
        full.push(session.state === 'unreadable' ? session : await survey(session))
      return full
    },
    readings,
    async *passages(session, options = {}) {
      const path = session.subagents.find(({ id }) => id === options.subagent)?.path ?? session.path
      const fold = createPassageFold(await chainOf(path))
      for (const reading of await readings(path)) {
        const whole = fold.add(reading)
        if (whole !== undefined) yield whole
      }
      const rest = fold.finish()
      if (rest !== undefined) yield rest
    },
    async conversation({ path }) {
      const file = openTranscript(path)
      try {
        return (await readConversation(file, source.format)).entries
      } finally {
        file.close()
      }
    },
  }
}
