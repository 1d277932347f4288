/** Something that a model says, whatever the interface over which it goes. */
export type SaidPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }

/** One event of a stream; data that is a text goes as it is. */
export interface StreamEvent {
  readonly event?: string | undefined
  readonly data: object | string
}

/** How an interface of a provider says something: streamed, whole, and sent back by its clients. */
export interface SaidShape {
  readonly api: 'messages' | 'responses' | 'chat' | 'gemini'
  readonly path: string
  toEvents(said: readonly SaidPart[], cut: (text: string) => readonly string[]): readonly StreamEvent[]
  toBody(said: readonly SaidPart[]): object
  /** The next request of a client that was given this after it had said `Begin.` */
  toRequest(said: readonly SaidPart[]): object
}

/** How events are written down. */
export interface EventStyle {
  readonly end: '\n' | '\r\n' | '\r'
  /** Stands between the events: a comment, for example. */
  readonly between?: string | undefined
  readonly hasMark?: boolean | undefined
}

/** The bytes of a stream of events. */
export function toEventBytes(events: readonly StreamEvent[], style: EventStyle = { end: '\n' }): Uint8Array {
  const { end, between = '', hasMark = false } = style
  const texts = events.map(({ event, data }) => {
    const name = event === undefined ? '' : `event: ${event}${end}`
    return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}${end}${between}`
  })
  return new TextEncoder().encode(`${hasMark ? '\u{feff}' : ''}${texts.join('')}`)
}

/** Cuts a text after so many characters each time. */
export function inPieces(length: number): (text: string) => readonly string[] {
  return (text) => {
    const pieces: string[] = []
    for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length))
    return pieces
  }
}
