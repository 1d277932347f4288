/** Where some bytes stand in a file. */
export interface Place {
  readonly offset: number
  readonly length: number
}

/**
 * Why bytes could not be read as a record.
 *
 * - `torn`: the file ends in the middle of a record.
 * - `glued`: the beginning of a record that was overtaken by another one on the same line.
 * - `nul-run`: zero bytes, as a file system leaves them after a power cut.
 * - `garbage`: anything else that is no JSON object.
 * - `too-deep`: nested deeper than any client writes.
 * - `blob-missing`: the record is read, but a text that it keeps in a file of its own is not there.
 * - `blob-changed`: the same, and the file that is there is another one.
 */
export type DamageReason =
  | 'torn'
  | 'glued'
  | 'nul-run'
  | 'garbage'
  | 'too-deep'
  | 'blob-missing'
  | 'blob-changed'

/** A range of bytes that holds no readable record. Reported, never dropped in silence. */
export interface Damage extends Place {
  readonly reason: DamageReason
}

/** Adds a range of damage to those before it. One that goes on where the last one ended is a part of it. */
export function appendDamage(ranges: Damage[], next: Damage): void {
  const last = ranges.at(-1)
  // The newline between two bad lines is no good one.
  if (last?.reason === next.reason && next.offset <= last.offset + last.length + 1) {
    ranges[ranges.length - 1] = { ...last, length: next.offset + next.length - last.offset }
  } else ranges.push(next)
}
