/** One way to ask the daemon. The router, its tests and the reference are made from these. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `:id` is the grammar of session and device ids; `:query` is any text of up to 200 characters. */
  readonly path: string
  /** How long a body may be, where it may be longer than most. */
  readonly bodyBytes?: number
  /** `device`: only with `Authorization: Bearer`. */
  readonly auth: 'device' | 'none'
  readonly summary: string
  readonly query?: readonly Parameter[]
  readonly body?: readonly Parameter[]
  /** What comes back, in a few words. */
  readonly answer: string
}

export interface Parameter {
  readonly name: string
  readonly kind: 'text' | 'number' | 'flag' | 'text or null' | 'true or false' | 'object' | 'list'
  readonly required?: true
  readonly meaning: string
}
