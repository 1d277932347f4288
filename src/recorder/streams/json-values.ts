export interface JsonValues {
  add(bytes: Uint8Array): void
  /** Nothing more comes; whether a value was left unfinished. */
  end(): { readonly isCut: boolean }
}

/** Longer than any answer of a model that is not a film. */
const LONGEST = 64 * 1024 * 1024

/**
 * Takes the values out of a body of JSON as they become whole: the elements of a list, or the one object that it is.
 * What lies between them is passed over. Each value is scanned once, however it is cut.
 */
export function createJsonValues(onValue: (text: string) => void, longest: number = LONGEST): JsonValues {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let held = 0
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isInList = false

  function take(text: string): void {
    let start = depth > 0 ? 0 : -1
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charCodeAt(at)
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (char === BACKSLASH) isEscaped = true
        else if (char === QUOTE) isInString = false
        continue
      }
      if (char === QUOTE) {
        if (depth > 0) isInString = true
      } else if (char === OPEN_LIST && depth === 0 && !isInList) {
        isInList = true
      } else if (char === OPEN_OBJECT || char === OPEN_LIST) {
        if (depth === 0) start = at
        depth += 1
      } else if ((char === CLOSE_OBJECT || char === CLOSE_LIST) && depth > 0) {
        depth -= 1
        if (depth > 0) continue
        hold(text.slice(start, at + 1))
        if (held <= longest) onValue(pieces.join(''))
        pieces = []
        held = 0
        start = -1
      }
    }
    if (start >= 0) hold(text.slice(start))
  }

  function hold(piece: string): void {
    held += piece.length
    if (held > longest) pieces = []
    else pieces.push(piece)
  }

  return {
    add: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      take(decoder.decode())
      return { isCut: depth > 0 }
    },
  }
}

const QUOTE = 0x22
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
