import type { AssistantMessage, Content, RecordedTurn, ToolResult, TurnFacts } from './turn.ts'

/** A transcript that is written for an agent that writes none, turn by turn, in the layout of Entire. */
export interface Recording {
  /** `{date}-{uuid}`; the name of its folder. */
  readonly sessionId: string
  /** `.entire/metadata/<session>` in the working directory. */
  readonly folder: string
  /** Its `full.jsonl`. */
  readonly path: string
  /** Each of these resolves when the turn is on disk. They keep the order of the calls. */
  user(content: Content, facts?: TurnFacts): Promise<RecordedTurn>
  assistant(message: AssistantMessage, facts?: TurnFacts): Promise<RecordedTurn>
  toolResult(results: ToolResult | readonly ToolResult[], facts?: TurnFacts): Promise<RecordedTurn>
  /** Writes `context.md`, and lets the files go. */
  end(): Promise<void>
}

export interface RecordingOptions {
  /** Where the agent works. The recording is in `.entire/` there. */
  readonly cwd: string
  /** The agent's own name: `forgeflare`. */
  readonly agent: string
  /** The agent's own version. */
  readonly version: string
  /** Goes on with this recording. */
  readonly sessionId?: string | undefined
  readonly provider?: TurnFacts['provider']
  /** Where text over 10 KB stands: in its line, or in a file named by its hash. Default: `lines`. */
  readonly large?: 'lines' | 'blobs' | undefined
  /** A subagent of this recording: its turns stand in a file of their own below it. */
  readonly subagentOf?: { readonly sessionId: string; readonly agentId: string } | undefined
  /** Further fields for every line: what the agent calls the session itself (`clientSessionId`), its branch. */
  readonly extra?: TurnFacts['extra']
  /**
   * The home of Throughline in which the folder is noted, so that its recordings are found. Default: the
   * `THROUGHLINE_HOME` of the environment, or `~/.throughline`. `false`: nowhere.
   */
  readonly register?: string | false | undefined
  readonly now?: (() => number) | undefined
}
