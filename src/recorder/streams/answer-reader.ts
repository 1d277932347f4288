import { isObject, parseJson, type JsonObject } from '#base'
import type { Answer, AnswerReader, Api } from './answer.ts'
import type { AnswerFold } from './answer-fold.ts'
import { createChatFold } from './chat-fold.ts'
import { createGeminiFold } from './gemini-fold.ts'
import { createJsonValues } from './json-values.ts'
import { createMessagesFold } from './messages-fold.ts'
import type { ModelRequest } from './model-request.ts'
import { createResponsesFold } from './responses-fold.ts'
import { createSseFrames } from './sse-frames.ts'

/** What is known of a response before its body. */
export interface ResponseFacts {
  readonly contentType?: string | undefined
  /** The request that is answered: calls without an id get one that none before them has. */
  readonly request?: ModelRequest | undefined
}

/**
 * Puts the answer of a provider together from the bytes of its response, a stream of events or plain JSON. Where the
 * content type does not say which of the two it is, the first bytes do.
 */
export function createAnswerReader(api: Api, facts: ResponseFacts = {}): AnswerReader {
  const fold = createFold(api, facts.request)
  const isEvents = facts.contentType?.toLowerCase().includes('event-stream') ?? false
  let body: Body | undefined = isEvents ? readEvents(fold) : undefined
  return {
    add(bytes) {
      if (body) return body.add(bytes)
      const start = bytes.findIndex((byte) => !BLANKS.has(byte))
      if (start < 0) return
      body = openBody(bytes[start], fold)
      body.add(bytes.subarray(start))
    },
    end(): Answer | undefined {
      const isWhole = body?.end() ?? false
      const answer = fold.end()
      if (answer?.outcome !== 'whole' || isWhole) return answer
      return { ...answer, outcome: 'cut' }
    },
  }
}

function createFold(api: Api, request: ModelRequest | undefined): AnswerFold {
  switch (api) {
    case 'messages':
      return createMessagesFold()
    case 'responses':
      return createResponsesFold()
    case 'chat':
      return createChatFold()
    case 'gemini':
      return createGeminiFold(request?.turns ?? [])
  }
}

interface Body {
  add(bytes: Uint8Array): void
  /** Whether nothing had to be left out. */
  end(): boolean
}

/** The one that begins with this byte. */
function openBody(first: number | undefined, fold: AnswerFold): Body {
  return first === 0x7b || first === 0x5b ? readJson(fold) : readEvents(fold)
}

/** White space, and the mark of byte order. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

function readEvents(fold: AnswerFold): Body {
  const frames = createSseFrames((frame) => {
    if (frame.data.trim() === '[DONE]') return fold.done()
    const value = parseJson(frame.data)
    if (isObject(value)) fold.event(withType(value, frame.event))
  })
  return {
    add: (bytes) => frames.add(bytes),
    end() {
      frames.end()
      return frames.dropped === 0
    },
  }
}

/** Some servers in between name an event only outside of its data. */
function withType(value: JsonObject, event: string | undefined): JsonObject {
  if (event === undefined || 'type' in value) return value
  return { type: event, ...value }
}

function readJson(fold: AnswerFold): Body {
  const values = createJsonValues((text) => {
    const value = parseJson(text)
    if (isObject(value)) fold.whole(value)
  })
  return {
    add: (bytes) => values.add(bytes),
    end: () => !values.end().isCut,
  }
}
