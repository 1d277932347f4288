import { createHash } from 'node:crypto'

/** What a provider takes as the name of a call or a tool. */
export interface NameRule {
  readonly pattern: RegExp
  readonly longest: number
}

/**
 * Names for a provider that is stricter than the one that gave them. A name that fits stays; another gets one that is
 * always the same for it and is nobody else's, so that calls and results still find each other.
 */
export function toFittingName(name: string, { pattern, longest }: NameRule): string {
  if (name.length <= longest && pattern.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12)
  const legible = name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, longest - hash.length - 1)
  return `${legible === '' ? 'x' : legible}_${hash}`.slice(0, longest)
}
