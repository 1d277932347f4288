import type { Entry, Envelope } from '#model'
import type { FieldReader } from '../field-reader.ts'
import { KEY } from './keys.ts'

/** Side records: facts about the session that hang nowhere in the conversation. */
export function readSideRecord(fields: FieldReader, bytes: Buffer, envelope: Envelope): Entry {
  const valueKey = RECORD_VALUES.get(envelope.type)
  if (valueKey === undefined) return { kind: 'unknown', ...envelope }
  const operation = envelope.type === 'queue-operation' ? fields.text(bytes, KEY.operation) : undefined
  return {
    kind: 'record',
    ...envelope,
    type: operation === undefined ? envelope.type : `queue-operation/${operation}`,
    value: valueKey === null ? undefined : fields.text(bytes, valueKey),
  }
}

/** Known side records, and the key of the one text that says what they say. */
const RECORD_VALUES: ReadonlyMap<string, number | null> = new Map<string, number | null>([
  ['custom-title', KEY.customTitle],
  ['ai-title', KEY.aiTitle],
  ['agent-name', KEY.agentName],
  ['tag', KEY.tag],
  ['mode', KEY.mode],
  ['permission-mode', KEY.permissionMode],
  ['relocated', KEY.relocatedCwd],
  ['summary', KEY.summary],
  ['queue-operation', KEY.content],
  ...[
    'last-prompt',
    'file-history-snapshot',
    'file-history-delta',
    'attribution-snapshot',
    'cost-state',
    'tools-used',
    'atis-latch',
    'api-request',
    'api-request-blob',
    'api-request-shape',
    'progress',
    'ended-by-model',
    'continued-in',
    'agent-color',
    'agent-setting',
    'pr-link',
    'frame-link',
    'artifact-comment-monitor',
    'artifact-autoreact-ledger',
    'bridge-session',
    'history-suppression',
    'isolation-latch',
    'session-owner',
    'dev-mods',
    'memory-mode',
    'data-flow-records',
    'data-flow-incomplete',
    'derived-from',
    'worktree-state',
    'content-replacement',
    'fork-context-ref',
    'observer-ref',
    'resume-head-vouch',
    'repl-mode',
    // Ours: what another agent wrote that is no part of a conversation, in a transcription.
    'transcribed',
  ].map((type): [string, null] => [type, null]),
])
