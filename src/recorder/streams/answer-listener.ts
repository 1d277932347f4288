import type { Answer, Api } from './answer.ts'
import { createAnswerReader, type ResponseFacts } from './answer-reader.ts'
import { createUnpacker } from './unpacker.ts'

/** Listens to the body of a response while it is passed on as it is. */
export interface AnswerListener {
  /** The next bytes as they came over the network. Copies what it needs: they are free when it returns. Never throws. */
  add(bytes: Uint8Array): void
  /** The body is over or was broken off. Resolves with what was heard, or with nothing when no message began. Never rejects. */
  end(): Promise<Answer | undefined>
}

export interface ListenerFacts extends ResponseFacts {
  /** How the bytes are packed. Leave it out for bytes that `fetch` gave: it unpacks them. */
  readonly contentEncoding?: string | undefined
  /** So many bytes are heard, unpacked; whatever comes after them is only passed on. Default: 256 MiB. */
  readonly atMost?: number | undefined
}

const HEARD_AT_MOST = 256 * 1024 * 1024

/** Makes a listener for one response. */
export function createAnswerListener(api: Api, facts: ListenerFacts = {}): AnswerListener {
  const reader = createAnswerReader(api, facts)
  let heard = 0
  let isSound = true
  let answer: Promise<Answer | undefined> | undefined

  const unpacker = createUnpacker(facts.contentEncoding, (bytes) => {
    heard += bytes.length
    if (heard > (facts.atMost ?? HEARD_AT_MOST)) isSound = false
    if (isSound) attempt(() => reader.add(bytes))
  })

  /** Whoever passes the bytes on is never disturbed by what is made of them. */
  function attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch {
      isSound = false
      return undefined
    }
  }

  async function end(): Promise<Answer | undefined> {
    const isWhole = await unpacker.end()
    const found = attempt(() => reader.end())
    if (found?.outcome !== 'whole' || (isWhole && isSound)) return found
    return { ...found, outcome: 'cut' }
  }

  return {
    add: (bytes) => attempt(() => unpacker.add(bytes)),
    end: () => (answer ??= end()),
  }
}
