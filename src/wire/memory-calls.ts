import type {
  DocumentAudience,
  DocumentCategory,
  DocumentDraft,
  DocumentPatch,
  DocumentQuery,
  DocumentScope,
  DocumentType,
  DocumentVersion,
  MemoryDocument,
  WakeUpReceipt,
} from '#model'

/**
 * What is remembered: documents with every version they ever had, and the wake-ups that carry them into new sessions.
 * Messages and artifacts that sessions hold are read from their transcripts, and are documents like all others.
 */
export interface MemoryCalls {
  /** Every document that fits, oldest first. Throws `request-invalid` for facets that cannot be meant. */
  query(query: DocumentQuery, options?: QueryOptions): Promise<readonly MemoryDocument[]>
  /** Throws `document-not-found`. */
  get(id: string): Promise<MemoryDocument>
  /** Oldest first. Throws `document-not-found`. */
  versions(id: string): Promise<readonly DocumentVersion[]>
  /** Adds a document as it is, unless one of its id is there already: that one is given, unchanged. */
  put(draft: DocumentDraft, author?: ChangeAuthor): Promise<MemoryDocument>
  /** Promotes something that a person or an agent picked. Nothing is written unless the outcome says so. */
  remember(request: RememberRequest): Promise<RememberOutcome>
  /** Changes fields of a document. The version before is kept. Throws `document-changed` when it is another one now. */
  edit(id: string, patch: DocumentPatch, author?: ChangeAuthor): Promise<MemoryDocument>
  /** Does something with a document that is more than changing its fields. Throws as `edit` does. */
  act(id: string, action: DocumentAction, author?: ChangeAuthor): Promise<MemoryDocument>
  /** What a person should look at. */
  review(): Promise<Review>
  /** Where a document came from, which wake-ups carried it, and how the files stand that it was bound to. */
  trace(id: string): Promise<DocumentTrace>
  /** Tags that would suit a text, best first. */
  suggestTags(text: string): Promise<readonly string[]>
  /** The wake-up that a session begun now would get. Nothing is written. */
  wakeUp(request: WakeUpRequest): Promise<WakeUpPreview>
  /** The wake-ups that a session got, as they were sent, oldest first. */
  wakeUps(sessionId: string): Promise<readonly KeptWakeUp[]>
  /** Composes a wake-up for a session that runs in a terminal, and writes down that it got it. */
  wakeElsewhere(request: WakeElsewhereRequest): Promise<WakeUpPreview>
  /** What was said or remembered that answers a question, best first, with where it stands. */
  recall(request: RecallRequest): Promise<RecallAnswer>
  /** Brings documents in that were written elsewhere. Again: nothing changes. */
  import(request: ImportRequest): Promise<ImportReport>
  /** Every document with every version, one JSON line each. `import` takes it back without loss. */
  export(): Promise<string>
  /** The bytes of an artifact, in the version with this hash. Throws `document-not-found`. */
  artifact(id: string, hash?: string): Promise<ArtifactContent>
}

export interface QueryOptions {
  /** The newest so many. Default: all of what is written down, and 500 of what is read from transcripts. */
  readonly limit?: number | undefined
}

/** Who changes something. */
export interface ChangeAuthor {
  /** A daemon knows, and says it itself. */
  readonly by?: string | undefined
  /** The version it was shown in: with another one now, nothing is changed. */
  readonly version?: number | undefined
}

/** Where in a session something was picked. */
export interface PickedAt {
  readonly sessionId: string
  readonly entryId: string
  readonly block?: number | undefined
  /** Where in the block's text, in UTF-16 units. */
  readonly position?: number | undefined
}

export interface RememberRequest {
  /** Default: `learning`. */
  readonly type?: Exclude<DocumentType, 'message'> | undefined
  readonly content: string
  readonly category?: DocumentCategory | undefined
  readonly tags?: readonly string[] | undefined
  readonly pinned?: boolean | undefined
  readonly expiresAt?: string | undefined
  readonly audience?: DocumentAudience | undefined
  /** Who may read it beside its owner. Default: private. An agent shares nothing. */
  readonly scope?: DocumentScope | undefined
  /** Paths it was learned from: when they change, it says so. Relative ones are in `workdir`. */
  readonly files?: readonly string[] | undefined
  readonly workdir?: string | undefined
  readonly at?: PickedAt | undefined
  /** A document that this one stands for from now on. */
  readonly supersedes?: string | undefined
  /** Whether a person or an agent says it. Default: `human`. */
  readonly speaker?: 'human' | 'agent' | undefined
  /** Which agent says it, where one does. */
  readonly agent?: string | undefined
  /** What a person decided about a document that is nearly the same. */
  readonly near?: { readonly choice: 'update' | 'keep-both' | 'ignore'; readonly id: string } | undefined
  /** The person wants it kept although it looks like a secret. */
  readonly keepSecret?: boolean | undefined
  /** Who says it. A daemon knows, and says it itself. */
  readonly by?: string | undefined
}

export type RememberOutcome =
  | { readonly kind: 'remembered'; readonly document: MemoryDocument }
  /** The same statement is remembered already; it is confirmed. */
  | { readonly kind: 'confirmed'; readonly document: MemoryDocument }
  /** It was written, and waits for a person. */
  | { readonly kind: 'held'; readonly document: MemoryDocument; readonly reason: string }
  /** Nothing was written: nearly the same is known, and only a person can tell what is meant. */
  | { readonly kind: 'near'; readonly near: readonly NearDocument[] }
  /** Nothing was written: it looks like a secret. `masked` is what would be kept without it. */
  | { readonly kind: 'secret'; readonly secrets: readonly string[]; readonly masked: string }
  /** Nothing was written, as was wanted. */
  | { readonly kind: 'ignored' }

export interface NearDocument {
  readonly document: MemoryDocument
  /** From 0 to 1. */
  readonly similarity: number
  /** In what the two do not agree: `numbers`, `negation`, … */
  readonly differs: readonly string[]
}

export type DocumentAction =
  | { readonly do: 'retire' }
  /** Removes its words and its history for good. */
  | { readonly do: 'delete' }
  | { readonly do: 'restore'; readonly from?: number | undefined }
  | { readonly do: 'supersede'; readonly newer: string }
  | { readonly do: 'pin' }
  | { readonly do: 'unpin' }
  /** Without `at` it never expires. */
  | { readonly do: 'expire'; readonly at?: string | undefined }
  /** A person decided that what was held back may count. */
  | { readonly do: 'approve' }
  /** The two do not contradict each other, or one does not count against the other any more. */
  | { readonly do: 'reconcile'; readonly with: string }
  /** Lets others read it, or nobody any more. Refused for what holds a secret or reads like an instruction. */
  | { readonly do: 'share'; readonly scope: DocumentScope }
  /** Of versions that were written without knowing of each other, this one is kept. */
  | { readonly do: 'decide'; readonly key: string }
  /** Takes all that the others say elsewhere, and stands for them. */
  | { readonly do: 'merge'; readonly others: readonly string[]; readonly content?: string | undefined }

/** What waits for a person, and what is new. */
export interface Review {
  /** Held back by the write gate, or because the configuration asks for a person. */
  readonly held: readonly MemoryDocument[]
  /** Groups that contradict each other. */
  readonly contradictions: readonly (readonly MemoryDocument[])[]
  /** Changed on two machines that did not know of each other. */
  readonly conflicts: readonly MemoryDocument[]
  /** Groups that say nearly the same. */
  readonly duplicates: readonly (readonly MemoryDocument[])[]
  /** Whose files have changed or are gone. */
  readonly stale: readonly MemoryDocument[]
  /** Written since the last wake-up. */
  readonly fresh: readonly MemoryDocument[]
}

export interface DocumentTrace {
  readonly document: MemoryDocument
  /** Wake-ups that carried it, newest first. */
  readonly carried: readonly CarriedIn[]
  readonly files: readonly BoundFile[]
}

export interface CarriedIn {
  readonly sessionId: string
  readonly at: string
  readonly form: 'full' | 'short'
}

export interface BoundFile {
  readonly path: string
  readonly state: 'same' | 'changed' | 'gone'
}

export interface WakeUpRequest {
  readonly workdir: string
  /** Default: `claude`. */
  readonly agent?: string | undefined
  /** The transcript to begin with, in place of the one that would be found. */
  readonly previousTranscript?: PreviousTranscript | undefined
  /** What is going to be asked, when it is known: what suits it is picked first. */
  readonly prompt?: string | undefined
  /** `false`: nothing of what other people share. Default: as `wakeUp.team` in `config.json` says. */
  readonly team?: boolean | undefined
  /** `xml` as it is sent to agents; `md` for reading and pasting. */
  readonly format?: 'xml' | 'md' | undefined
}

/** A transcript that a client kept itself. */
export interface PreviousTranscript {
  /** Empty where the client does not know it. */
  readonly sessionId: string
  /** Empty where the client does not know it. */
  readonly ended: string
  readonly messages: readonly {
    readonly id?: string | undefined
    readonly speaker: 'human' | 'agent'
    readonly name?: string | undefined
    readonly text: string
  }[]
}

export interface WakeElsewhereRequest {
  readonly sessionId: string
  readonly workdir: string
  readonly agent: string
  /** Why the session asks: it began, goes on, or has just been compacted. */
  readonly reason: 'startup' | 'resume' | 'clear' | 'compact'
  /** How long the text may be, in UTF-16 units. */
  readonly characters?: number | undefined
}

export interface WakeUpPreview {
  /** Empty when there is nothing to tell. */
  readonly text: string
  readonly receipt: WakeUpReceipt
}

/** A wake-up as a session got it. */
export interface KeptWakeUp extends WakeUpPreview {
  readonly sessionId: string
  readonly at: string
  /** How it came to the agent. */
  readonly way: 'prompt' | 'hook' | 'mcp'
}

export interface RecallRequest {
  readonly question: string
  /** Only sessions and documents of this folder and those inside it. */
  readonly workdir?: string | undefined
  readonly limit?: number | undefined
}

export interface RecallAnswer {
  readonly hits: readonly RecallHit[]
}

export interface RecallHit {
  readonly kind: 'message' | 'document'
  /** Of the document; of a message, the entry's. */
  readonly id: string
  readonly sessionId?: string | undefined
  readonly text: string
  readonly at?: string | undefined
  readonly score: number
}

export interface ImportRequest {
  /** What `export` gave, or an export of a Fireproof database. */
  readonly format: 'documents' | 'fireproof'
  readonly text: string
  readonly by?: string | undefined
  /** Where it came from, for whoever decides about it. */
  readonly from?: string | undefined
  /** A person answers for it: it counts at once, as it stands. Otherwise it is held until a person approves it. */
  readonly accept?: boolean | undefined
  /** The folder that conversations in it belong to. They become sessions once they are accepted. */
  readonly workdir?: string | undefined
}

export interface ImportReport {
  readonly added: number
  readonly known: number
  /** How many of those that were added wait for a person. */
  readonly held: number
  /** Sessions that were made of the conversations in it. */
  readonly sessions: readonly string[]
  /** What could not be read, or not taken in, with where it stands. */
  readonly losses: readonly { readonly place: string; readonly reason: string }[]
}

export interface ArtifactContent {
  readonly path: string
  readonly hash: string
  readonly mediaType: string
  /** In base64. */
  readonly bytes: string
}
