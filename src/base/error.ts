/** Every way Throughline says no. A new code is listed here first; `docs/reference/errors.md` is made from this list. */
export const ERROR_CODES = {
  'session-not-found': 'No session matches what was asked for.',
  'session-ambiguous': 'More than one session matches; a longer id tells them apart.',
  'entry-not-found': 'The session has no entry with this id.',
  'not-a-transcript': 'The path is not a regular file inside the folders Throughline may read.',
  'cursor-void':
    'The file was rewritten since the cursor was given; what was seen before it is not there any more.',
  'transcript-gone': 'The transcript was there and is not any more.',
  'bad-usage': 'The command line or an option could not be understood.',
  'config-invalid': 'A setting has a value that cannot be used.',
  'output-exists': 'The file to write is already there.',
  'output-unwritable': 'The file could not be written.',
  'index-unavailable': 'The index cannot be used right now; the transcripts can.',
  'request-invalid': 'A request has a part that cannot be understood.',
  'not-allowed':
    'The credential is missing, wrong, expired or revoked, or the request comes from where none may come.',
  'too-many-requests': 'Somebody asks faster than is served.',
  'daemon-running': 'A daemon already serves this home.',
  'daemon-unreachable': 'No daemon answers, or what answers is not ours.',
  internal: 'Something failed that should not have. The log has the details.',
  'journal-unwritable': 'A line could not be put on disk; it was not acknowledged.',
  'journal-locked': 'Another process is writing this journal.',
  'journal-closed': 'The journal was closed before the call.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/**
 * The one error class. Carries a code for programs, a sentence for people, and a hint that says what to do next.
 */
export class ThroughlineError extends Error {
  override readonly name = 'ThroughlineError'
  readonly code: ErrorCode
  readonly hint: string

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly hint: string; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}
