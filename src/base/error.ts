/** Every way Throughline says no. A new code is listed here first; `error-codes.ts` says what it means. */
const CODES = [
  'session-not-found',
  'session-ambiguous',
  'entry-not-found',
  'not-a-transcript',
  'cursor-void',
  'transcript-gone',
  'bad-usage',
  'config-invalid',
  'output-exists',
  'output-unwritable',
  'index-unavailable',
  'request-invalid',
  'not-allowed',
  'too-many-requests',
  'daemon-running',
  'daemon-unreachable',
  'driver-unavailable',
  'not-logged-in',
  'agent-gone',
  'session-ended',
  'session-pending',
  'session-held',
  'mode-not-allowed',
  'attention-not-found',
  'attention-mismatch',
  'attention-changed',
  'attention-settled',
  'attention-lapsed',
  'folder-not-found',
  'folder-untrusted',
  'host-unreachable',
  'document-not-found',
  'document-changed',
  'internal',
  'journal-unwritable',
  'journal-locked',
  'journal-closed',
  'redaction-failed',
  'nothing-to-compact',
  'nothing-to-undo',
  'history-not-loaded',
  'database-unreachable',
  'database-refused',
  'database-newer',
  'database-read-only',
  'not-in-team',
  'team-unreached',
  'database-failed',
] as const

export type ErrorCode = (typeof CODES)[number]

const KNOWN: ReadonlySet<string> = new Set(CODES)

/** Whether a text is one of our codes. */
export function isErrorCode(text: string | undefined): text is ErrorCode {
  return text !== undefined && KNOWN.has(text)
}

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
