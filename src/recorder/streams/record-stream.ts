import type { Recording } from '../recording.ts'
import type { RecordedTurn, TurnFacts } from '../turn.ts'
import type { Answer, Api } from './answer.ts'
import { createAnswerListener, type ListenerFacts } from './answer-listener.ts'
import type { ModelRequest } from './model-request.ts'
import { passChunks, passResponse, passStream, type BytesHeard, type ByteSource } from './passed-bytes.ts'
import { findRequestId } from './provider-api.ts'

/** The bytes of an answer, unchanged, and what becomes of them in a recording. */
export interface RecordedStream<Source> {
  /** The same kind of thing that was given, with the same bytes. Read it instead. */
  readonly stream: Source
  /**
   * The turn, once it is on disk: after the last byte was read, or the stream broke off, or was cancelled. Nothing
   * when no message began. Rejects when it could not be written, which disturbs nobody who does not look.
   */
  readonly recorded: Promise<RecordedTurn | undefined>
}

export interface StreamOptions extends TurnFacts {
  /** How the bytes are packed, when that is known and they do not come from `fetch`, which unpacks them. */
  readonly contentEncoding?: string | undefined
  readonly contentType?: string | undefined
  /** The request that is answered, where it is known: Gemini's calls get the ids by which it repeats them. */
  readonly request?: ModelRequest | undefined
  /** Told when the answer could not be written. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
}

/** Records an answer while it is read. Bytes go through one by one as they come, whatever becomes of the recording. */
export interface StreamRecorder {
  (source: Response, recording: AnswerTaker, options?: StreamOptions): RecordedStream<Response>
  (
    source: ReadableStream<Uint8Array>,
    recording: AnswerTaker,
    options?: StreamOptions,
  ): RecordedStream<ReadableStream<Uint8Array>>
  (
    source: AsyncIterable<Uint8Array>,
    recording: AnswerTaker,
    options?: StreamOptions,
  ): RecordedStream<AsyncIterable<Uint8Array>>
}

/** As much of a recording as an answer needs. */
export type AnswerTaker = Pick<Recording, 'assistant'>

/** Records an answer of Anthropic's Messages API, streamed or not. */
export const recordAnthropicStream: StreamRecorder = createStreamRecorder('messages')

/** Records an answer of OpenAI's Responses API, streamed or not. */
export const recordResponsesStream: StreamRecorder = createStreamRecorder('responses')

/** Records an answer of OpenAI's Chat Completions, or of a server that speaks likewise, streamed or not. */
export const recordChatStream: StreamRecorder = createStreamRecorder('chat')

/** Records an answer of Gemini, streamed as events, as a list, or not at all. */
export const recordGeminiStream: StreamRecorder = createStreamRecorder('gemini')

function createStreamRecorder(api: Api): StreamRecorder {
  function record(source: Response, recording: AnswerTaker, options?: StreamOptions): RecordedStream<Response>
  function record(
    source: ReadableStream<Uint8Array>,
    recording: AnswerTaker,
    options?: StreamOptions,
  ): RecordedStream<ReadableStream<Uint8Array>>
  function record(
    source: AsyncIterable<Uint8Array>,
    recording: AnswerTaker,
    options?: StreamOptions,
  ): RecordedStream<AsyncIterable<Uint8Array>>
  function record(
    source: ByteSource,
    recording: AnswerTaker,
    { onTrouble, request, contentEncoding, contentType, ...facts }: StreamOptions = {},
  ): RecordedStream<ByteSource> {
    const requestId =
      facts.requestId ?? findRequestId((name) => (isResponse(source) ? source.headers.get(name) : undefined))
    const { stream, answer } = hearBytes(api, source, { request, contentEncoding, contentType })
    const recorded = answer.then((heard) => heard && recordAnswer(recording, heard, { ...facts, requestId }))
    // Whoever awaits it is told; nobody has to.
    recorded.catch((error: unknown) => onTrouble?.(error))
    return { stream, recorded }
  }
  return record
}

interface Hearing {
  readonly heard: BytesHeard
  /** What was heard, when everything was. Never rejects. */
  readonly answer: Promise<Answer | undefined>
}

function openHearing(api: Api, facts: ListenerFacts): Hearing {
  const listener = createAnswerListener(api, facts)
  let tell: ((answer: Promise<Answer | undefined>) => void) | undefined
  const answer = new Promise<Answer | undefined>((resolve) => {
    tell = resolve
  })
  return { heard: { bytes: (chunk) => listener.add(chunk), over: () => tell?.(listener.end()) }, answer }
}

/** A response with the same bytes, and the answer that they are. The answer never rejects. */
export function hearResponse(
  api: Api,
  response: Response,
  facts: ListenerFacts = {},
): { readonly stream: Response; readonly answer: Promise<Answer | undefined> } {
  const contentType = facts.contentType ?? response.headers.get('content-type') ?? undefined
  const { heard, answer } = openHearing(api, { ...facts, contentType })
  return { stream: passResponse(response, heard), answer }
}

function hearBytes(
  api: Api,
  source: ByteSource,
  facts: ListenerFacts,
): { readonly stream: ByteSource; readonly answer: Promise<Answer | undefined> } {
  if (isResponse(source)) return hearResponse(api, source, facts)
  const { heard, answer } = openHearing(api, facts)
  return { stream: isStream(source) ? passStream(source, heard) : passChunks(source, heard), answer }
}

function isResponse(source: ByteSource): source is Response {
  return 'headers' in source && 'status' in source && 'body' in source
}

function isStream(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): source is ReadableStream<Uint8Array> {
  return 'getReader' in source
}

/** Writes an answer down. One that was cut or failed is marked as such on its line: `outcome`, and why. */
export function recordAnswer(
  recording: AnswerTaker,
  answer: Answer,
  facts: TurnFacts = {},
): Promise<RecordedTurn> {
  const { message, provider, outcome, failure } = answer
  const mark = outcome === 'whole' ? {} : { outcome, ...(failure === undefined ? {} : { failure }) }
  const { requestId = answer.requestId, extra } = facts
  return recording.assistant(message, { provider, ...facts, requestId, extra: { ...extra, ...mark } })
}
