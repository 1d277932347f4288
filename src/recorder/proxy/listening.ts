import type { IncomingHttpHeaders } from 'node:http'
import { parseJson } from '#base'
import { createAnswerListener, type AnswerListener } from '../streams/answer-listener.ts'
import type { Api } from '../streams/answer.ts'
import type { ItemReferences } from '../streams/item-references.ts'
import type { ModelRequest } from '../streams/model-request.ts'
import { findRequestId } from '../streams/provider-api.ts'
import { readModelRequest } from '../streams/request-reader.ts'
import { createUnpacker } from '../streams/unpacker.ts'
import { isProbe, readHint, type HeaderReader } from './client-hint.ts'
import type { ConversationHint } from './conversation-facts.ts'
import type { Conversations, Exchange } from './conversations.ts'
import type { Tap } from './forward.ts'

export interface ListeningOptions {
  readonly api: Api
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly conversations: Conversations
  /** Items that clients may name instead of sending them again. */
  readonly references: ItemReferences
  /** What is known of whoever asks, where the request does not say. */
  readonly toHint: (hint: ConversationHint) => ConversationHint
  /** Something passed that could not be understood: it is not recorded. */
  readonly onUnread: (why: string) => void
  /** A model answered. */
  readonly onAnswer: () => void
  /** Everything passed; this settles when it is recorded. */
  readonly onOver: (recorded: Promise<void>) => void
}

/** So much of a request is kept until it is understood. */
const KEPT_AT_MOST = 128 * 1024 * 1024

/** What one request and its answer say, for the conversation that they belong to. */
export function listenTo(options: ListeningOptions): Tap {
  const { api, path, conversations, references } = options
  const header = headerReader(options.headers)
  const pieces: Uint8Array[] = []
  let kept = 0
  let request: ModelRequest | undefined
  let exchange: Promise<Exchange | undefined> = Promise.resolve(undefined)
  let listener: AnswerListener | undefined
  let requestId: string | undefined

  const unpacker = createUnpacker(header('content-encoding'), (bytes) => {
    kept += bytes.length
    // The bytes are somebody else's as soon as this returns.
    if (kept <= KEPT_AT_MOST) pieces.push(Buffer.from(bytes))
  })

  async function understand(): Promise<Exchange | undefined> {
    const isSound = await unpacker.end()
    const text = kept > KEPT_AT_MOST ? '' : Buffer.concat(pieces).toString('utf8')
    pieces.length = 0
    const body = parseJson(text)
    if (isProbe(body)) return undefined
    const read = readModelRequest(api, body, path)
    request = read && references.resolve(read)
    if (request === undefined) {
      options.onUnread(
        kept > KEPT_AT_MOST
          ? 'it is too large'
          : isSound
            ? 'it cannot be read'
            : 'it is packed in an unknown way',
      )
      return undefined
    }
    return conversations.begin(request, options.toHint(readHint(header, body, request)))
  }

  async function conclude(end: 'whole' | 'cut'): Promise<void> {
    const begun = await exchange
    const answer = await listener?.end()
    if (answer !== undefined) {
      references.remember(answer)
      options.onAnswer()
    } else if (begun !== undefined && listener !== undefined && end === 'whole')
      options.onUnread('its answer cannot be read')
    await begun?.answered(answer && { ...answer, requestId: requestId ?? answer.requestId })
  }

  return {
    listens: true,
    asked: (bytes) => unpacker.add(bytes),
    askedAll() {
      exchange = understand().catch(() => undefined)
    },
    answering({ statusCode = 0, headers }) {
      if (statusCode < 200 || statusCode > 299) return
      const read = headerReader(headers)
      requestId = findRequestId(read)
      listener = createAnswerListener(api, {
        contentType: read('content-type'),
        contentEncoding: read('content-encoding'),
        request,
      })
    },
    heard: (bytes) => listener?.add(bytes),
    over(end) {
      options.onOver(conclude(end).catch(() => {}))
    },
  }
}

function headerReader(headers: IncomingHttpHeaders): HeaderReader {
  return (name) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
}
