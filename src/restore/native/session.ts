import type { NativeAgent } from '#model'
import type { Loss } from '../loss.ts'

/** What is known of a conversation beside what was said. */
export interface NativeFacts {
  /** Where it comes from. The id of what is made follows from it. */
  readonly source: { readonly agent: string; readonly sessionId: string }
  /** Where the agent works. Absolute, links resolved. */
  readonly workdir: string
  /** When it began. Times are given to what has none from here on, one millisecond apart. */
  readonly created: string
  readonly title?: string | undefined
  readonly model?: string | undefined
  readonly branch?: string | undefined
  /**
   * The model to go on with, as `provider/model` by the names of opencode, which goes on with the one of the last prompt
   * and fails when that is not set up. Other agents choose their own.
   */
  readonly goOnWith?: string | undefined
  /** When an entry was written. */
  readonly timeOf?: ((entryId: string) => string | undefined) | undefined
  /** Tells apart what is made of one session at different times. Without it there is one copy for each agent. */
  readonly edition?: string | undefined
}

/** A session as an agent keeps its own, before it is on disk. */
export interface NativeSession {
  readonly agent: NativeAgent
  readonly id: string
  readonly workdir: string
  readonly files: readonly NativeFile[]
  readonly losses: readonly Loss[]
  readonly lineage: Lineage
  /** The latest time in it. What is said later was not copied. */
  readonly until: string
  /** The command that takes the written file in, where an agent reads none by itself. The file's path goes behind it. */
  readonly takeIn?: readonly string[] | undefined
  /** The command that goes on in the terminal. Run in the workdir. */
  readonly resume: readonly string[]
  /** The command that goes on with one prompt and ends. The prompt goes behind it. */
  readonly prompt: readonly string[]
}

export interface NativeFile {
  /** From the agent's root: `$CLAUDE_CONFIG_DIR`, `$CODEX_HOME`, `~/.gemini`; for opencode from any folder. */
  readonly path: string
  readonly text: string
}

/** Which session was made of which. */
export interface Lineage {
  readonly from: { readonly agent: string; readonly sessionId: string }
  readonly to: { readonly agent: NativeAgent; readonly sessionId: string }
}

/** Under which key a written session says what it was made of. Agents pass over keys that they do not know. */
export const LINEAGE_KEY = 'throughline'

/** What stands under that key. */
export function toLineageMark({ source }: NativeFacts): object {
  return { from: { agent: source.agent, sessionId: source.sessionId } }
}

export function toLines(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
