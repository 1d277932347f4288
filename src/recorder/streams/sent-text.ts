/** What a request says, and the request to be made instead: reading a body takes it from whoever sends it. */
export interface SentText {
  readonly input: string | URL | Request
  readonly init: RequestInit | undefined
  /** At once where the body is at hand. Nothing when it has none that is text. */
  readonly text: string | Promise<string> | undefined
}

/** Reads the body of a request that is about to be made with `fetch`. */
export function readSentText(input: string | URL | Request, init: RequestInit | undefined): SentText {
  const body = init?.body
  if (body === undefined || body === null) {
    if (typeof input === 'string' || input instanceof URL) return { input, init, text: undefined }
    return { input, init, text: input.clone().text() }
  }
  if (typeof body === 'string') return { input, init, text: body }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body))
    return { input, init, text: new TextDecoder().decode(body) }
  if (body instanceof Blob) return { input, init, text: body.text() }
  if (!(body instanceof ReadableStream)) return { input, init, text: undefined }
  const [sent, read] = body.tee()
  return { input, init: { ...init, body: sent }, text: new Response(read).text() }
}
