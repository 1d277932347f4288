import type { CallRules } from './writing.ts'

/** What OpenAI takes as ids and names, in both of its interfaces. */
export const OPENAI_RULES: CallRules = {
  id: { pattern: /^[^\0]+$/u, longest: 64 },
  name: { pattern: /^[a-zA-Z0-9_-]+$/u, longest: 64 },
}
