import { parseJson } from '#base'
import { openRecording } from '../open-recording.ts'
import { isProbe, readHint } from '../proxy/client-hint.ts'
import type { ConversationFacts, ConversationHint, Trouble } from '../proxy/conversation-facts.ts'
import { createConversations, type Conversations, type Exchange } from '../proxy/conversations.ts'
import type { Recording, RecordingOptions } from '../recording.ts'
import type { Answer, Api } from './answer.ts'
import { createItemReferences } from './item-references.ts'
import type { ModelRequest } from './model-request.ts'
import { findApi, findRequestId } from './provider-api.ts'
import { hearResponse } from './record-stream.ts'
import { readModelRequest } from './request-reader.ts'
import { readSentText } from './sent-text.ts'

/** Whatever does what the `fetch` of the platform does. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A `fetch` that records. */
export interface RecordingFetch extends Fetch {
  readonly conversations: Conversations
  /** Waits for what is being written, and ends every recording: `context.md` is there then. */
  end(): Promise<void>
}

export interface RecordFetchOptions extends Omit<RecordingOptions, 'sessionId' | 'subagentOf'> {
  /** What is known of a request beside what it says: which session of the client it belongs to. */
  readonly hint?: ((headers: Headers) => ConversationHint) | undefined
  /** Opens the recording of a conversation. Default: `openRecording` with these options. */
  readonly open?: ((facts: ConversationFacts) => Promise<Recording>) | undefined
  /** Told when something could not be recorded. The request goes its way. */
  readonly onTrouble?: ((trouble: Trouble) => void) | undefined
}

/**
 * A `fetch` to be given to the client of any provider. What goes through it is what goes through `fetch`; every
 * conversation with a model is recorded on the way, each turn once. A failing recording fails no request.
 */
export function recordFetch(fetch: Fetch, options: RecordFetchOptions): RecordingFetch {
  const { hint, open, onTrouble, ...rest } = options
  const references = createItemReferences()
  const conversations = createConversations({
    open: open ?? (async (facts) => await openRecording(toRecordingOptions(rest, facts))),
    onTrouble: (trouble) => onTrouble?.(trouble),
  })

  /** Does what is only for the recording: whatever becomes of it, the request goes its way. */
  function attempt<T>(target: Target, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      tellTrouble(`what was said to ${target.url.host} is not recorded: ${why}`)
      return undefined
    }
  }

  function tellTrouble(message: string): void {
    try {
      onTrouble?.({ message, agent: options.agent, sessionId: undefined, turns: 1 })
    } catch {
      // Whoever is told has to cope with it.
    }
  }

  function begin(target: Target, api: Api, text: string | undefined): Begun | undefined {
    const body = parseJson(text ?? '')
    if (body === undefined) tellTrouble(`a request to ${target.url.host} could not be read`)
    // What is JSON and no such request belongs to others, who have paths of the same name.
    const read = isProbe(body) ? undefined : readModelRequest(api, body, target.url.pathname)
    const request = read && references.resolve(read)
    return request && { request, exchange: conversations.begin(request, hintOf(target, body, request)) }
  }

  function hintOf({ headers }: Target, body: unknown, request: ModelRequest): ConversationHint {
    const found = readHint((name) => headers.get(name) ?? undefined, body, request)
    const { clientSessionId, agentId, purpose } = found
    // Who records and where is said in the options, not guessed.
    return { clientSessionId, agentId, purpose, ...hint?.(headers) }
  }

  const recording: Fetch = async (input, init) => {
    const target = toTarget(input, init)
    const api = target && findApi(target.method, target.url.pathname)
    if (target === undefined || api === undefined) return await fetch(input, init)
    const sent = attempt(target, () => readSentText(input, init)) ?? { input, init, text: '' }
    let begun: Begun | undefined
    const start = (text: string | undefined): void => {
      begun = attempt(target, () => begin(target, api, text))
    }
    const isLater = sent.text instanceof Promise
    if (!isLater) start(sent.text)
    const started = isLater ? Promise.resolve(sent.text).then(start, () => {}) : Promise.resolve()
    const tell = async (answer: Answer | undefined): Promise<void> => {
      if (answer) references.remember(answer)
      await started
      await begun?.exchange.answered(answer)
    }
    const response = await fetch(sent.input, sent.init).catch((error: unknown) => {
      void tell(undefined)
      throw error
    })
    const heard = attempt(target, () =>
      response.ok ? hearResponse(api, response, { request: begun?.request }) : undefined,
    )
    const requestId = findRequestId((name) => response.headers.get(name))
    if (heard === undefined) void tell(undefined)
    else void heard.answer.then(async (answer) => await tell(answer && { ...answer, requestId }))
    return heard?.stream ?? response
  }
  return Object.assign(recording, { conversations, end: async () => await conversations.end() })
}

interface Begun {
  readonly request: ModelRequest
  readonly exchange: Exchange
}

interface Target {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

/** Where a request goes; nothing when `fetch` itself has to say what is wrong with it. */
function toTarget(input: string | URL | Request, init: RequestInit | undefined): Target | undefined {
  try {
    const isRequest = typeof input !== 'string' && !(input instanceof URL)
    return {
      url: new URL(isRequest ? input.url : input),
      method: init?.method ?? (isRequest ? input.method : 'GET'),
      headers: new Headers(init?.headers ?? (isRequest ? input.headers : undefined)),
    }
  } catch {
    return undefined
  }
}

function toRecordingOptions(
  options: Omit<RecordingOptions, 'sessionId' | 'subagentOf'>,
  facts: ConversationFacts,
): RecordingOptions {
  const { clientSessionId, provider, subagentOf } = facts
  return {
    ...options,
    cwd: facts.cwd ?? options.cwd,
    provider,
    ...(subagentOf === undefined ? {} : { subagentOf }),
    extra: { ...options.extra, ...(clientSessionId === undefined ? {} : { clientSessionId }) },
  }
}
