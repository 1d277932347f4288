/** The same numbers in an array with room for as many again. Memory that was never written to costs nothing. */
export function grown<Numbers extends Uint8Array | Int32Array | Uint32Array | Float64Array>(
  numbers: Numbers,
): Numbers
export function grown(
  numbers: Uint8Array | Int32Array | Uint32Array | Float64Array,
): Uint8Array | Int32Array | Uint32Array | Float64Array {
  const length = numbers.length * 2
  if (numbers instanceof Uint8Array) return copied(new Uint8Array(length), numbers)
  if (numbers instanceof Int32Array) return copied(new Int32Array(length), numbers)
  if (numbers instanceof Uint32Array) return copied(new Uint32Array(length), numbers)
  return copied(new Float64Array(length), numbers)
}

function copied<To extends { set(from: ArrayLike<number>): void }>(to: To, from: ArrayLike<number>): To {
  to.set(from)
  return to
}
