/** Where a block stands: the entry, and which of its blocks. */
export interface Origin {
  readonly entryId: string
  readonly index: number
}

/** What kinds of things a request cannot carry. */
export type LossKind =
  | 'thinking'
  | 'signature'
  | 'orphan-result'
  | 'second-result'
  | 'pending-call'
  | 'empty-text'
  | 'broken-text'
  | 'media'
  | 'error-mark'
  | 'tool-id'
  | 'tool-name'
  | 'tool-input'
  | 'context'
  | 'oversize'
  /** Something that was torn, garbled or never written. */
  | 'gap'
  | 'order'
  | 'unknown-block'
  | 'malformed-block'
  /** Found by reading back what was written: nobody knew that it would not be carried as it was. */
  | 'text'
  | 'call'
  | 'result'

/** Something that a restored conversation does not carry as it was. Whoever goes on is told, and where to look it up. */
export interface Loss {
  readonly kind: LossKind
  readonly origin: Origin
  /** `dropped`: nothing of it is there. `changed`: it is there in another form. `added`: nobody said it. */
  readonly how: 'dropped' | 'changed' | 'added'
  /** For a person: what it was, and why it is not there as it was. */
  readonly why: string
}
