/** Raised when a client of the former version could misunderstand what it is told. */
export const PROTOCOL = 1

/** How an error crosses the network: what `ThroughlineError` says, as data. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly hint: string
}
