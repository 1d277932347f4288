import type { InnerKeys } from '../object-scanner.ts'

/** The top-level keys of a line of a rollout that Throughline asks for, numbered. Everything else stays in the raw line. */
export const KEY = {
  type: 0,
  timestamp: 1,
  ordinal: 2,
  payload: 3,
  metadata: 4,
  // Only lines without an envelope have these.
  record_type: 5,
  id: 6,
  git: 7,
} as const

export const KEYS: readonly string[] = Object.keys(KEY)

/** The same for the `payload` of a line. */
export const PAYLOAD_KEY = {
  type: 0,
  id: 1,
  cwd: 2,
  git: 3,
  cli_version: 4,
  originator: 5,
  model: 6,
  response_id: 7,
  usage: 8,
  thread_id: 9,
  reason: 10,
  error: 11,
  message: 12,
  info: 13,
  turn_id: 14,
  forked_from_id: 15,
  parent_thread_id: 16,
  source: 17,
  num_turns: 18,
} as const

/** The same for the `usage` of what was billed. */
export const USAGE_KEY = {
  input_tokens: 0,
  cached_input_tokens: 1,
  cache_write_input_tokens: 2,
  output_tokens: 3,
} as const

export const USAGE_KEYS: readonly string[] = Object.keys(USAGE_KEY)

export const PAYLOAD: InnerKeys = {
  under: 'payload',
  keys: Object.keys(PAYLOAD_KEY),
  inner: { under: 'usage', keys: USAGE_KEYS },
}
