import type { Conversations } from '../proxy/conversations.ts'
import { recordFetch, type Fetch, type RecordFetchOptions } from '../streams/record-fetch.ts'

/** A client of a provider that can be given another `fetch`: those of Anthropic and OpenAI are such. */
export interface ClientWithFetch<C> {
  withOptions(options: { fetch: Fetch }): C
}

/** A client that records, and what it has recorded. */
export interface RecordedClient<C> {
  /** Takes the place of the one that was given, which records nothing. */
  readonly client: C
  readonly conversations: Conversations
  /** Waits for what is being written, and ends every recording: `context.md` is there then. */
  end(): Promise<void>
}

export interface RecordClientOptions extends RecordFetchOptions {
  /** What requests are made with. Default: what the client has, else that of the platform. */
  readonly fetch?: Fetch | undefined
}

/**
 * A client of `@anthropic-ai/sdk` like the given one, with everything recorded that goes through it: `messages.create`
 * whole and streamed, `messages.stream`, `beta.messages`. Retries and counting of tokens are no turns.
 */
export function recordAnthropic<C extends ClientWithFetch<C>>(
  client: C,
  options: RecordClientOptions,
): RecordedClient<C> {
  return recordClient(client, options)
}

/** A client of `openai` like the given one, with everything recorded: `responses` and `chat.completions`. */
export function recordOpenAI<C extends ClientWithFetch<C>>(
  client: C,
  options: RecordClientOptions,
): RecordedClient<C> {
  return recordClient(client, options)
}

function recordClient<C extends ClientWithFetch<C>>(
  client: C,
  { fetch, ...options }: RecordClientOptions,
): RecordedClient<C> {
  const recording = recordFetch(fetch ?? findFetch(client) ?? globalThis.fetch, options)
  return {
    client: client.withOptions({ fetch: recording }),
    conversations: recording.conversations,
    end: () => recording.end(),
  }
}

/** The SDKs of both keep it under this name, and hand it on to every client that is made of this one. */
function findFetch(client: object): Fetch | undefined {
  const held = 'fetch' in client ? client.fetch : undefined
  return isFetch(held) ? held : undefined
}

function isFetch(value: unknown): value is Fetch {
  return typeof value === 'function'
}
