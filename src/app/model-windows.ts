import { contextSize, type Entry } from '#model'

/** How many tokens a model takes, by the beginning of its name. The first that fits counts. */
const WINDOWS: readonly (readonly [pattern: RegExp, window: number])[] = [
  [/\[1m\]$/u, 1_000_000],
  [/^claude/u, 200_000],
  [/^gpt-5/u, 272_000],
  [/^gpt-4\.1/u, 1_000_000],
  [/^gpt-6/u, 400_000],
  [/^o[134]/u, 200_000],
  [/^gemini/u, 1_000_000],
]
const ANY = 200_000

/** Windows that models have. */
const SIZES: readonly number[] = [200_000, 272_000, 400_000, 1_000_000, 2_000_000]

/**
 * The context window of the model that answered last: as the session tells it, or by the name of the model. Many models
 * have a larger one than their names say: what one has answered to went into it.
 */
export function windowIn(entries: readonly Entry[]): number {
  let model: string | undefined
  let answered = 0
  let told: number | undefined
  for (const entry of entries) {
    if (entry.kind === 'record') told = entry.spent?.window ?? told
    if (entry.kind !== 'reply' || entry.synthetic) continue
    if (entry.model !== undefined && entry.model !== model) {
      answered = 0
      told = undefined
      model = entry.model
    }
    if (entry.usage !== undefined) answered = Math.max(answered, contextSize(entry.usage))
  }
  return told ?? windowOf(model, answered)
}

/** How many tokens go into the window of a model; what most take, for one that is not known. */
function windowOf(model: string | undefined, answered: number): number {
  const window = WINDOWS.find(([pattern]) => pattern.test(model ?? ''))?.[1] ?? ANY
  return answered <= window ? window : (SIZES.find((size) => size >= answered) ?? answered)
}
