import { createHash } from 'node:crypto'
import { isObject, ThroughlineError } from '#base'

/**
 * A value as JSON keeps it: what is written down is what is shown and what is hashed. Throws `request-invalid` on what
 * JSON has no form for, and on what is nested too deeply to be written.
 */
export function toPlain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw new ThroughlineError('request-invalid', 'this cannot be written as JSON', {
      hint: 'Use objects, lists, strings, finite numbers, true, false and null.',
      cause,
    })
  }
}

/** One text per JSON value, whatever the order of its keys. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key])}`)
  return `{${fields.join(',')}}`
}

/** The hash of all of a JSON value. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(toCanonicalJson(value)).digest('hex')
}
