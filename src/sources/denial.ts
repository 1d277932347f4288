import { textOf, type Block, type Decision } from '#model'

/** What clients tell a model in place of a result when a call was not allowed, and what kind of denial that is. */
const WORDS: readonly (readonly [begins: RegExp, denial: string])[] = [
  // Claude Code. Its newer versions write the kind down as well.
  [/^The user doesn't want to (?:proceed with this tool use|take this action right now)\b/u, 'user-rejected'],
  [/^\[Request interrupted by user/u, 'interrupted'],
  [/^Permission to use [^\n]{1,200} has been denied\b/u, 'permission-rule'],
  [/^Claude requested permissions to [^\n]{1,4000} haven't granted it yet/u, 'permission-rule'],
  // Throughline itself, to agents that it runs.
  [/^The user said no\.$/u, 'user-rejected'],
  [/^The user denied this call(?:\.|; the user said:\n)/u, 'user-rejected'],
  [/^Nobody answered, so this was not allowed\.$/u, 'unanswered'],
  // Codex.
  [/^(?:exec command|patch) rejected by user\b/u, 'user-rejected'],
  [/^aborted by user\b/u, 'interrupted'],
  // Gemini CLI.
  [/^\[Operation Cancelled\] Reason: User (?:did not allow|denied)\b/u, 'user-rejected'],
  [/^\[Operation Cancelled\]/u, 'interrupted'],
  // opencode.
  [/^The user rejected permission to use this specific tool call\b/u, 'user-rejected'],
  [/^The user has specified a rule which prevents you from using this\b/u, 'permission-rule'],
]

/** How long the beginning of a result is that may say so. */
const BEGINNING = 5000

/**
 * That a call was denied, as far as its result says so in words. Only of a line with one result that is an error:
 * what a tool prints may begin in the same way.
 */
export function readDenial(blocks: readonly Block[]): Decision | undefined {
  const results = blocks.filter((block) => block.kind === 'tool-result')
  const [result] = results
  if (results.length !== 1 || result?.isError !== true) return undefined
  const said = textOf(result.content).slice(0, BEGINNING)
  const denial = WORDS.find(([begins]) => begins.test(said))?.[1]
  return denial === undefined ? undefined : { outcome: 'rejected', by: undefined, denial }
}
