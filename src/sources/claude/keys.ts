import type { InnerKeys } from '../object-scanner.ts'

/** The top-level keys of a Claude Code line that Throughline asks for, numbered. Everything else stays in the raw line. */
export const KEY = {
  type: 0,
  subtype: 1,
  uuid: 2,
  parentUuid: 3,
  logicalParentUuid: 4,
  timestamp: 5,
  sessionId: 6,
  cwd: 7,
  gitBranch: 8,
  version: 9,
  entrypoint: 10,
  agentId: 11,
  requestId: 12,
  provider: 13,
  isSidechain: 14,
  isMeta: 15,
  isCompactSummary: 16,
  isApiErrorMessage: 17,
  message: 18,
  attachment: 19,
  promptSource: 20,
  origin: 21,
  permissionMode: 22,
  compactMetadata: 23,
  content: 24,
  level: 25,
  error: 26,
  toolUseResult: 27,
  sourceToolAssistantUUID: 28,
  permissionDecision: 29,
  toolDenialKind: 30,
  forkedFrom: 31,
  customTitle: 32,
  aiTitle: 33,
  agentName: 34,
  tag: 35,
  mode: 36,
  relocatedCwd: 37,
  summary: 38,
  leafUuid: 39,
  messageId: 40,
  operation: 41,
  durationMs: 42,
  commandRun: 43,
  data: 44,
  parentToolUseID: 45,
  modelUsage: 46,
  startTime: 47,
} as const

export const KEYS: readonly string[] = Object.keys(KEY)

/** The same for the `message` of a line. */
export const MESSAGE_KEY = {
  id: 0,
  model: 1,
  content: 2,
  usage: 3,
  stop_reason: 4,
  stop_sequence: 5,
} as const

/** The same for the `usage` of a message. */
export const USAGE_KEY = {
  input_tokens: 0,
  output_tokens: 1,
  cache_read_input_tokens: 2,
  cache_creation_input_tokens: 3,
  cache_creation: 4,
} as const

export const USAGE_KEYS: readonly string[] = Object.keys(USAGE_KEY)

/** The same for `cache_creation`, which divides it by lifetime. */
export const CACHE_KEY = {
  ephemeral_5m_input_tokens: 0,
  ephemeral_1h_input_tokens: 1,
} as const

export const CACHE_KEYS: readonly string[] = Object.keys(CACHE_KEY)

export const MESSAGE: InnerKeys = {
  under: 'message',
  keys: Object.keys(MESSAGE_KEY),
  parse: 'content',
  inner: { under: 'usage', keys: USAGE_KEYS, inner: { under: 'cache_creation', keys: CACHE_KEYS } },
}
