import { openRecording } from '../open-recording.ts'
import { createConversations, type Conversations, type Exchange } from '../proxy/conversations.ts'
import type { RecordFetchOptions } from '../streams/record-fetch.ts'
import { createPartFold, toAnswer, toProvider } from './ai-answer.ts'
import { readPrompt } from './ai-prompt.ts'

/** A model of the AI SDK, as far as it is asked here. */
interface NamedModel {
  readonly provider: string
  readonly modelId: string
}

/** What the AI SDK tells a middleware of a call, in its versions 5 and 6. */
interface Call<Generated, Streamed> {
  doGenerate: () => PromiseLike<Generated>
  doStream: () => PromiseLike<Streamed>
  params: { readonly prompt: readonly unknown[] }
  model: NamedModel
}

/** A middleware for `wrapLanguageModel` of the AI SDK. Versions 5 and 6 take it. */
export interface RecordingMiddleware {
  readonly specificationVersion: 'v3'
  wrapGenerate<G, S>(call: Call<G, S>): Promise<G>
  wrapStream<G, S extends { stream: ReadableStream<unknown> }>(call: Call<G, S>): Promise<S>
  readonly conversations: Conversations
  /** Waits for what is being written, and ends every recording: `context.md` is there then. */
  end(): Promise<void>
}

export type RecordMiddlewareOptions = Omit<RecordFetchOptions, 'hint'>

/**
 * Records what models say and are told through the AI SDK, each turn once. Results and streams are passed on as they
 * are; the end of one is passed on when it is on disk. A failing recording fails no call.
 */
export function recordMiddleware(options: RecordMiddlewareOptions): RecordingMiddleware {
  const { open, onTrouble = () => {}, ...rest } = options
  const conversations = createConversations({
    open:
      open ??
      (async ({ provider, subagentOf }) =>
        await openRecording({ ...rest, provider, ...(subagentOf === undefined ? {} : { subagentOf }) })),
    onTrouble,
  })

  function begin(
    { params, model }: Pick<Call<unknown, unknown>, 'params' | 'model'>,
    stream: boolean,
  ): Exchange {
    const provider = toProvider(model.provider)
    return conversations.begin({
      api: provider === 'anthropic' ? 'messages' : provider === 'gemini' ? 'gemini' : 'responses',
      provider,
      model: model.modelId,
      stream,
      ...readPrompt(params.prompt),
    })
  }

  return {
    specificationVersion: 'v3',
    async wrapGenerate(call) {
      const exchange = begin(call, false)
      try {
        const result = await call.doGenerate()
        await exchange.answered(toAnswer(result, toProvider(call.model.provider)))
        return result
      } catch (error) {
        await exchange.answered(undefined)
        throw error
      }
    },
    async wrapStream(call) {
      const exchange = begin(call, true)
      try {
        const result = await call.doStream()
        const fold = createPartFold()
        const facts = 'response' in result ? { headers: result.response } : {}
        const stream = passOn(result.stream, {
          onPart: (part) => fold.add(part),
          async onEnd() {
            await exchange.answered(toAnswer({ ...facts, ...fold.result() }, toProvider(call.model.provider)))
          },
        })
        return { ...result, stream }
      } catch (error) {
        await exchange.answered(undefined)
        throw error
      }
    },
    conversations,
    end: () => conversations.end(),
  }
}

/** The same parts, each as soon as it is asked for. Hears of the end however it comes. */
function passOn(
  source: ReadableStream<unknown>,
  { onPart, onEnd }: { readonly onPart: (part: unknown) => void; readonly onEnd: () => Promise<void> },
): ReadableStream<unknown> {
  const reader = source.getReader()
  let ended: Promise<void> | undefined
  const end = (): Promise<void> => (ended ??= onEnd())
  return new ReadableStream<unknown>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          await end()
          controller.close()
          return
        }
        onPart(value)
        controller.enqueue(value)
      } catch (error) {
        await end()
        controller.error(error)
      }
    },
    async cancel(reason) {
      await reader.cancel(reason)
      await end()
    },
  })
}
