/** Numbers from 0 to 1 that are the same for the same beginning, for processes that have to be repeated: xorshift32. */
export function randomFrom(start: number): () => number {
  let state = start | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
