import { createHash } from 'node:crypto'
import { isObject } from '#base'

/** JSON that is the same for the same value, whatever the order in which the fields of its objects were written. */
export function toCanonical(value: unknown): string {
  return JSON.stringify(toSorted(value, 0)) ?? 'null'
}

/** A short name for a text that no other text has. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Nothing that is meant is nested more deeply; what is written against us may be. */
const DEEPEST = 200

function toSorted(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return value.map((inner) => toSorted(inner, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, toSorted(inner, depth + 1)]),
  )
}
