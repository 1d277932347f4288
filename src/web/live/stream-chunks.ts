/** A text that grows, cut where it will not change any more. */
export interface Chunks {
  /** Whole blocks, in order. Those that were there before are the same strings at the same places. */
  readonly done: readonly string[]
  /** What is still being written. */
  readonly open: string
}

const TAIL = 64

/**
 * Cuts a growing text at the blank lines outside of fenced code, so that what stands before the last of them is read
 * once. A call costs what was added, and a text that is not the one before with something behind it begins anew.
 */
export function createChunks(): (text: string) => Chunks {
  let length = 0
  let tail = ''
  let done: readonly string[] = []
  /** Where the open chunk begins, and how far it was looked through: whole lines. */
  let start = 0
  let looked = 0
  let fence: string | undefined

  return (text) => {
    // Its last characters tell a text from another one; comparing all of it would cost more than reading it.
    if (text.slice(length - tail.length, length) !== tail) {
      done = []
      start = 0
      looked = 0
      fence = undefined
    }
    length = text.length
    tail = text.slice(-TAIL)
    for (let end = text.indexOf('\n', looked); end >= 0; end = text.indexOf('\n', looked)) {
      const line = text.slice(looked, end)
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence === undefined) fence = mark
      else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined
      const isBlank = line.trim() === ''
      looked = end + 1
      if (!isBlank || fence !== undefined) continue
      const chunk = text.slice(start, looked)
      start = looked
      if (chunk.trim() !== '') done = [...done, chunk]
    }
    return { done, open: text.slice(start) }
  }
}
