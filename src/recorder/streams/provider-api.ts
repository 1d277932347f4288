import type { Provider } from '../turn.ts'
import type { Api } from './answer.ts'

/** Whose interface it is. */
export function toProvider(api: Api): Provider {
  switch (api) {
    case 'messages':
      return 'anthropic'
    case 'responses':
    case 'chat':
      return 'openai'
    case 'gemini':
      return 'gemini'
  }
}

const PATHS: readonly (readonly [Api, RegExp])[] = [
  ['messages', /\/v\d+\/messages$/u],
  ['messages', /\/publishers\/anthropic\/models\/[^/]+:(?:rawPredict|streamRawPredict)$/u],
  ['responses', /\/responses$/u],
  ['chat', /\/chat\/completions$/u],
  ['gemini', /[/:](?:generateContent|streamGenerateContent)$/u],
]

/**
 * The interface that a request speaks when it asks a model for an answer in a conversation. None for anything else:
 * counting of tokens, batches, lists of models, files, compaction on the provider's side, telemetry.
 */
export function findApi(method: string, path: string): Api | undefined {
  if (method.toUpperCase() !== 'POST') return undefined
  const [bare = ''] = path.split(/[?#]/u)
  const trimmed = bare.replace(/\/+$/u, '')
  return PATHS.find(([, pattern]) => pattern.test(trimmed))?.[0]
}

/** The provider's id of a request, from the headers of its response. */
export function findRequestId(header: (name: string) => string | null | undefined): string | undefined {
  for (const name of [
    'request-id',
    'x-request-id',
    'x-oai-request-id',
    'x-goog-request-id',
    'apim-request-id',
  ]) {
    const value = header(name)
    if (value !== null && value !== undefined && value !== '') return value
  }
  return undefined
}
