import { boolean, isObject, object, string, type JsonObject } from '#base'
import type { Api } from './answer.ts'
import { readChatTurns } from './chat-request.ts'
import { readGeminiTurns } from './gemini-request.ts'
import { readMessagesTurns } from './messages-request.ts'
import type { ModelRequest, RequestTurn } from './model-request.ts'
import { toProvider } from './provider-api.ts'
import { readResponsesTurns } from './responses-request.ts'

/** What was said before the answer that is asked for. */
export interface SaidBefore {
  readonly system: string
  readonly turns: readonly RequestTurn[]
}

/**
 * What a request for an answer says, in the one form of recordings. Nothing when the body is no such request. What is
 * not known is kept, and nothing is thrown over what stands in it.
 */
export function readModelRequest(api: Api, body: unknown, path: string): ModelRequest | undefined {
  if (!isObject(body)) return undefined
  const said = readTurns(api, body)
  if (said === undefined) return undefined
  const follows = string(body, 'previous_response_id')
  return {
    api,
    provider: toProvider(api),
    model: string(body, 'model') ?? /\/models\/([^/:?]+)/u.exec(path)?.[1],
    ...said,
    stream: boolean(body, 'stream') ?? /:stream(?:GenerateContent|RawPredict)/u.test(path),
    ...(follows === undefined ? {} : { follows }),
  }
}

function readTurns(api: Api, body: JsonObject): SaidBefore | undefined {
  switch (api) {
    case 'messages':
      return Array.isArray(body['messages']) ? readMessagesTurns(body) : undefined
    case 'responses':
      return 'input' in body || 'instructions' in body || 'prompt' in body
        ? readResponsesTurns(body)
        : undefined
    case 'chat':
      return Array.isArray(body['messages']) ? readChatTurns(body) : undefined
    case 'gemini': {
      // The interface that Gemini CLI uses with an account has everything one level further down.
      const inner = object(body, 'request') ?? body
      return 'contents' in inner ? readGeminiTurns(inner) : undefined
    }
  }
}
