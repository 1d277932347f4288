import type { Entry } from './entry.ts'
import type { Damage, Place } from './place.ts'

/** What reading a transcript gives, in file order. */
export type Reading =
  | { readonly kind: 'entry'; readonly entry: Entry }
  | { readonly kind: 'damage'; readonly damage: Damage }

/** The place in its file of what was read. */
export function placeOf(reading: Reading): Place {
  return reading.kind === 'entry' ? reading.entry.place : reading.damage
}
