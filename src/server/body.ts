import type { IncomingMessage } from 'node:http'
import { isObject, parseJson, type JsonObject } from '#base'
import { Refusal } from './errors.ts'

/** The JSON object that a request carries; an empty one when it carries nothing. */
export async function readBody(request: IncomingMessage, most: number): Promise<JsonObject> {
  if (!hasBody(request)) return {}
  if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'request-invalid', {
      message: 'a body must be JSON and say so',
      hint: 'Send it with `Content-Type: application/json`.',
    })
  }
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > most) throw tooLong(most)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) continue
    size += piece.length
    if (size > most) throw tooLong(most)
    pieces.push(piece)
  }
  const value = parseJson(Buffer.concat(pieces).toString('utf8'))
  if (isObject(value)) return value
  throw new Refusal(400, 'request-invalid', {
    message: 'the body is no JSON object',
    hint: 'Send an object: `{ … }`.',
  })
}

/** Whether something follows the headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function tooLong(most: number): Refusal {
  return new Refusal(413, 'request-invalid', {
    message: `the body has more than ${most} bytes`,
    hint: 'Send less at a time.',
  })
}
