import { boolean, string, ThroughlineError, type JsonObject } from '#base'
import type { ImportRequest } from './memory-calls.ts'

const FORMATS = ['documents', 'fireproof'] as const

/** Throws `request-invalid` for a value that cannot be meant, and names it. */
export function readImportRequest(body: JsonObject): ImportRequest {
  const format = FORMATS.find((one) => one === string(body, 'format'))
  if (format === undefined) throw invalid('format is missing or unknown', 'Give documents or fireproof.')
  const text = string(body, 'text')
  if (text === undefined) throw invalid('text is missing', 'Give what the export holds.')
  const [from, workdir] = [string(body, 'from'), string(body, 'workdir')]
  return {
    format,
    text,
    ...(from === undefined ? {} : { from }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(boolean(body, 'accept') === true ? { accept: true } : {}),
  }
}

function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
