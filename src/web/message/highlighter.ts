import { field, number } from '#base'
import { readWireRuns, type HighlightRuns } from './highlight-runs.ts'

/** A worker, and what it says from now on: the last one who set `heard` is told. */
export interface HighlightWorker {
  post(message: unknown): void
  end(): void
  /** What it says; `undefined` when it failed. */
  heard: (data: unknown) => void
}

export interface HighlighterLimits {
  /** Longer code stays plain. */
  readonly length: number
  /** A call that takes longer is cut off, and its worker ended. */
  readonly milliseconds: number
  /** How long a worker may take until it is there. */
  readonly loading: number
  /** How many answers are remembered. */
  readonly remembered: number
}

/** Colours code in a worker, one piece at a time. A worker that hangs is ended; the page never waits. */
export interface Highlighter {
  /** What is known already, without asking: `undefined` when it must be asked for, or never will be. */
  find(code: string, language: string): HighlightRuns | undefined
  /** `undefined` for what stays plain: too long, too slow, or of a language nobody knows. Never rejects. */
  highlight(code: string, language: string): Promise<HighlightRuns | undefined>
}

const LIMITS: HighlighterLimits = { length: 100_000, milliseconds: 200, loading: 20_000, remembered: 200 }

/** A highlighter whose workers come from `openWorker`; none is opened before it is needed. */
export function createHighlighter(
  openWorker: () => HighlightWorker,
  limits: HighlighterLimits = LIMITS,
): Highlighter {
  const known = new Map<string, HighlightRuns | undefined>()
  let worker: Promise<HighlightWorker | undefined> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  let asked = 0

  const remember = (key: string, runs: HighlightRuns | undefined): void => {
    known.delete(key)
    known.set(key, runs)
    const oldest = known.keys().next()
    if (known.size > limits.remembered && oldest.done !== true) known.delete(oldest.value)
  }

  const ask = async (code: string, language: string): Promise<HighlightRuns | undefined> => {
    worker ??= openReady(openWorker, limits.loading)
    const ready = await worker
    if (ready === undefined) return undefined
    const id = ++asked
    const answer = await answerOf(ready, { id, code, language }, limits.milliseconds)
    if (answer.kind === 'answered') return readWireRuns(answer.runs, code)
    ready.end()
    worker = undefined
    return undefined
  }

  return {
    find: (code, language) => known.get(keyOf(code, language)),
    highlight(code, language) {
      if (language === '' || code === '' || code.length > limits.length) return Promise.resolve(undefined)
      const key = keyOf(code, language)
      const run = queue.then(async () => {
        const runs = known.has(key) ? known.get(key) : await ask(code, language)
        remember(key, runs)
        return runs
      })
      queue = run
      return run
    },
  }
}

function keyOf(code: string, language: string): string {
  return `${language}\n${code}`
}

/** A worker that said it is there; `undefined` when it cannot be had, which is not tried again. */
function openReady(
  openWorker: () => HighlightWorker,
  milliseconds: number,
): Promise<HighlightWorker | undefined> {
  return new Promise((resolve) => {
    let worker: HighlightWorker
    try {
      worker = openWorker()
    } catch {
      resolve(undefined)
      return
    }
    const timer = setTimeout(() => worker.heard(undefined), milliseconds)
    worker.heard = (data) => {
      clearTimeout(timer)
      worker.heard = () => undefined
      if (data === undefined) worker.end()
      resolve(data === undefined ? undefined : worker)
    }
  })
}

type Answer = { readonly kind: 'answered'; readonly runs: unknown } | { readonly kind: 'lost' }

function answerOf(
  worker: HighlightWorker,
  question: { readonly id: number; readonly code: string; readonly language: string },
  milliseconds: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ kind: 'lost' }), milliseconds)
    const settle = (answer: Answer): void => {
      clearTimeout(timer)
      resolve(answer)
    }
    worker.heard = (data) => {
      if (data === undefined) settle({ kind: 'lost' })
      if (number(data, 'id') === question.id) settle({ kind: 'answered', runs: field(data, 'runs') })
    }
    worker.post(question)
  })
}
