import { resolve } from 'node:path'
import { list, object, string, ThroughlineError, type JsonObject } from '#base'
import { writeContext } from './context-file.ts'
import { createEntireLink, type EntireLink } from './entire-link.ts'
import { finishOthers } from './finish.ts'
import { checkWay, findOwner, getSessionId, layoutOf, PROMPT_FILE, toSessionId } from './layout.ts'
import {
  toAssistantDraft,
  toRecordedLine,
  toResultDraft,
  toUserDrafts,
  type Envelope,
  type LineDraft,
} from './line.ts'
import { toPlainCopy } from './plain-copy.ts'
import { hasFile, promptOf, writePrompt } from './prompt-file.ts'
import type { Recording, RecordingOptions } from './recording.ts'
import { openRecordingFiles, type RecordingFiles } from './recording-files.ts'
import { noteFolder } from './register.ts'
import type { RecordedTurn, TurnFacts } from './turn.ts'
import * as world from './world.ts'

/** Kept until they are closed: a file that nobody holds any more is closed by Node, with a complaint. */
const unended = new Set<RecordingFiles>()

/**
 * Begins a recording, or goes on with one. Nothing is on disk before the first turn; what is in `.entire/` already
 * stays as it is.
 *
 * Rejects with `folder-not-found` when there is no such folder or the way to its recordings leads elsewhere, with
 * `session-not-found` when there is no such recording or somebody else wrote it, and with `journal-locked` when
 * another process writes it.
 */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const now = options.now ?? world.now
  const home = options.register ?? world.homeFolder()
  const cwd = resolve(options.cwd)
  const { subagentOf } = options
  const named = subagentOf?.sessionId ?? options.sessionId
  const sessionId = named === undefined ? toSessionId(now(), world.newUuid()) : await getSessionId(cwd, named)
  const layout = layoutOf(cwd, sessionId, subagentOf?.agentId)
  const { folder, path } = layout
  await checkWay(layout)

  let opened: RecordingFiles | undefined
  let entire: EntireLink | undefined
  let hasPrompt = false
  let ending: Promise<void> | undefined
  /** Turns are written one after another: each hangs from a line that is there. */
  let queue: Promise<unknown> = Promise.resolve()
  /** What is done beside the turns, and holds none of them up. */
  let beside: Promise<unknown> = Promise.resolve()

  async function ready(): Promise<RecordingFiles> {
    if (opened) return opened
    opened = await openRecordingFiles(layout, options.large ?? 'lines')
    unended.add(opened)
    hasPrompt ||= await hasFile(layout, PROMPT_FILE)
    if (!subagentOf) entire = await createEntireLink({ home, cwd, sessionId, path, now })
    beside = Promise.all([noteFolder(cwd, { home, now }), finishOthers(cwd)])
    return opened
  }

  function add(drafts: readonly LineDraft[], facts: TurnFacts): Promise<RecordedTurn> {
    if (ending) throw ended(path)
    const timestamp = new Date(now()).toISOString()
    // As it is now: the caller may go on and change what it holds.
    const copies = drafts.map((draft) => copyOf(draft, path))
    const done = queue.then(async () => await write(copies, timestamp, facts))
    queue = done.catch(() => {})
    return done
  }

  async function write(
    drafts: readonly LineDraft[],
    timestamp: string,
    facts: TurnFacts,
  ): Promise<RecordedTurn> {
    const files = await ready()
    let parentUuid = facts.parentUuid === undefined ? files.last : facts.parentUuid
    if (parentUuid !== null && !files.uuids.has(parentUuid)) throw unknownParent(parentUuid, path)
    const lines: JsonObject[] = []
    let uuid = ''
    for (const draft of drafts) {
      uuid = world.newUuid()
      lines.push(toRecordedLine(draft, toEnvelope({ uuid, parentUuid, timestamp, facts })))
      parentUuid = uuid
    }
    const prompt = subagentOf ? undefined : lines.map(promptOf).find((text) => text !== undefined)
    if (prompt !== undefined) await keepPrompt(prompt)
    await files.writer.write(lines)
    for (const line of lines) files.uuids.add(string(line, 'uuid') ?? uuid)
    files.last = uuid
    const [reply] = lines.filter(endsTurn)
    if (reply) entire?.answered(string(object(reply, 'message'), 'model'))
    return { uuid, timestamp }
  }

  async function keepPrompt(prompt: string): Promise<void> {
    if (!hasPrompt) await writePrompt(layout, prompt)
    hasPrompt = true
    await entire?.prompted(prompt)
  }

  function toEnvelope({ uuid, parentUuid, timestamp, facts }: Place): Envelope {
    return {
      sessionId,
      uuid,
      parentUuid,
      timestamp,
      cwd,
      version: options.version,
      agent: options.agent,
      provider: facts.provider ?? options.provider,
      requestId: facts.requestId,
      agentId: subagentOf?.agentId,
      extra: facts.extra === undefined ? options.extra : { ...options.extra, ...facts.extra },
    }
  }

  async function endIt(): Promise<void> {
    await queue
    await beside
    if (!opened) return
    try {
      if (!subagentOf) await writeContext(layout)
    } finally {
      await entire?.ended()
      unended.delete(opened)
      await opened.close()
    }
  }

  if (named !== undefined) {
    const owner = await findOwner(layout)
    if (owner === 'other') throw notOurs(path)
    // Whoever goes on with a recording is told at once that somebody else has it.
    if (owner === 'recorder') await ready()
  }

  return {
    sessionId,
    folder,
    path,
    user: async (content, facts = {}) => await add(toUserDrafts(content, facts.toolUseResult), facts),
    assistant: async (message, facts = {}) =>
      await add([toAssistantDraft(message, () => `msg_${world.newUuid()}`)], facts),
    toolResult: async (results, facts = {}) =>
      await add([toResultDraft(results, facts.toolUseResult)], facts),
    end: () => (ending ??= endIt()),
  }
}

/** Where a line stands in its recording. */
interface Place {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly facts: TurnFacts
}

/** An answer that calls no tool has nothing to come behind it. */
function endsTurn(line: JsonObject): boolean {
  const blocks = list(object(line, 'message'), 'content')
  return string(line, 'type') === 'assistant' && !blocks.some((block) => string(block, 'type') === 'tool_use')
}

function copyOf(draft: LineDraft, path: string): LineDraft {
  if (draft.type === 'user' && typeof draft.message['content'] === 'string' && !('toolUseResult' in draft))
    return draft
  try {
    const copy: unknown = toPlainCopy(draft)
    return isDraft(copy) ? copy : draft
  } catch (cause) {
    throw new ThroughlineError('journal-unwritable', `a turn for ${path} cannot be written as JSON`, {
      hint: 'Record plain JSON: objects, lists, strings, finite numbers, true, false and null.',
      cause,
    })
  }
}

/** A copy has the shape of what was copied. */
function isDraft(copy: unknown): copy is LineDraft {
  return string(copy, 'type') !== undefined
}

function unknownParent(uuid: string, path: string): ThroughlineError {
  return new ThroughlineError('entry-not-found', `${path} has no line ${JSON.stringify(uuid)}`, {
    hint: 'Give the uuid of a turn that was acknowledged, or none.',
  })
}

function notOurs(path: string): ThroughlineError {
  return new ThroughlineError('session-not-found', `${path} was not written by the recorder`, {
    hint: 'Begin a recording of its own: leave out the session id.',
  })
}

function ended(path: string): ThroughlineError {
  return new ThroughlineError('journal-closed', `the recording ${path} ended before this turn`, {
    hint: 'Open it again with its session id.',
  })
}
