/** Work that can pause: whoever does it asks for the next step, until there is the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** All steps at once. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
