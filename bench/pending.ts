/** Throughline cannot do this yet: shows as `n/a` in the table. */
export class Pending extends Error {
  // `Pending: …` in a stack and in `String(error)`.
  override readonly name = 'Pending'
}
