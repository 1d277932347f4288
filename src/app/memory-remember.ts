import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { ThroughlineError } from '#base'
import {
  findHoldReason,
  toPromotion,
  type Documents,
  type ForeignTexts,
  type Promotion,
  type SpeakerNames,
} from '#memory'
import {
  toDefaultCategory,
  type DocumentDraft,
  type FileBinding,
  type MemoryDocument,
  type Provenance,
} from '#model'
import { findSecrets, getEgress, guardEgress, redact, type Secret } from '#redact'
import { readRememberRequest, type PickedAt, type RememberOutcome, type RememberRequest } from '#wire'
import type { Blobs } from './blobs.ts'
import { readNamedFiles, type ReadFile } from './memory-files.ts'
import { checkSharing } from './memory-sharing.ts'
import { toSignature, type Signature } from './memory-signature.ts'
import type { Config } from './throughline.ts'

export interface RememberOptions {
  readonly config: Pick<Config, 'home' | 'allowedRoots'>
  readonly now: () => number
  readonly documents: Documents
  readonly blobs: Blobs
  readonly review: () => Promise<'off' | 'agent'>
  /** The names that the person at this machine has given. */
  readonly names: (agent: string) => Promise<Partial<SpeakerNames>>
  /** What words that are said at a place may have been copied from. */
  readonly foreignBefore: (at: PickedAt, content: string) => Promise<ForeignTexts>
}

/** Of a file, so much is looked at for secrets. */
const LOOKED_AT = 4 * 1024 * 1024

/** Promotes what somebody picked: looks for secrets, for what is nearly the same, and for what is not theirs to say. */
export async function remember(
  given: RememberRequest,
  author: string,
  options: RememberOptions,
): Promise<RememberOutcome> {
  const request = readRememberRequest({ ...given })
  const { documents } = options
  if (request.content.trim() === '') throw isEmpty()
  if (request.speaker === 'agent' && (request.scope ?? 'private') !== 'private') throw isNotTheirs()
  if (request.near?.choice === 'ignore') return { kind: 'ignored' }
  const files = await readNamedFiles(request.files ?? [], {
    workdir: request.workdir,
    config: options.config,
  })
  const secret = request.keepSecret === true ? undefined : findSecret(request, files)
  if (secret !== undefined) return secret
  await documents.refresh()
  const signature = toSignature(request, author, await options.names(request.agent ?? ''))
  if (request.type === 'artifact' && files.length > 0)
    return await keepArtifact(request, files, { ...options, signature })
  const draft = toDraft(request, files, signature)
  if (draft.scope !== undefined) checkSharing(draft)
  return await promote(draft, request, { ...options, signature })
}

interface Authored extends RememberOptions {
  readonly signature: Signature
}

async function promote(
  draft: DocumentDraft & Pick<MemoryDocument, 'category'>,
  request: RememberRequest,
  options: Authored,
): Promise<RememberOutcome> {
  const { documents, signature } = options
  const by = { by: signature.by }
  if (request.supersedes !== undefined) getDocument(documents, request.supersedes)
  const near = request.near && getDocument(documents, request.near.id)
  const others = documents.query({ type: draft.type }).filter(({ id }) => id !== request.supersedes)
  const promotion = toPromotion(draft, others, options.now())
  const held = await findReason(request, near, options)
  if (request.near?.choice === 'update' && near !== undefined && held === undefined) {
    return { kind: 'remembered', document: await documents.patch(near.id, toPatch(draft, request), by) }
  }
  if (near === undefined && held === undefined) {
    if (promotion.kind === 'confirms') return await confirm(promotion.near.id, draft, options)
    if (promotion.kind === 'ask') return toNearOutcome(promotion, documents)
  }
  const contradicts = findContradicted(promotion, near)
  const { document, outcome } = await documents.put(
    {
      ...draft,
      ...withFreeId(documents, draft),
      contradicts,
      ...(held === undefined ? {} : { quarantine: held }),
    },
    by,
  )
  if (outcome === 'known') return { kind: 'confirmed', document }
  if (held !== undefined) return { kind: 'held', document, reason: held }
  for (const id of contradicts) {
    const other = documents.find(id)
    if (other) await documents.patch(id, { contradicts: [...other.contradicts, document.id] }, by)
  }
  if (request.supersedes !== undefined) await documents.supersede(request.supersedes, document.id, by)
  return { kind: 'remembered', document }
}

async function confirm(id: string, draft: DocumentDraft, options: Authored): Promise<RememberOutcome> {
  const { documents, signature } = options
  const { provenance } = draft
  let document = await documents.confirm(id, {
    by: signature.by,
    ...(provenance === undefined ? {} : { provenance }),
  })
  if (draft.pinned === true) document = await documents.pin(id, { by: signature.by })
  return { kind: 'confirmed', document }
}

/** A file that somebody declared: its bytes are copied, and what it says later is another version. */
async function keepArtifact(
  request: RememberRequest,
  files: readonly ReadFile[],
  options: Authored,
): Promise<RememberOutcome> {
  const { documents, blobs, signature } = options
  const bound = await Promise.all(
    files.map(async ({ path, bytes }) => ({ path, hash: await blobs.put(bytes) })),
  )
  const id = `artifact:file:${hashOf(bound.map(({ path }) => path).join('\n')).slice(0, 16)}`
  const known = documents.find(id)
  if (known !== undefined) {
    const isSame = JSON.stringify(known.files) === JSON.stringify(bound)
    if (isSame && known.content === request.content && known.retiredAt === undefined) {
      return { kind: 'confirmed', document: known }
    }
    const patch = {
      ...toPatch(toDraft(request, bound, signature), request),
      files: bound,
      retiredAt: undefined,
    }
    return { kind: 'remembered', document: await documents.patch(id, patch, { by: signature.by }) }
  }
  const held = await findReason(request, undefined, options)
  const draft = {
    ...toDraft(request, bound, signature),
    id,
    ...(held === undefined ? {} : { quarantine: held }),
  }
  const { document } = await documents.put(draft, { by: signature.by })
  return held === undefined ? { kind: 'remembered', document } : { kind: 'held', document, reason: held }
}

function toDraft(
  request: RememberRequest,
  files: readonly FileBinding[],
  { name }: Signature,
): DocumentDraft & Pick<MemoryDocument, 'category'> {
  const { type = 'learning', category = toDefaultCategory(type), at, workdir, audience, expiresAt } = request
  const { scope = 'private' } = request
  const isAgent = request.speaker === 'agent'
  const provenance: Provenance | undefined = at && {
    sessionId: at.sessionId,
    entryId: at.entryId,
    block: at.block ?? 0,
    position: at.position ?? 0,
  }
  return {
    type,
    category,
    content: request.content.trim(),
    // A moment and a file belong to their session; what was learned there belongs to none.
    sessionId: type === 'marker' || type === 'artifact' ? (at?.sessionId ?? null) : null,
    role: isAgent ? 'assistant' : 'user',
    speakerType: isAgent ? 'agent' : 'human',
    speakerName: name,
    tags: toTags(request),
    promotedBy: name,
    pinned: request.pinned === true && !isAgent,
    ...(provenance === undefined ? {} : { provenance }),
    ...(at === undefined ? {} : { sourceSessionId: at.sessionId, sourceMessageId: at.entryId }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(audience === undefined ? {} : { audience }),
    ...(scope === 'private' ? {} : { scope }),
    // Who somebody is holds everywhere.
    ...(workdir === undefined || category === 'identity' ? {} : { workdir }),
    ...(files.length === 0 ? {} : { files: files.map(({ path, hash }) => ({ path, hash })) }),
  }
}

/** What was said anew of a document that is there: nothing else of it changes. */
function toPatch(draft: DocumentDraft, request: RememberRequest): Partial<MemoryDocument> {
  return {
    content: draft.content,
    ...(request.category === undefined ? {} : { category: request.category }),
    ...(request.tags === undefined ? {} : { tags: toTags(request) }),
    ...(request.pinned === undefined || request.speaker === 'agent' ? {} : { pinned: request.pinned }),
    ...(draft.expiresAt === undefined ? {} : { expiresAt: draft.expiresAt }),
    ...(draft.audience === undefined ? {} : { audience: draft.audience }),
    ...(draft.scope === undefined ? {} : { scope: draft.scope }),
    ...(draft.files === undefined ? {} : { files: draft.files }),
  }
}

function toTags({ tags = [] }: RememberRequest): readonly string[] {
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ''))]
}

/** Why it waits for a person; `undefined` when it need not. A person's own words never do. */
async function findReason(
  request: RememberRequest,
  near: MemoryDocument | undefined,
  { review, documents, foreignBefore }: Authored,
): Promise<string | undefined> {
  if (request.speaker !== 'agent') return undefined
  return findHoldReason({
    content: request.content,
    ...(request.at === undefined ? { toolTexts: [] } : await foreignBefore(request.at, request.content)),
    before: 0,
    wantsPin: request.pinned === true,
    older: request.supersedes === undefined ? near : documents.find(request.supersedes),
    review: await review(),
  })
}

function findContradicted(promotion: Promotion, near: MemoryDocument | undefined): readonly string[] {
  if (promotion.kind !== 'ask') return []
  const kept = promotion.near.filter(
    ({ id, differs }) => differs.length > 0 && (near === undefined || near.id === id),
  )
  return kept.map(({ id }) => id)
}

/** What was picked at one place twice, with other words, is two things. */
function withFreeId(documents: Documents, { type, provenance }: DocumentDraft): { readonly id?: string } {
  if (provenance === undefined || documents.findFrom(provenance) === undefined) return {}
  return { id: `${type}:${crypto.randomUUID()}` }
}

function toNearOutcome({ near }: Extract<Promotion, { kind: 'ask' }>, documents: Documents): RememberOutcome {
  return {
    kind: 'near',
    near: near.flatMap(({ id, similarity, differs }) => {
      const document = documents.find(id)
      return document === undefined ? [] : [{ document, similarity, differs }]
    }),
  }
}

function findSecret(request: RememberRequest, files: readonly ReadFile[]): RememberOutcome | undefined {
  const clean = guardEgress(() => redact(request.content))
  const masked = getEgress(clean)
  const inFiles: Secret[] = request.type === 'artifact' ? files.flatMap(({ bytes }) => secretsIn(bytes)) : []
  const inTags = findSecrets((request.tags ?? []).join('\n'))
  const found = [...(clean.state === 'redacted' ? clean.found : []), ...inTags, ...inFiles]
  if (found.length === 0) return undefined
  return { kind: 'secret', secrets: [...new Set(found.map(({ kind }) => kind))], masked }
}

function secretsIn(bytes: Buffer): Secret[] {
  if (!isUtf8(bytes)) return []
  return [...findSecrets(bytes.subarray(0, LOOKED_AT).toString('utf8'), { least: 'certain' })]
}

/** Throws `document-not-found`. */
export function getDocument(documents: Documents, id: string): MemoryDocument {
  const found = documents.find(id)
  if (found !== undefined) return found
  throw notFound(id)
}

export function notFound(id: string): ThroughlineError {
  return new ThroughlineError('document-not-found', `there is no document ${id}`, {
    hint: 'List the documents; retired ones are among them when asked for.',
  })
}

function isEmpty(): ThroughlineError {
  return new ThroughlineError('request-invalid', 'content is empty', {
    hint: 'Say what to remember: `{ "content": "…" }`.',
  })
}

function isNotTheirs(): ThroughlineError {
  return new ThroughlineError('request-invalid', 'an agent shares nothing', {
    hint: 'A person shares what is remembered: `throughline documents share`.',
  })
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
