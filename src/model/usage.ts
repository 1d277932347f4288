/** What one message, or many, cost in tokens. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** All tokens written to the cache; the two below say how much of it lives five minutes and one hour. */
  readonly cacheCreation: number
  readonly cacheCreation5m: number
  readonly cacheCreation1h: number
}

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheCreation: 0,
  cacheCreation5m: 0,
  cacheCreation1h: 0,
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheCreation: a.cacheCreation + b.cacheCreation,
    cacheCreation5m: a.cacheCreation5m + b.cacheCreation5m,
    cacheCreation1h: a.cacheCreation1h + b.cacheCreation1h,
  }
}

/** How much of the model's window the reply was given and filled: what triggers a compaction. */
export function contextSize(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheCreation + usage.output
}
