import { isObject } from '#base'

/** Where providers put what only they can read or vouch for. */
const SEALS: ReadonlySet<string> = new Set(['signature', 'thoughtSignature', 'encrypted_content'])

/**
 * What a provider says of a request with something in it that somebody else signed or encrypted, however well it is
 * formed otherwise. `issued`: what this provider gave.
 */
export function findForeignSeals(request: unknown, issued: readonly string[]): readonly string[] {
  if (Array.isArray(request)) return request.flatMap((each) => findForeignSeals(each, issued))
  if (!isObject(request)) return []
  const own = request['type'] === 'redacted_thinking' ? [...SEALS, 'data'] : [...SEALS]
  return Object.entries(request).flatMap(([key, value]) => {
    if (typeof value !== 'string' || !own.includes(key)) return findForeignSeals(value, issued)
    return issued.includes(value) ? [] : [`corrupted ${key}: ${value}`]
  })
}
