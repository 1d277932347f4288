import { toTranscript, type SpeakerNames } from '#memory'
import {
  isSaidElsewhere,
  matchesQuery,
  type DocumentQuery,
  type MemoryDocument,
  type Passage,
  type SessionSummary,
} from '#model'
import type { PassageOptions } from '#wire'

/** What sessions said, as documents. It is read from the transcripts whenever it is asked for, and kept nowhere. */
export interface SessionMessages {
  /** Those that fit, of the sessions in this order, until there are `limit`; each session's newest first. */
  find(
    sessions: readonly SessionSummary[],
    asked: { readonly query: DocumentQuery; readonly limit: number },
  ): Promise<readonly MemoryDocument[]>
  /** One of them. */
  get(session: SessionSummary, entryId: string): Promise<MemoryDocument | undefined>
}

export interface SessionMessagesOptions {
  readonly now: () => number
  readonly passages: (session: SessionSummary, options?: PassageOptions) => AsyncIterable<readonly Passage[]>
  readonly namesOf: (agent: string) => Promise<SpeakerNames>
}

/** Of a longer transcript only the end is read when only the newest are asked for. */
const WHOLE_BYTES = 4 * 1024 * 1024
/** So many characters of what was read last are kept for who asks again. */
const KEPT_CHARACTERS = 16 * 1024 * 1024

/** What was found for so many queries is kept too. */
const ANSWERS = 8
/** Where so many calls stand for one message, the whole session is read. */
const MOST_CALLS = 64

type Said = { readonly messages: readonly MemoryDocument[]; readonly passages: number }
type Answered = { readonly mark: string; readonly fitting: readonly MemoryDocument[] }
type Kept = { readonly mark: string; readonly messages: readonly MemoryDocument[]; readonly size: number }

export function createSessionMessages(options: SessionMessagesOptions): SessionMessages {
  /** By path, the one that was asked for last at the end. */
  const kept = new Map<string, Kept>()
  /** By query, then by path: who asks the same again is only read what has changed. */
  const answers = new Map<string, Map<string, Answered>>()

  async function readWhole(session: SessionSummary): Promise<readonly MemoryDocument[]> {
    const mark = markOf(session)
    const known = kept.get(session.path)
    if (known?.mark === mark) return known.messages
    const { messages } = await read(session)
    const size = messages.reduce((sum, { content }) => sum + content.length, 0)
    kept.delete(session.path)
    kept.set(session.path, { mark, messages, size })
    let all = [...kept.values()].reduce((sum, one) => sum + one.size, 0)
    for (const [oldest, one] of kept) {
      if (all <= KEPT_CHARACTERS) break
      kept.delete(oldest)
      all -= one.size
    }
    return messages
  }

  async function read(session: SessionSummary, last?: number): Promise<Said> {
    if (session.path === '' || session.state === 'unreadable') return { messages: [], passages: 0 }
    const names = await options.namesOf(session.agent)
    const messages: MemoryDocument[] = []
    let passages = 0
    try {
      for await (const some of options.passages(session, last === undefined ? {} : { last })) {
        passages += some.length
        messages.push(...toMessages(session, some, names))
      }
    } catch {
      // A transcript that is gone or cannot be read says nothing; the list tells why.
      return { messages: [], passages: 0 }
    }
    return { messages, passages }
  }

  /** The newest of a long session, from its end: more and more of it, for most of it is calls. */
  async function readEnd(session: SessionSummary, limit: number): Promise<readonly MemoryDocument[]> {
    for (let last = limit * 4; last <= limit * MOST_CALLS; last *= 4) {
      const { messages, passages } = await read(session, last)
      if (messages.length >= limit || passages < last) return messages
    }
    return await readWhole(session)
  }

  async function findIn(
    session: SessionSummary,
    { query, limit }: { readonly query: DocumentQuery; readonly limit: number },
  ): Promise<readonly MemoryDocument[]> {
    const isLong = session.size > WHOLE_BYTES && takesAny(query)
    const said = isLong ? await readEnd(session, limit) : await readWhole(session)
    const isOwn = ({ createdAt }: MemoryDocument): boolean =>
      query.sessionId !== undefined || !isSaidElsewhere(session, createdAt)
    const fitting = said.filter((message) => isOwn(message) && matchesQuery(message, query, options.now()))
    return fitting.slice(-limit).toReversed()
  }

  function answersTo(asked: object): Map<string, Answered> {
    const key = JSON.stringify(asked)
    const known = answers.get(key) ?? new Map<string, Answered>()
    answers.delete(key)
    answers.set(key, known)
    const [oldest] = answers.keys()
    if (answers.size > ANSWERS && oldest !== undefined) answers.delete(oldest)
    return known
  }

  return {
    async find(sessions, asked) {
      const known = answersTo(asked)
      const found: MemoryDocument[] = []
      for (const session of sessions) {
        const mark = markOf(session)
        const before = known.get(session.path)
        const fitting = before?.mark === mark ? before.fitting : await findIn(session, asked)
        known.set(session.path, { mark, fitting })
        found.push(...fitting.slice(0, asked.limit - found.length))
        if (found.length >= asked.limit) break
      }
      return found
    },
    async get(session, entryId) {
      const id = toMessageId(session.id, entryId)
      return (await readWhole(session)).find((message) => message.id === id)
    },
  }
}

/** Another one when the transcript may say something else. */
function markOf({ size, lastActivityAt }: SessionSummary): string {
  return `${size} ${lastActivityAt ?? ''}`
}

/** The id of what was said in an entry. */
function toMessageId(sessionId: string, entryId: string): string {
  return `message:${sessionId}:${entryId}`
}

/** Whether a query leaves nothing out that one session said. */
function takesAny({ role, speakerType, speakerName, workdir, text, id }: DocumentQuery): boolean {
  return [role, speakerType, speakerName, workdir, text, id].every((facet) => facet === undefined)
}

function toMessages(
  session: SessionSummary,
  passages: readonly Passage[],
  names: SpeakerNames,
): readonly MemoryDocument[] {
  const workdirs = new Map<string, string>()
  for (const passage of passages) {
    if (passage.kind === 'damage') continue
    const workdir = passage.entries.find(({ cwd }) => cwd !== undefined)?.cwd ?? session.workdirs[0]
    if (workdir !== undefined) workdirs.set(passage.id, workdir)
  }
  return toTranscript(passages, { names }).map(({ id, speaker, name, text, at }): MemoryDocument => {
    const workdir = workdirs.get(id)
    const time = at ?? session.createdAt ?? ''
    return {
      id: toMessageId(session.id, id),
      type: 'message',
      category: 'transcript',
      sessionId: session.id,
      role: speaker === 'human' ? 'user' : 'assistant',
      speakerType: speaker,
      speakerName: name,
      tags: [],
      content: text,
      provenance: { sessionId: session.id, entryId: id, block: 0, position: 0 },
      createdAt: time,
      updatedAt: time,
      pinned: false,
      contradicts: [],
      confirmations: [],
      ...(workdir === undefined ? {} : { workdir }),
      extra: {},
    }
  })
}
