/** A text that came in pieces. */
export async function joinPieces(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  return text
}
