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

/** How many tokens go into the window of a model; what most take, for one that is not known. */
export function windowOf(model: string | undefined): number {
  return WINDOWS.find(([pattern]) => pattern.test(model ?? ''))?.[1] ?? ANY
}
