import { isErrorCode, isObject, parseJson, string, ThroughlineError } from '#base'

/** Asks a daemon. Every refusal comes out as the `ThroughlineError` that the daemon meant. */
export interface Rest {
  readonly url: string
  get(path: string, query?: Query): Promise<unknown>
  /** `signal`: whoever asked wants no answer any more. */
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<unknown>
  /** The body as it arrives. */
  stream(path: string): AsyncGenerator<Uint8Array>
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** What is used of `fetch`: that of a browser or of Node will do. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body?: string
    readonly signal?: AbortSignal
  },
) => Promise<FetchResponse>

/** What is used of its answer. */
export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
      cancel(): Promise<void>
    }
  } | null
  text(): Promise<string>
}

export interface RestOptions {
  readonly url: string
  readonly token?: string | undefined
  readonly fetch?: Fetch | undefined
  /** Gives up on an answer after this long. Default: never. */
  readonly timeoutMs?: number | undefined
}

/** A daemon's address, and what to show it. */
export function createRest(options: RestOptions): Rest {
  const url = options.url.replace(/\/+$/, '')
  const ask: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init))

  async function request(
    method: string,
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<FetchResponse> {
    const response = await ask(`${url}${path}`, {
      method,
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal !== undefined ? { signal } : limit()),
    }).catch((cause: unknown) => {
      throw unreachable(url, cause)
    })
    if (response.ok) return response
    throw toError(parseJson(await response.text().catch(() => '')), response.status)
  }

  function limit(): { readonly signal?: AbortSignal } {
    return options.timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(options.timeoutMs) }
  }

  async function bodyOf(response: FetchResponse): Promise<unknown> {
    const text = await response.text().catch((cause: unknown) => {
      throw unreachable(url, cause)
    })
    return text === '' ? undefined : parseJson(text)
  }

  return {
    url,
    get: async (path, query = {}) => await bodyOf(await request('GET', `${path}${toQuery(query)}`)),
    send: async (method, path, body, signal) => await bodyOf(await request(method, path, body, signal)),
    async *stream(path) {
      const reader = (await request('GET', path)).body?.getReader()
      if (reader === undefined) return
      try {
        for (;;) {
          const { done, value } = await reader.read().catch((cause: unknown) => {
            throw unreachable(url, cause)
          })
          if (done) return
          if (value !== undefined) yield value
        }
      } finally {
        // Whoever stops reading half-way is not sent the rest.
        await reader.cancel().catch(() => {})
      }
    },
  }
}

/** An error as the daemon tells it, in a response or in a frame. */
export function toError(body: unknown, status?: number): ThroughlineError {
  const code = string(body, 'code')
  const message = string(body, 'message')
  if (isErrorCode(code) && message !== undefined) {
    // What else was told with it, as the answer that counts.
    return new ThroughlineError(code, message, { hint: string(body, 'hint') ?? '', cause: body })
  }
  if (status === 401 || status === 403) return notAllowed()
  return new ThroughlineError(
    'daemon-unreachable',
    `what answers is no daemon of this version${status === undefined ? '' : ` (status ${status})`}`,
    { hint: 'Check the address, and that both sides have the same version: `throughline status`.' },
  )
}

/** The device is not, or no longer, one that may ask. */
export function notAllowed(): ThroughlineError {
  return new ThroughlineError('not-allowed', 'the daemon does not know this device, or not any more', {
    hint: 'Log in again: `throughline open` on the machine itself, `throughline pair` for another one.',
  })
}

/** The value, if it is an object with these fields: the daemon is ours, so what is inside is taken as it is. */
export function expectShape<T extends object>(value: unknown, ...keys: readonly (keyof T & string)[]): T {
  if (hasShape<T>(value, keys)) return value
  throw toError(undefined)
}

function hasShape<T extends object>(value: unknown, keys: readonly (keyof T & string)[]): value is T {
  return isObject(value) && keys.every((key) => value[key] !== undefined)
}

function unreachable(url: string, cause: unknown): ThroughlineError {
  return new ThroughlineError('daemon-unreachable', `no daemon answers at ${url}`, {
    hint: 'Start it with `throughline`, or see how it is with `throughline status`.',
    cause,
  })
}

function toQuery(query: Query): string {
  const pairs = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined)
      pairs.set(key, typeof value === 'boolean' ? String(Number(value)) : String(value))
  }
  return pairs.size === 0 ? '' : `?${pairs.toString()}`
}
