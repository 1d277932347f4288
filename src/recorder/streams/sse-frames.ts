/** One server-sent event. */
export interface SseFrame {
  readonly event: string | undefined
  readonly data: string
  /** The id that was last given in the stream. */
  readonly id: string | undefined
}

export interface SseFrames {
  add(bytes: Uint8Array): void
  /** Nothing more comes. What stands there without its empty line counts as an event. */
  end(): void
  /** How many events were left out because they were too long to be held. */
  readonly dropped: number
}

/** As long as a line of a journal may be: a longer event could not be written down anyway. */
const LONGEST = 32 * 1024 * 1024

const LINE_END = /[\r\n]/gu

/**
 * Takes server-sent events out of bytes, wherever these are cut: in a character, between CR and LF, in a field.
 * Holds one event at a time, of at most `longest` characters.
 */
export function createSseFrames(onFrame: (frame: SseFrame) => void, longest: number = LONGEST): SseFrames {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let lineLength = 0
  let held = 0
  let isTooLong = false
  let endedInCr = false
  let event: string | undefined
  let id: string | undefined
  let data: string[] = []
  let dropped = 0

  function dispatch(): void {
    if (isTooLong) dropped += 1
    else if (data.length > 0) onFrame({ event, data: data.join('\n'), id })
    event = undefined
    data = []
    held = 0
    isTooLong = false
  }

  function takeLine(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const rest = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data.push(rest)
    if (name === 'event') event = rest
    if (name === 'id' && !rest.includes('\0')) id = rest
  }

  function hold(piece: string): void {
    if (piece === '') return
    held += piece.length
    lineLength += piece.length
    if (held > longest) {
      isTooLong = true
      pieces = []
      data = []
    }
    if (!isTooLong) pieces.push(piece)
  }

  function take(text: string): void {
    if (text === '') return
    let start = endedInCr && text.startsWith('\n') ? 1 : 0
    endedInCr = false
    LINE_END.lastIndex = start
    for (let found = LINE_END.exec(text); found !== null; found = LINE_END.exec(text)) {
      hold(text.slice(start, found.index))
      endLine()
      start = found.index + 1
      const isCr = found[0] === '\r'
      if (isCr && start === text.length) endedInCr = true
      if (isCr && text[start] === '\n') start += 1
      LINE_END.lastIndex = start
    }
    hold(text.slice(start))
  }

  function endLine(): void {
    const line = pieces.join('')
    const isEmpty = lineLength === 0
    pieces = []
    lineLength = 0
    if (isEmpty) dispatch()
    else if (!isTooLong) takeLine(line)
  }

  return {
    add: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      take(decoder.decode())
      if (lineLength > 0) endLine()
      dispatch()
    },
    get dropped() {
      return dropped
    },
  }
}
