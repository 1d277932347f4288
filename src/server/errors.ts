import { ThroughlineError, type ErrorCode } from '#base'
import type { ErrorBody } from '#wire'

/** Every error code has exactly one status; a new code does not compile until it has one. */
const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  'session-not-found': 404,
  'session-ambiguous': 409,
  'entry-not-found': 404,
  'not-a-transcript': 403,
  'cursor-void': 410,
  'transcript-gone': 410,
  'bad-usage': 400,
  'config-invalid': 500,
  'output-exists': 409,
  'output-unwritable': 507,
  'index-unavailable': 503,
  'request-invalid': 400,
  'not-allowed': 401,
  'too-many-requests': 429,
  'daemon-running': 409,
  'daemon-unreachable': 502,
  'driver-unavailable': 503,
  'not-logged-in': 503,
  'agent-gone': 410,
  'session-ended': 409,
  'session-pending': 409,
  'session-held': 409,
  'mode-not-allowed': 403,
  'attention-not-found': 404,
  'attention-mismatch': 409,
  'attention-changed': 409,
  'attention-settled': 409,
  'attention-lapsed': 409,
  'folder-not-found': 404,
  'folder-untrusted': 403,
  'host-unreachable': 503,
  'document-not-found': 404,
  'document-changed': 409,
  internal: 500,
  'journal-unwritable': 507,
  'journal-locked': 503,
  'journal-closed': 503,
  'redaction-failed': 503,
  'nothing-to-compact': 409,
  'nothing-to-undo': 409,
  'history-not-loaded': 502,
  'database-unreachable': 503,
  'database-refused': 503,
  'database-newer': 503,
  'database-read-only': 503,
  'not-in-team': 403,
  'team-unreached': 503,
  'database-failed': 503,
}

/** What is told of an error, and with which status. `isKnown` is false for what should not have happened. */
export interface Told {
  readonly status: number
  readonly body: ErrorBody
  readonly isKnown: boolean
}

const INTERNAL: Told = {
  status: 500,
  body: {
    code: 'internal',
    message: 'something failed that should not have',
    hint: 'See `throughline logs`.',
  },
  isKnown: false,
}

/** An error as the network may see it. Of one that is not ours nothing is told: it may quote what nobody should read. */
export function toTold(error: unknown): Told {
  if (error instanceof Refusal) return { status: error.status, body: bodyOf(error), isKnown: true }
  if (!(error instanceof ThroughlineError) || error.code === 'internal') return INTERNAL
  return { status: STATUS_OF[error.code], body: bodyOf(error), isKnown: true }
}

function bodyOf({ code, message, hint }: ThroughlineError): ErrorBody {
  return { code, message, hint }
}

/** A request that is turned away with a status of its own, where the code alone does not tell which. */
export class Refusal extends ThroughlineError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: ErrorCode,
    options: {
      readonly message: string
      readonly hint: string
      readonly headers?: Readonly<Record<string, string>>
    },
  ) {
    super(code, options.message, { hint: options.hint })
    this.status = status
    this.headers = options.headers ?? {}
  }
}
