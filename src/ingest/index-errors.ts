import { ThroughlineError } from '#base'

/** The index answers nothing right now. */
export function notNow(cause: unknown): ThroughlineError {
  return new ThroughlineError('index-unavailable', 'the index is being built again', {
    hint: 'Try again in a moment; the sessions themselves can be read all the while.',
    cause,
  })
}

/** What an error says. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
