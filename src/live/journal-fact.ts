import { boolean, field, number, object, string } from '#base'
import type { Attention, AttentionState, Block, EndReason, PermissionMode } from '#model'
import { readAttention, readAttentionState } from '#wire'
import { readPromptBlocks } from '#wire'
import { findEndReason, findMode } from '#model'

/** What a host puts on disk: what agents do not write down themselves. `at` is when. */
export type JournalFact =
  | {
      readonly kind: 'session.started'
      readonly at: string
      readonly sessionId: string
      readonly agent: string
      readonly workdir: string
      readonly mode: PermissionMode
      readonly model?: string | undefined
      readonly resumed?: string | undefined
      /** Whether what lies in the folder was loaded, and the hash of what that was when a person trusted it. */
      readonly trusted?: boolean | undefined
      readonly folderHash?: string | undefined
      readonly run: string
      readonly pid: number
    }
  | {
      readonly kind: 'prompt.admitted'
      readonly at: string
      readonly id: string
      readonly blocks: readonly Block[]
      readonly by: string
    }
  /** From here on the agent may have it. */
  | { readonly kind: 'prompt.sent'; readonly at: string; readonly id: string }
  /** The agent has taken it up. */
  | { readonly kind: 'prompt.delivered'; readonly at: string; readonly id: string }
  | { readonly kind: 'attention.opened'; readonly at: string; readonly attention: Attention }
  | {
      readonly kind: 'attention.settled'
      readonly at: string
      readonly id: string
      readonly state: AttentionState
    }
  | { readonly kind: 'mode.changed'; readonly at: string; readonly mode: PermissionMode; readonly by: string }
  | { readonly kind: 'model.changed'; readonly at: string; readonly model: string; readonly by: string }
  | { readonly kind: 'session.renamed'; readonly at: string; readonly agentSessionId: string }
  | { readonly kind: 'turn.started'; readonly at: string; readonly promptId?: string | undefined }
  | { readonly kind: 'turn.ended'; readonly at: string; readonly outcome: string }
  | {
      readonly kind: 'session.ended'
      readonly at: string
      readonly reason: EndReason
      readonly message?: string | undefined
    }

/** Reads a line of a session's journal. One that a later version wrote, or nobody knows, is `undefined`. */
export function readJournalFact(value: unknown): JournalFact | undefined {
  const at = string(value, 'at')
  const id = string(value, 'id')
  if (at === undefined) return undefined
  switch (string(value, 'kind')) {
    case 'session.started':
      return readStarted(value, at)
    case 'prompt.admitted': {
      const blocks = readPromptBlocks(field(value, 'blocks'))
      const by = string(value, 'by') ?? ''
      return id === undefined || !blocks ? undefined : { kind: 'prompt.admitted', at, id, blocks, by }
    }
    case 'prompt.sent':
      return id === undefined ? undefined : { kind: 'prompt.sent', at, id }
    case 'prompt.delivered':
      return id === undefined ? undefined : { kind: 'prompt.delivered', at, id }
    case 'attention.opened': {
      const attention = readAttention(object(value, 'attention'))
      return attention && { kind: 'attention.opened', at, attention }
    }
    case 'attention.settled': {
      const state = readAttentionState(object(value, 'state'))
      return id === undefined || !state ? undefined : { kind: 'attention.settled', at, id, state }
    }
    case 'mode.changed': {
      const mode = findMode(field(value, 'mode'))
      return mode && { kind: 'mode.changed', at, mode, by: string(value, 'by') ?? '' }
    }
    case 'model.changed': {
      const model = string(value, 'model')
      return model === undefined
        ? undefined
        : { kind: 'model.changed', at, model, by: string(value, 'by') ?? '' }
    }
    case 'session.renamed': {
      const agentSessionId = string(value, 'agentSessionId')
      return agentSessionId === undefined ? undefined : { kind: 'session.renamed', at, agentSessionId }
    }
    case 'turn.started':
      return { kind: 'turn.started', at, promptId: string(value, 'promptId') }
    case 'turn.ended':
      return { kind: 'turn.ended', at, outcome: string(value, 'outcome') ?? '' }
    case 'session.ended': {
      const reason = findEndReason(field(value, 'reason'))
      return reason && { kind: 'session.ended', at, reason, message: string(value, 'message') }
    }
    default:
      return undefined
  }
}

function readStarted(value: unknown, at: string): JournalFact | undefined {
  const sessionId = string(value, 'sessionId')
  const agent = string(value, 'agent')
  const workdir = string(value, 'workdir')
  const mode = findMode(field(value, 'mode'))
  const run = string(value, 'run')
  const pid = number(value, 'pid')
  if (sessionId === undefined || agent === undefined || workdir === undefined) return undefined
  if (mode === undefined || run === undefined || pid === undefined) return undefined
  const model = string(value, 'model')
  const resumed = string(value, 'resumed')
  const trusted = boolean(value, 'trusted')
  const folderHash = string(value, 'folderHash')
  const folder = { trusted, folderHash }
  return { kind: 'session.started', at, sessionId, agent, workdir, mode, model, resumed, ...folder, run, pid }
}
