/** Whose fault it is that the model could not be asked. */
export type TurnFault =
  /** The provider refuses what is in this session. Other sessions are not affected, and the same is refused again. */
  | 'session'
  /** Nobody is logged in, the key is wrong, nothing is paid for. */
  | 'account'
  /** Too much was asked in too short a time, or more than was paid for. */
  | 'limit'
  /** The provider is overloaded or broken. */
  | 'provider'

/** Words of providers for an account that cannot be used; some say them with the status of a malformed request. */
const ACCOUNT =
  /\/login|api[ _-]?key|credit balance|billing|unauthenticated|unauthori[sz]ed|authenticat|permission denied|location is not supported/iu

/** Words for a session that is refused as it is, where no status was told. */
const SESSION =
  /invalid_request_error|tool_use_id|tool_result|thinking blocks|thought_?signature|prompt is too long|context length|input is too long|could not process image/iu

/** Tells by status and words why a request failed. Nothing where neither says. */
export function faultOf(message: string, status: number | undefined): TurnFault | undefined {
  if (status === 429) return 'limit'
  if (status !== undefined && (status >= 500 || status === 408 || status === 409)) return 'provider'
  if (status === 401 || status === 402 || status === 403 || ACCOUNT.test(message)) return 'account'
  if (status === 400 || status === 413 || status === 422) return 'session'
  return status === undefined && SESSION.test(message) ? 'session' : undefined
}
