import { join } from 'node:path'
import { isObject, object, parseJson, string, ThroughlineError } from '#base'
import { isNativeAgent, type Digest, type NativeAgent, type SessionSummary, type TeamSelf } from '#model'
import { toSaid, type NativeRoots } from '#restore'
import type { ConvertOutcome, MemoryCalls } from '#wire'
import { toAuthors, toSaidBy, type AuthorLog, type SaidBy } from './author-log.ts'
import { packHandoff, unpackHandoff } from './handoff.ts'
import { createLineageLog, type LineageLog } from './lineage-log.ts'
import { convertSession } from './session-conversion.ts'
import { readSession } from './session-entries.ts'
import type { ReadWritten } from './written-check.ts'

/** Sessions that go from one machine to another. */
export interface Handoffs {
  /** A bundle of the session: its transcript, what stands beside it, and what was remembered in it. */
  pack(session: SessionSummary): AsyncIterable<Uint8Array>
  /** Takes a bundle in: what it holds is kept as it was, and the session can be gone on with here. */
  takeIn(bundle: string, options?: TakeInOptions): Promise<TakenIn>
  /** Goes on here with a session of another machine whose transcript is here. */
  goOn(session: SessionSummary, options: TakeInOptions): Promise<ConvertOutcome>
}

export interface TakeInOptions {
  /** The folder here in which the session goes on. Default: the one it had, if that is here too. */
  readonly workdir?: string | undefined
  /** The agent to go on in. Default: its own. */
  readonly to?: NativeAgent | undefined
}

export interface TakenIn extends ConvertOutcome {
  /** The session as it was over there. */
  readonly from: { readonly sessionId: string; readonly agent: string; readonly workdir?: string | undefined }
  /** Its transcript, byte for byte. */
  readonly path: string
  /** Documents that were not known here. They are held until a person approves them. */
  readonly documents: number
}

export interface HandoffsOptions {
  readonly home: string
  /** Default: that of the home. */
  readonly lineage?: LineageLog
  readonly roots: NativeRoots
  readonly memory: MemoryCalls
  /** Who said what. */
  readonly authors?: AuthorLog | undefined
  readonly digest?: ((session: SessionSummary) => Promise<Digest>) | undefined
  /** Who is here, as a team knows him. */
  readonly self?: (() => Pick<TeamSelf, 'person' | 'machine'> | undefined) | undefined
  readonly run: (command: readonly string[], workdir: string) => Promise<void>
  /** The model to go on with in opencode. */
  readonly opencodeModel?: ((workdir: string) => string | undefined) | undefined
  /** Reads a session that was written for an agent. */
  readonly readWritten?: ReadWritten | undefined
  readonly onWritten: () => Promise<void>
  readonly now: () => number
}

export function createHandoffs(options: HandoffsOptions): Handoffs {
  const { home, memory, now } = options
  const { lineage = createLineageLog(home), authors } = options

  /** Nothing where only one person has ever said something, whom nobody has given a name. */
  async function authorsOf(session: SessionSummary): Promise<readonly SaidBy[]> {
    const authorship = authors?.of(session.id)
    const self = options.self?.()
    const isKnown = self !== undefined || (authorship?.inherited.length ?? 0) > 0
    if (!isKnown || authorship === undefined || options.digest === undefined) return []
    const { outline } = await options.digest(session)
    const { person = '', machine = '' } = session.origin ?? self ?? {}
    return toSaidBy(outline, toAuthors(outline, authorship, { person, machine }))
  }

  return {
    async *pack(session) {
      const documents = await documentsOf(session.id, memory)
      yield* packHandoff(session, { documents, authors: await authorsOf(session) })
    },
    async goOn(session, { workdir, to }) {
      const { origin: place, agent } = session
      const read = await readSession(session.path)
      const origin = place && { origin: place.origin, machine: place.machine, person: place.person }
      return await convertSession(
        session,
        { entries: read.entries, said: toSaid(read.entries, read) },
        { ...options, lineage, to: to ?? getAgent(agent), workdir, kind: 'handed-over', now, origin },
      )
    },
    async takeIn(bundle, { workdir, to } = {}) {
      const { manifest, path, documents } = await unpackHandoff(bundle, join(home, 'handoffs'))
      const { session, createdAt } = manifest
      const agent = to ?? getAgent(session.agent)
      const read = await readSession(path)
      const outcome = await convertSession(
        {
          id: session.id,
          agent: session.agent,
          name: session.name,
          createdAt,
          workdirs: manifest.workdir === undefined ? [] : [manifest.workdir],
        },
        { entries: read.entries, said: toSaid(read.entries, read) },
        { ...options, lineage, to: agent, workdir, kind: 'handed-over', now },
      )
      const text = documents.map((document) => `${JSON.stringify(document)}\n`).join('')
      const bundled = { format: 'documents', text, from: `a handoff of session ${session.id}` } as const
      const { added } = text === '' ? { added: 0 } : await memory.import(bundled)
      await options.authors?.addInherited(outcome.sessionId, manifest.authors)
      await options.onWritten()
      const from = { sessionId: session.id, agent: session.agent, workdir: manifest.workdir }
      return { ...outcome, from, path, documents: added }
    },
  }
}

function getAgent(agent: string): NativeAgent {
  if (isNativeAgent(agent)) return agent
  throw new ThroughlineError('request-invalid', `${agent} cannot be given a session`, {
    hint: 'Name the agent to go on in: --in claude.',
  })
}

/** Every version of what was promoted in a session, and the bytes that go with it. */
async function documentsOf(sessionId: string, memory: MemoryCalls): Promise<readonly object[]> {
  const lines = (await memory.export()).split('\n').flatMap((line) => {
    const value = parseJson(line)
    return isObject(value) ? [value] : []
  })
  return lines.filter((line) => string(object(line, 'document'), 'sourceSessionId') === sessionId)
}
