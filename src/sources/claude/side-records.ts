import { isObject, number } from '#base'
import type { CostTotals, Entry, Envelope, Usage } from '#model'
import type { FieldReader } from '../field-reader.ts'
import { KEY } from './keys.ts'
import { readQueued } from './queued.ts'

/** Side records: facts about the session that hang nowhere in the conversation. */
export function readSideRecord(fields: FieldReader, bytes: Buffer, envelope: Envelope): Entry {
  const valueKey = RECORD_VALUES.get(envelope.type)
  if (valueKey === undefined) return { kind: 'unknown', ...envelope }
  const operation = envelope.type === 'queue-operation' ? fields.text(bytes, KEY.operation) : undefined
  if (operation === 'enqueue') {
    const queued = readQueued(fields.value(bytes, KEY.content), {
      ...envelope,
      type: 'queue-operation/enqueue',
    })
    if (queued !== undefined) return queued
  }
  return {
    kind: 'record',
    ...envelope,
    type: operation === undefined ? envelope.type : `queue-operation/${operation}`,
    value: valueKey === null ? undefined : fields.text(bytes, valueKey),
    ...(envelope.type === 'cost-state' ? { totals: readTotals(fields, bytes) } : {}),
  }
}

/** What the client says that the session has cost so far, subagents and requests without a line included. */
function readTotals(fields: FieldReader, bytes: Buffer): CostTotals | undefined {
  const startedAt = fields.number(bytes, KEY.startTime)
  const models = fields.value(bytes, KEY.modelUsage)
  if (startedAt === undefined || !isObject(models)) return undefined
  const read = Object.entries(models).map(([model, usage]): [string, Usage] => [
    model,
    {
      input: number(usage, 'inputTokens') ?? 0,
      output: number(usage, 'outputTokens') ?? 0,
      cacheRead: number(usage, 'cacheReadInputTokens') ?? 0,
      cacheCreation: number(usage, 'cacheCreationInputTokens') ?? 0,
      cacheCreation5m: number(usage, 'cacheCreationEphemeral5mInputTokens') ?? 0,
      cacheCreation1h: number(usage, 'cacheCreationEphemeral1hInputTokens') ?? 0,
    },
  ])
  return { startedAt, models: Object.fromEntries(read) }
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
