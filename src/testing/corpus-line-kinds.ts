import { boolean, field, isObject, list, string } from '#base'

/** Every kind of line seen in transcripts of Claude Code 2.1.325, by the names of `docs/formats/claude-code.md`. */
export const LINE_KINDS: readonly string[] = [
  'agent-name',
  'api-request',
  'api-request-blob',
  'api-request-shape',
  'assistant/api-error(synthetic)',
  'assistant/synthetic',
  'assistant/text (sidechain)',
  'assistant/text',
  'assistant/thinking',
  'assistant/tool_use (sidechain)',
  'assistant/tool_use',
  'atis-latch',
  'attachment/agent_listing_delta',
  'attachment/auto_mode',
  'attachment/date',
  'attachment/deferred_tools_delta',
  'attachment/environment',
  'attachment/file',
  'attachment/hook_additional_context',
  'attachment/hook_permission_decision',
  'attachment/hook_success',
  'attachment/mcp_instructions_delta',
  'attachment/model',
  'attachment/prompt_snapshot',
  'attachment/queued_command',
  'attachment/remote_session_change',
  'attachment/session_context',
  'attachment/skill_listing',
  'attachment/total_tokens_reminder',
  'cost-state',
  'custom-title',
  'file-history-delta',
  'file-history-snapshot',
  'last-prompt',
  'mode',
  'permission-mode',
  'queue-operation/dequeue',
  'queue-operation/enqueue',
  'queue-operation/remove',
  'relocated',
  'system/api_error',
  'system/compact_boundary',
  'system/informational',
  'system/local_command',
  'system/model_refusal_no_fallback',
  'system/stop_hook_summary',
  'system/turn_duration',
  'tag',
  'tools-used',
  'user/compact-summary',
  'user/interrupt-marker',
  'user/local-command-stdout',
  'user/meta',
  'user/prompt+image',
  'user/prompt-blocks',
  'user/prompt-string (sidechain)',
  'user/prompt-string',
  'user/slash-command',
  'user/task-notification',
  'user/tool_result (sidechain)',
  'user/tool_result',
]

/** The kind of a parsed line; `unknown` when it is none of `LINE_KINDS`. */
export function lineKindOf(line: unknown): string {
  const kind = kindOf(line, string(line, 'type') ?? '')
  return LINE_KINDS.includes(kind) ? kind : 'unknown'
}

function kindOf(line: unknown, type: string): string {
  switch (type) {
    case 'user':
      return sidechain(line, `user/${userKind(line)}`)
    case 'assistant':
      return assistantKind(line)
    case 'attachment':
      return `attachment/${string(field(line, 'attachment'), 'type')}`
    case 'system':
      return `system/${string(line, 'subtype')}`
    case 'queue-operation':
      return `queue-operation/${string(line, 'operation')}`
    default:
      return type
  }
}

function userKind(line: unknown): string {
  const message = field(line, 'message')
  const text = string(message, 'content')
  const blocks = list(message, 'content').filter((block) => isObject(block))
  const types = blocks.map((block) => string(block, 'type'))
  if (boolean(line, 'isCompactSummary') === true) return 'compact-summary'
  if (boolean(line, 'isMeta') === true) return 'meta'
  if (types.includes('tool_result')) return 'tool_result'
  if (string(field(line, 'origin'), 'kind') === 'task-notification') return 'task-notification'
  if (blocks.some((block) => string(block, 'text')?.startsWith('[Request interrupted') === true)) {
    return 'interrupt-marker'
  }
  if (text?.startsWith('<command-name>') === true) return 'slash-command'
  if (text?.startsWith('<local-command-stdout>') === true) return 'local-command-stdout'
  if (types.includes('image')) return 'prompt+image'
  return text === undefined ? 'prompt-blocks' : 'prompt-string'
}

function assistantKind(line: unknown): string {
  const message = field(line, 'message')
  if (boolean(line, 'isApiErrorMessage') === true) return 'assistant/api-error(synthetic)'
  if (string(message, 'model') === '<synthetic>') return 'assistant/synthetic'
  const type = string(list(message, 'content')[0], 'type')
  return type === 'thinking' ? 'assistant/thinking' : sidechain(line, `assistant/${type}`)
}

function sidechain(line: unknown, kind: string): string {
  return boolean(line, 'isSidechain') === true ? `${kind} (sidechain)` : kind
}
