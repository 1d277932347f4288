import { setTimeout as sleep } from 'node:timers/promises'
import { toTranscript, type PreviousSession, type SpeakerNames, type SpokenMessage } from '#memory'
import { byActivity, isLive, isWakeUp, parseDirectives, type Passage, type SessionSummary } from '#model'
import { guardEgress, redact } from '#redact'
import { findRecorder } from '#sources'
import type { PreviousTranscript } from '#wire'
import { realPathOf } from './config.ts'

export interface FindPreviousOptions {
  readonly sessions: () => Promise<readonly SessionSummary[]>
  /** Whether new sessions may be told what was said there. */
  readonly believes: (session: SessionSummary) => boolean
  readonly passages: (session: SessionSummary) => AsyncIterable<readonly Passage[]>
  /** What is said by whom, in a session of this agent. */
  readonly namesOf: (agent: string) => SpeakerNames
}

export interface PreviousWanted {
  /** With all links resolved. */
  readonly workdir: string
  /** The session that is begun: it does not come after itself. */
  readonly sessionId?: string | undefined
}

/** A session that just ended, and what of it must be on disk before it is read. */
export interface EndedSession {
  /** Ours, and the one that its agent has given it: it is listed under one of them. */
  readonly ids: readonly (string | undefined)[]
  /** Ids of entries that were told live, and that its agent may still be writing. */
  readonly told: readonly string[]
}

/** How long an agent that has ended may take to write its last lines, and we to hear of them. */
const WRITING_MS = 5_000
const PAUSE_MS = 100

/**
 * The completed session of a folder, of whatever agent, whose last message is the latest. Completed: no process holds
 * it, a person has said something in it, and the agent something back. Subagents and samples are none.
 */
export async function findPrevious(
  wanted: PreviousWanted,
  options: FindPreviousOptions,
): Promise<PreviousSession | undefined> {
  const isHere = createFolderTest(wanted.workdir)
  const candidates = (await options.sessions())
    .filter(
      (session) =>
        session.id !== wanted.sessionId &&
        isReadable(session) &&
        !isLive(session.live) &&
        !isBeingRecorded(session) &&
        session.workdirs.some(isHere) &&
        options.believes(session),
    )
    .toSorted(byActivity)
  let best: PreviousSession | undefined
  for (const session of candidates) {
    // What stands last in a file may be no message; so the next ones may have spoken later, but none after this.
    if (best !== undefined && (session.lastActivityAt ?? '') <= best.ended) break
    const { previous, isComplete } = await readPrevious(session, options)
    if (isComplete && (best === undefined || previous.ended > best.ended)) best = previous
  }
  return best
}

function isBeingRecorded({ path, recorded }: SessionSummary): boolean {
  return recorded !== undefined && findRecorder(path) !== undefined
}

/**
 * The session that was ended for a new one, once all that was told of it is on disk. Nothing when nobody has said
 * anything in it.
 */
export async function findEnded(
  { ids, told }: EndedSession,
  options: FindPreviousOptions,
): Promise<PreviousSession | undefined> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    const session = (await options.sessions()).find((each) => ids.includes(each.id) && isReadable(each))
    const read = session && (await readPrevious(session, options))
    const isThere = read !== undefined && told.every((entry) => read.entries.has(entry))
    if (isThere || waited >= WRITING_MS) return read?.hasPrompt === true ? read.previous : undefined
    await sleep(PAUSE_MS)
  }
}

/** A transcript that a client kept itself, by the same rules as one that is read. */
export function toGiven(
  { sessionId, ended, messages }: PreviousTranscript,
  names: SpeakerNames,
): PreviousSession {
  return {
    sessionId,
    ended,
    messages: messages.flatMap(({ id, speaker, name, text: said }, index) => {
      const text = (speaker === 'agent' ? parseDirectives(said).text : said).trim()
      if (text === '' || (speaker === 'human' && isWakeUp(text))) return []
      return [{ id: id ?? `message-${index + 1}`, speaker, name: toName(name) ?? names[speaker], text }]
    }),
  }
}

/** A name is one line, and no place for a secret. */
function toName(name: string | undefined): string | undefined {
  const clean = guardEgress(() => redact((name ?? '').slice(0, LONGEST_READ)))
  const text = clean.state === 'refused' ? '' : clean.text.slice(0, LONGEST_NAME).trim()
  return text === '' ? undefined : text
}

const LONGEST_NAME = 80
/** Masked before it is cut: half of a secret is none that anybody would know. */
const LONGEST_READ = 10_000

interface ReadPrevious {
  readonly previous: PreviousSession
  readonly hasPrompt: boolean
  readonly isComplete: boolean
  readonly entries: ReadonlySet<string>
}

async function readPrevious(
  session: SessionSummary,
  { passages, namesOf }: FindPreviousOptions,
): Promise<ReadPrevious> {
  const names = namesOf(session.agent)
  const messages: SpokenMessage[] = []
  const entries = new Set<string>()
  let hasPrompt = false
  for await (const some of passages(session)) {
    const said = toTranscript(some, { names })
    messages.push(...said)
    const ids = new Set(said.map(({ id }) => id))
    for (const passage of some) {
      if (passage.kind === 'damage') continue
      for (const entry of passage.entries) entries.add(entry.id)
      hasPrompt ||= passage.kind === 'prompt' && passage.origin === 'person' && ids.has(passage.id)
    }
  }
  const ended = messages.findLast(({ at }) => at !== undefined)?.at ?? session.lastActivityAt ?? ''
  return {
    previous: { sessionId: session.id, ended, messages },
    hasPrompt,
    isComplete: hasPrompt && messages.some(({ speaker }) => speaker === 'agent'),
    entries,
  }
}

/** A subagent whose session is gone is listed by itself; its file is named `agent-…`. */
function isReadable({ path, demo, state }: SessionSummary): boolean {
  const isSubagent = /[/\\]agent-[^/\\]*$/.test(path)
  return path !== '' && demo !== true && state !== 'unreadable' && state !== 'empty' && !isSubagent
}

/** Folders are few and sessions many: links are resolved once for each. */
function createFolderTest(workdir: string): (folder: string) => boolean {
  const known = new Map<string, boolean>()
  return (folder) => {
    const before = known.get(folder)
    if (before !== undefined) return before
    const isSame = folder === workdir || realPathOf(folder) === workdir
    known.set(folder, isSame)
    return isSame
  }
}
