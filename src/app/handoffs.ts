import { join } from 'node:path'
import { isObject, object, parseJson, string, ThroughlineError } from '#base'
import { isNativeAgent, type NativeAgent, type SessionSummary } from '#model'
import { toSaid, type NativeRoots } from '#restore'
import type { ConvertOutcome, MemoryCalls } from '#wire'
import { packHandoff, unpackHandoff } from './handoff.ts'
import { createLineageLog, type LineageLog } from './lineage-log.ts'
import { convertSession } from './session-conversion.ts'
import { readEntries } from './session-entries.ts'

/** Sessions that go from one machine to another. */
export interface Handoffs {
  /** A bundle of the session: its transcript, what stands beside it, and what was remembered in it. */
  pack(session: SessionSummary): AsyncIterable<Uint8Array>
  /** Takes a bundle in: what it holds is kept as it was, and the session can be gone on with here. */
  takeIn(bundle: string, options?: TakeInOptions): Promise<TakenIn>
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
  /** Documents that were not known here. */
  readonly documents: number
}

export interface HandoffsOptions {
  readonly home: string
  /** Default: that of the home. */
  readonly lineage?: LineageLog
  readonly roots: NativeRoots
  readonly memory: MemoryCalls
  readonly run: (command: readonly string[], workdir: string) => Promise<void>
  /** The model to go on with in opencode. */
  readonly opencodeModel?: ((workdir: string) => string | undefined) | undefined
  readonly onWritten: () => Promise<void>
  readonly now: () => number
}

export function createHandoffs(options: HandoffsOptions): Handoffs {
  const { home, memory, now } = options
  const { lineage = createLineageLog(home) } = options
  return {
    async *pack(session) {
      yield* packHandoff(session, await documentsOf(session.id, memory))
    },
    async takeIn(bundle, { workdir, to } = {}) {
      const { manifest, path, documents } = await unpackHandoff(bundle, join(home, 'handoffs'))
      const { session, createdAt } = manifest
      const agent = to ?? getAgent(session.agent)
      const entries = await readEntries(path)
      const outcome = await convertSession(
        {
          id: session.id,
          agent: session.agent,
          name: session.name,
          createdAt,
          workdirs: manifest.workdir === undefined ? [] : [manifest.workdir],
        },
        { entries, said: toSaid(entries) },
        { ...options, lineage, to: agent, workdir, kind: 'handed-over', now },
      )
      const text = documents.map((document) => `${JSON.stringify(document)}\n`).join('')
      const { added } = text === '' ? { added: 0 } : await memory.import({ format: 'documents', text })
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
