import type { Digest } from '#wire'

/** Something that left a trace outside of the session. */
export interface KeyAction {
  readonly entryId: string
  readonly at?: string | undefined
  /** What kind of thing it was, in a word. */
  readonly what: string
  readonly command: string
  readonly failed: boolean
  /** It was not allowed, so it did not happen. */
  readonly denied: boolean
}

/** Commands that change more than a file on this machine, or say whether the work is good. First match counts. */
const KINDS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['commit', /\bgit\s+(?:-\S+\s+\S+\s+)*commit\b/],
  ['push', /\bgit\s+(?:-\S+\s+\S+\s+)*push\b/],
  ['merge', /\bgit\s+(?:merge|rebase|cherry-pick|revert)\b/],
  ['branch', /\bgit\s+(?:checkout\s+-b|switch\s+-c|tag|worktree\s+add)\b/],
  ['discard', /\bgit\s+(?:reset\s+--hard|checkout\s+--|restore|clean|stash)\b/],
  ['request', /\bgh\s+(?:pr|issue|release)\s+(?:create|merge|close|edit|comment)\b/],
  ['publish', /\b(?:npm|pnpm|yarn|cargo|twine|gem)\s+(?:publish|upload|push)\b/],
  [
    'deploy',
    /\b(?:kubectl\s+(?:apply|delete|rollout)|terraform\s+(?:apply|destroy)|docker\s+push|fly\s+deploy|vercel\b)/,
  ],
  ['install', /\b(?:npm|pnpm|yarn|bun|pip3?|uv|cargo|brew|apt(?:-get)?|go)\s+(?:i|install|add|get)\b/],
  ['delete', /\brm\s+-\w*[rf]/],
  [
    'test',
    /\b(?:npm\s+(?:run\s+)?test|vitest|jest|pytest|cargo\s+test|go\s+test|playwright\s+test|make\s+(?:test|check))\b/,
  ],
]

/** The commands of a session that somebody asks about afterwards, in the order they ran. */
export function toKeyActions({ commands }: Pick<Digest, 'commands'>): readonly KeyAction[] {
  return commands.flatMap(({ entryId, at, command, failed, denied = false }) => {
    const what = KINDS.find(([, pattern]) => pattern.test(command))?.[0]
    return what === undefined ? [] : [{ entryId, at, what, command, failed, denied }]
  })
}
