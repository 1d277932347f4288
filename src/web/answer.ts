import { useEffect, useRef, useState } from 'preact/hooks'
import { ThroughlineError, type ErrorCode } from '#base'

/** Why something is not there, and what a person can do about it. */
export interface Trouble {
  readonly message: string
  readonly hint: string
  /** What a program calls it. */
  readonly code?: ErrorCode
}

/** What became of a question to the daemon. */
export type Answer<T> =
  | { readonly kind: 'waiting' }
  /** `isOld`: the question has changed since, and its answer is on the way. */
  | { readonly kind: 'there'; readonly value: T; readonly isOld: boolean }
  | { readonly kind: 'failed'; readonly trouble: Trouble }

/** An error in words for a person: a sentence that begins and ends like one, and a next step. */
export function toTrouble(error: unknown): Trouble {
  const message = error instanceof Error ? error.message : 'something failed'
  const hint =
    error instanceof ThroughlineError ? error.hint : 'Try again; the log of the daemon has the details.'
  const code = error instanceof ThroughlineError ? { code: error.code } : {}
  return { message: toSentence(message), hint, ...code }
}

/**
 * Asks when the component appears and whenever `inputs` change. The answer before stays until the next one is there,
 * and an answer to an older question is dropped.
 */
export function useAnswer<T>(
  ask: () => Promise<T>,
  inputs: readonly unknown[],
): { readonly answer: Answer<T>; readonly again: () => void } {
  const [answer, setAnswer] = useState<Answer<T>>({ kind: 'waiting' })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(0)
  useEffect(() => {
    const mine = ++latest.current
    setAnswer((before) => (before.kind === 'there' ? { ...before, isOld: true } : { kind: 'waiting' }))
    void settle(ask).then((settled) => mine === latest.current && setAnswer(settled))
    return () => {
      latest.current++
    }
  }, [...inputs, attempt])
  return { answer, again: () => setAttempt((count) => count + 1) }
}

async function settle<T>(ask: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { kind: 'there', value: await ask(), isOld: false }
  } catch (error) {
    return { kind: 'failed', trouble: toTrouble(error) }
  }
}

/** Words that begin and end like a sentence. */
export function toSentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(first) ? first : `${first}.`
}
