import { textOf, type Entry } from '#model'

/** What Anthropic says of thinking that it does not take back. */
const THINKING =
  /thinking\b.{0,80}\bcannot be modified|invalid\W+signature\W+in\W+thinking|thinking\W+signature\W+field required|each thinking block must contain/iu

/** What providers say of more than they take. */
const TOO_LONG =
  /prompt is too long|context (?:window|length)|input is too long|exceeds the maximum number of tokens/iu

/**
 * Whether the last thing that the provider said about a conversation is that it refuses the thinking in it. By its look
 * alone thinking cannot be told from what was changed: newer models give a signature without any text.
 */
export function isThinkingRefused(entries: readonly Entry[]): boolean {
  return saidSince(entries).some(saysThinkingIsRefused)
}

export function saysThinkingIsRefused(entry: Entry): boolean {
  return says(entry, THINKING)
}

/** Whether it is that there is too much in it. */
export function isLengthRefused(entries: readonly Entry[]): boolean {
  return saidSince(entries).some((entry) => says(entry, TOO_LONG))
}

/** What came behind the last answer of the model. */
function saidSince(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(entries.findLastIndex((entry) => entry.kind === 'reply' && !entry.synthetic) + 1)
}

function says(entry: Entry, words: RegExp): boolean {
  return entry.kind === 'reply' && entry.apiError && words.test(textOf(entry.blocks))
}
