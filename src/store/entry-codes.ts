/** How what an entry is stands in a row: by its place in these lists. They only grow at their ends. */
export const TIERS = ['said', 'thought', 'tool'] as const

export const KINDS = [
  'prompt',
  'reply',
  'result',
  'command',
  'interruption',
  'injection',
  'summary',
  'compaction',
  'context',
  'notice',
  'record',
  'oversize',
  'unknown',
  'delegated',
] as const

export const SPEAKERS = ['human', 'agent', 'tool', 'program', 'system'] as const

/** Bits of `entry.flags`. */
export const FLAGS = { said: 1, thought: 2, tool: 4, error: 8, directive: 16 } as const
