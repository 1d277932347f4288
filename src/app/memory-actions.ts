import { ThroughlineError } from '#base'
import type { Author, Documents } from '#memory'
import type { DocumentPatch, DocumentScope, MemoryDocument, Provenance } from '#model'
import { findSecrets } from '#redact'
import type { DocumentAction } from '#wire'
import { getDocument, notFound } from './memory-remember.ts'
import { checkSharing } from './memory-sharing.ts'

/** Does what is more than changing fields. What was shown in another version is not touched. */
export async function act(
  documents: Documents,
  id: string,
  { action, author }: { readonly action: DocumentAction; readonly author: Author },
): Promise<MemoryDocument> {
  switch (action.do) {
    case 'retire':
      return await documents.retire(id, author)
    case 'delete':
      return await documents.erase(id, author)
    case 'restore':
      return await documents.restore(id, {
        ...author,
        ...(action.from === undefined ? {} : { from: action.from }),
      })
    case 'supersede':
      return await documents.supersede(id, action.newer, author)
    case 'pin':
      return await documents.pin(id, author)
    case 'unpin':
      return await documents.unpin(id, author)
    case 'expire':
      return await documents.expire(id, toTime(action.at), author)
    case 'approve':
      return await documents.approve(id, author)
    case 'reconcile':
      return await reconcile(documents, id, { other: action.with, author })
    case 'share':
      return await share(documents, id, { scope: action.scope, author })
    case 'decide':
      return await documents.decide(id, action.key, author)
    case 'merge':
      return await merge(documents, id, { ...action, author })
  }
}

/** Changes fields. What looks like a key or a password is not written by changing a word. */
export async function edit(
  documents: Documents,
  id: string,
  { patch, author }: { readonly patch: DocumentPatch; readonly author: Author },
): Promise<MemoryDocument> {
  const before = getDocument(documents, id)
  const isNew = findSecrets(patch.content ?? '').length > findSecrets(before.content).length
  const after = { ...before, ...(patch.content === undefined ? {} : { content: patch.content }) }
  const { scope = 'private' } = 'scope' in patch ? patch : before
  if (scope !== 'private') checkSharing({ ...after, scope })
  if (!isNew) return await documents.patch(id, patch, author)
  throw new ThroughlineError('request-invalid', 'content looks like it holds a secret', {
    hint: 'Leave it out, or remember it anew and say that it is to be kept.',
  })
}

async function share(
  documents: Documents,
  id: string,
  { scope, author }: { readonly scope: DocumentScope; readonly author: Author },
): Promise<MemoryDocument> {
  if (scope === 'private') return await documents.patch(id, { scope: undefined }, author)
  checkSharing({ ...getDocument(documents, id), scope })
  return await documents.patch(id, { scope }, author)
}

function toTime(at: string | undefined): string | undefined {
  if (at === undefined) return undefined
  const time = Date.parse(at)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new ThroughlineError('request-invalid', 'at is no time', {
    hint: 'Write it as 2026-11-15T09:30:00Z.',
  })
}

async function reconcile(
  documents: Documents,
  id: string,
  { other, author }: { readonly other: string; readonly author: Author },
): Promise<MemoryDocument> {
  const [one, two] = [getDocument(documents, id), getDocument(documents, other)]
  const result = await documents.patch(id, { contradicts: without(one, [other]) }, author)
  await documents.patch(other, { contradicts: without(two, [id]) }, { by: author.by })
  return result
}

/** One document takes the places, the tags and the pin of the others, and stands for them from then on. */
async function merge(
  documents: Documents,
  id: string,
  {
    others,
    content,
    author,
  }: { readonly others: readonly string[]; readonly content?: string | undefined; readonly author: Author },
): Promise<MemoryDocument> {
  const one = getDocument(documents, id)
  const merged = [...new Set(others)].map((other) => getDocument(documents, other))
  if (merged.some((other) => other.id === id)) {
    throw new ThroughlineError('request-invalid', 'others names the document itself', {
      hint: 'Give only those that it stands for.',
    })
  }
  const places = merged.flatMap(({ provenance, confirmations }) => [
    ...(provenance === undefined ? [] : [provenance]),
    ...confirmations,
  ])
  const ids = merged.map((other) => other.id)
  const result = await documents.patch(
    id,
    {
      ...(content === undefined ? {} : { content }),
      tags: [...new Set([...one.tags, ...merged.flatMap(({ tags }) => tags)])],
      pinned: one.pinned || merged.some(({ pinned }) => pinned),
      confirmations: toDistinct([...one.confirmations, ...places], one.provenance),
      contradicts: without(one, ids),
    },
    author,
  )
  for (const other of ids) await documents.supersede(other, id, { by: author.by })
  return documents.find(id) ?? result
}

function toDistinct(places: readonly Provenance[], own: Provenance | undefined): readonly Provenance[] {
  const byKey = new Map(places.map((place) => [keyOf(place), place]))
  if (own !== undefined) byKey.delete(keyOf(own))
  return [...byKey.values()]
}

function keyOf({ entryId, block, position }: Provenance): string {
  return `${entryId} ${block} ${position}`
}

function without({ contradicts }: MemoryDocument, ids: readonly string[]): readonly string[] {
  return contradicts.filter((id) => !ids.includes(id))
}

/** What is read from a transcript belongs to the agent, and nobody changes it. */
export function refuseToChange(id: string): never {
  if (!/^(?:message|artifact):/.test(id)) throw notFound(id)
  throw new ThroughlineError('request-invalid', `${id} stands in a transcript, which is never changed`, {
    hint: 'Remember what you want to keep of it.',
  })
}
