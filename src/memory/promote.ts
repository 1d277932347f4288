import { boolean, list, object, string, type JsonObject } from '#base'
import {
  isDocumentCategory,
  toDefaultCategory,
  type Directive,
  type DirectiveKind,
  type DocumentAudience,
  type DocumentDraft,
  type DocumentType,
  type FileBinding,
  type MemoryDocument,
  type Provenance,
} from '#model'
import { guardEgress, redact } from '#redact'
import type { Documents } from './document-calls.ts'
import { findHoldReason } from './hold-reason.ts'
import { toPromotion } from './similarity.ts'
import type { ForeignTexts } from './write-gate.ts'

/** A directive where it was said, and what is known of that place. */
export interface SaidDirective extends ForeignTexts {
  readonly directive: Directive
  readonly provenance: Provenance
  /** The message that it is part of, as the session has it. */
  readonly messageId: string
  /** Who said it, and what the person at this machine calls them. */
  readonly agent: string
  readonly agentName?: string | undefined
  readonly at?: string | undefined
  readonly workdir?: string | undefined
  /** The files that it names, as they are now. */
  readonly files: readonly FileBinding[]
  /** How many of the same message come before it. */
  readonly before: number
}

/** What became of a directive. */
export interface Promoted {
  readonly outcome: 'remembered' | 'confirmed' | 'held' | 'known' | 'refused'
  readonly document?: MemoryDocument
}

export interface PromoteOptions {
  readonly now: number
  /** Whether a person has to approve what agents remember. */
  readonly review: 'off' | 'agent'
}

const TYPES: Readonly<Record<DirectiveKind, DocumentType>> = {
  remember: 'learning',
  marker: 'marker',
  teach: 'teaching',
}
/** By tag: what is only true for a while ends by itself. */
const DAYS: Readonly<Record<string, number>> = { status: 14, workaround: 60 }
const DAY_MS = 86_400_000

/**
 * Keeps what an agent asked to be kept: once for every place, in whatever copy of the line it is read. What says the
 * same as a known document confirms it; what may contradict one stands beside it until a person decides; what may be
 * somebody else's words, and what is too much, is held back with the reason. Secrets are masked.
 */
export async function promoteDirective(
  documents: Documents,
  said: SaidDirective,
  options: PromoteOptions,
): Promise<Promoted> {
  const known = documents.findFrom(said.provenance)
  if (known !== undefined) return { outcome: 'known', document: known }
  const clean = guardEgress(() => redact(said.directive.content))
  // What cannot be searched for secrets is not kept. It is still where it was said.
  if (clean.state === 'refused') return { outcome: 'refused' }
  const draft = toDraft(said, clean.text, clean.found.length, options.now)
  if (draft === undefined) return { outcome: 'refused' }
  const author = { by: nameOf(said) }
  const promotion = toPromotion(
    { ...draft, category: draft.category ?? toDefaultCategory(draft.type) },
    documents.query({ type: draft.type }),
    options.now,
  )
  const older = findSuperseded(documents, said)
  const held = findHoldReason({
    content: said.directive.content,
    toolTexts: said.toolTexts,
    origin: said.origin,
    before: said.before,
    wantsPin: boolean(said.directive.payload, 'pinned') === true,
    older,
    review: options.review,
  })
  if (promotion.kind === 'confirms' && held === undefined) {
    const { provenance } = said
    const document = await documents.confirm(promotion.near.id, { ...author, provenance })
    return { outcome: 'confirmed', document }
  }
  const contradicts = promotion.kind === 'ask' ? promotion.near.map(({ id }) => id) : []
  const { outcome, document } = await documents.put(
    { ...draft, contradicts, ...(held === undefined ? {} : { quarantine: held }) },
    author,
  )
  if (outcome === 'known') return { outcome, document }
  if (held !== undefined) return { outcome: 'held', document }
  if (older !== undefined) await documents.supersede(older.id, document.id, author)
  return { outcome: 'remembered', document }
}

/** `undefined` when what stands beside the content could not be searched for secrets. */
function toDraft(
  said: SaidDirective,
  content: string,
  masks: number,
  now: number,
): DocumentDraft | undefined {
  const { directive, provenance, workdir } = said
  const name = nameOf(said)
  const { payload } = directive
  const type = TYPES[directive.kind]
  const category = string(payload, 'category')
  const tags = maskEach(list(payload, 'tags'))
  if (tags === undefined) return undefined
  const audience = readAudience(payload)
  const expiresAt = findEnd(payload, tags, now)
  const at = said.at ?? new Date(now).toISOString()
  return {
    type,
    content,
    category: isDocumentCategory(category) ? category : toDefaultCategory(type),
    // A moment belongs to its session; what was learned there belongs to none.
    sessionId: type === 'marker' ? provenance.sessionId : null,
    role: 'assistant',
    speakerType: 'agent',
    speakerName: name,
    tags,
    provenance,
    sourceSessionId: provenance.sessionId,
    sourceMessageId: said.messageId,
    promotedBy: name,
    createdAt: at,
    updatedAt: at,
    pinned: false,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(audience === undefined ? {} : { audience }),
    ...(workdir === undefined || category === 'identity' ? {} : { workdir }),
    ...(said.files.length === 0 ? {} : { files: said.files }),
    extra: masks === 0 ? {} : { masked: masks },
  }
}

/** The texts of a list without their secrets, each once; `undefined` when they could not be searched. */
function maskEach(items: readonly unknown[]): readonly string[] | undefined {
  const masked = new Set<string>()
  for (const item of items) {
    if (typeof item !== 'string') continue
    const clean = guardEgress(() => redact(item))
    if (clean.state === 'refused') return undefined
    masked.add(clean.text)
  }
  return [...masked]
}

function nameOf({ agent, agentName }: SaidDirective): string {
  return agentName ?? agent
}

function findSuperseded(documents: Documents, { directive }: SaidDirective): MemoryDocument | undefined {
  const id = string(directive.payload, 'supersedes')
  return id === undefined ? undefined : documents.findNewest(id)
}

function readAudience(payload: JsonObject): DocumentAudience | undefined {
  const audience = object(payload, 'audience')
  if (audience === undefined) return undefined
  // One that could not be searched names nobody.
  const texts = (key: string): readonly string[] => maskEach(list(audience, key)) ?? []
  return { agents: texts('agents'), workdirs: texts('workdirs') }
}

function findEnd(payload: JsonObject, tags: readonly string[], now: number): string | undefined {
  const given = string(payload, 'expiresAt')
  if (given !== undefined && !Number.isNaN(Date.parse(given))) return new Date(given).toISOString()
  const days = Math.min(...tags.map((tag) => DAYS[tag] ?? Number.POSITIVE_INFINITY))
  return Number.isFinite(days) ? new Date(now + days * DAY_MS).toISOString() : undefined
}

/** Every place that something was promoted from, or said again at, as one text each. */
export function toPlaces(documents: Documents): ReadonlySet<string> {
  const all = documents.query({ state: ['active', 'quarantined', 'expired', 'superseded', 'retired'] })
  return new Set(
    all.flatMap(({ provenance, confirmations }) =>
      [...confirmations, ...(provenance === undefined ? [] : [provenance])].map(toPlace),
    ),
  )
}

/** A place as one text. */
export function toPlace({ entryId, block, position }: Omit<Provenance, 'sessionId'>): string {
  return `${entryId}:${block}:${position}`
}
