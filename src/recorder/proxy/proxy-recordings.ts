import { list, string, ThroughlineError, isObject } from '#base'
import { findRecordings, layoutOf } from '../layout.ts'
import { openRecording } from '../open-recording.ts'
import { readRecordedLines } from '../recorded-lines.ts'
import type { Recording, RecordingOptions } from '../recording.ts'
import type { ConversationFacts, RepeatedLine } from './conversation-facts.ts'

/** Opens the recordings of conversations that pass. */
export interface ProxyRecordings {
  readonly open: (facts: ConversationFacts) => Promise<Recording>
  readonly readLines: (recording: Recording) => Promise<readonly RepeatedLine[]>
}

export interface ProxyRecordingsOptions extends Pick<RecordingOptions, 'large' | 'register' | 'now'> {
  /** The folder whose recordings a conversation is one of. */
  readonly folderFor: (facts: ConversationFacts) => Promise<string>
  /** What the agent is called, whatever it says; and where it says nothing. */
  readonly agent?: string | undefined
  readonly fallback: { readonly agent: string; readonly version: string }
}

/** So many recordings are looked at for one that a client goes on with. */
const LOOKED_AT = 100

/** Recordings in the folders of those who ask. A session that a client goes on with goes on in its recording. */
export function createProxyRecordings(options: ProxyRecordingsOptions): ProxyRecordings {
  const { large, register, now, fallback } = options
  const folders = new Map<string, string>()
  const resumed = new Set<Recording>()

  async function open(facts: ConversationFacts): Promise<Recording> {
    const { clientSessionId, subagentOf, provider } = facts
    const known = subagentOf === undefined ? undefined : folders.get(subagentOf.sessionId)
    const cwd = known ?? (await options.folderFor(facts))
    const shared: RecordingOptions = {
      cwd,
      agent: options.agent ?? facts.agent ?? fallback.agent,
      version: facts.version ?? fallback.version,
      provider,
      large,
      register,
      now,
      subagentOf,
      ...(clientSessionId === undefined ? {} : { extra: { clientSessionId } }),
    }
    const before =
      clientSessionId === undefined || subagentOf !== undefined
        ? undefined
        : await findBefore(cwd, clientSessionId)
    const recording = await openAt(shared, before)
    if (before !== undefined || subagentOf !== undefined) resumed.add(recording)
    folders.set(recording.sessionId, cwd)
    return recording
  }

  return {
    open,
    async readLines(recording) {
      if (!resumed.has(recording)) return []
      const lines: RepeatedLine[] = []
      for await (const { line } of readRecordedLines(recording.path)) {
        const found = toRepeated(line)
        if (found !== undefined) lines.push(found)
      }
      return lines
    },
  }
}

/** Another process may have it: then this is one of its own. */
async function openAt(options: RecordingOptions, sessionId: string | undefined): Promise<Recording> {
  try {
    return await openRecording({ ...options, sessionId })
  } catch (error) {
    const isHeld = error instanceof ThroughlineError && error.code === 'journal-locked'
    if (sessionId === undefined || !isHeld) throw error
    return await openRecording(options)
  }
}

/** The recording of a client's session from an earlier time. */
async function findBefore(cwd: string, clientSessionId: string): Promise<string | undefined> {
  for (const sessionId of (await findRecordings(cwd)).slice(0, LOOKED_AT)) {
    for await (const { line } of readRecordedLines(layoutOf(cwd, sessionId).path)) {
      if (string(line, 'clientSessionId') === clientSessionId) return sessionId
      break
    }
  }
  return undefined
}

function toRepeated(line: unknown): RepeatedLine | undefined {
  const uuid = string(line, 'uuid')
  const role = string(line, 'type')
  if (uuid === undefined || (role !== 'user' && role !== 'assistant')) return undefined
  const message = isObject(line) ? line['message'] : undefined
  const text = string(message, 'content')
  const content = text === undefined ? list(message, 'content').filter(isObject) : [{ type: 'text', text }]
  const messageId = role === 'assistant' ? string(message, 'id') : undefined
  return { uuid, parentUuid: string(line, 'parentUuid'), role, content, messageId }
}
