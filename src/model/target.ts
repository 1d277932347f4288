import type { Usage } from './usage.ts'

/** An interface that takes conversations. */
export type Target = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini' | 'ai-sdk'

export const TARGETS: readonly Target[] = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'ai-sdk']

/** How many tokens a conversation takes, and took: two numbers that are never mixed. */
export interface TokenState {
  /** In the model's window now: what a compaction depends on. */
  readonly context: number
  /** Billed for these entries, each message once, with its last figures. */
  readonly billed: Usage
}
