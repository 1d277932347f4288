import { isParaphrase, toContradictionGroups, toPromotion, toStems, type Documents } from '#memory'
import type { MemoryDocument, Steps } from '#model'
import type { Review } from '#wire'
import { toBoundFile } from './bound-files.ts'
import { inSteps } from './in-steps.ts'

/** What a session could be told. An import may bring thousands of messages, which are not. */
const DECIDED = ['learning', 'teaching', 'marker', 'artifact'] as const

/** What waits for a person, and what is new since a time. */
export async function toReview(
  documents: Documents,
  {
    now,
    since,
    others,
  }: {
    readonly now: number
    readonly since: string | undefined
    /** What colleagues share, and nobody here has accepted. */
    readonly others: readonly MemoryDocument[]
  },
): Promise<Review> {
  const active = documents.query({})
  const isFresh = ({ id }: MemoryDocument): boolean => {
    const [first] = documents.versions(id)
    return first !== undefined && (since === undefined || first.at > since)
  }
  return {
    held: [...documents.query({ state: 'quarantined', type: DECIDED }), ...others],
    contradictions: toContradictionGroups(active).filter((group) => group.length > 1),
    conflicts: active.filter(({ conflict }) => conflict !== undefined),
    duplicates: await inSteps(toDuplicates(active, now)),
    stale: await toStale(active),
    fresh: active.filter(isFresh),
  }
}

async function toStale(active: readonly MemoryDocument[]): Promise<readonly MemoryDocument[]> {
  const stale: MemoryDocument[] = []
  for (const document of active) {
    // Of files on another machine nothing is known here.
    const files =
      document.elsewhere === undefined ? await Promise.all((document.files ?? []).map(toBoundFile)) : []
    if (files.some(({ state }) => state !== 'same')) stale.push(document)
  }
  return stale
}

/** Two texts of which less is shared are never taken for the same. */
const SHARED = 0.3
/** With more pairs to look at, the rest is looked at once these are merged. */
const MOST_PAIRS = 50_000
/** After so many, others have their turn. */
const PAIRS_PER_STEP = 200

/**
 * Groups that say nearly the same. Two documents are only compared when they share one of their rarer words: they
 * could not be alike enough otherwise.
 */
function* toDuplicates(
  active: readonly MemoryDocument[],
  now: number,
): Steps<readonly (readonly MemoryDocument[])[]> {
  const compared = active.filter(({ type }) => type !== 'message' && type !== 'artifact')
  const counts = new Map<string, number>()
  const stems = compared.map(({ content }) => [...new Set(toStems(content))])
  for (const stem of stems.flat()) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const holders = new Map<string, number[]>()
  const group = compared.map((_, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    for (let next = group[root] ?? root; next !== root; next = group[root] ?? root) root = next
    return root
  }
  let pairs = 0
  for (const [at, own] of stems.entries()) {
    const document = compared[at]
    if (document === undefined) continue
    const rare = own
      .toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1))
      .slice(0, own.length - Math.ceil(own.length * SHARED) + 1)
    const others = new Set(rare.flatMap((stem) => holders.get(stem) ?? []))
    for (const other of others) {
      const before = compared[other]
      if (before === undefined || rootOf(other) === rootOf(at) || ++pairs > MOST_PAIRS) continue
      if (pairs % PAIRS_PER_STEP === 0) yield
      if (isSimilar(document, before, now)) group[rootOf(at)] = rootOf(other)
    }
    for (const stem of rare) holders.set(stem, [...(holders.get(stem) ?? []), at])
  }
  const groups = new Map<number, MemoryDocument[]>()
  for (const [at, document] of compared.entries()) {
    const root = rootOf(at)
    groups.set(root, [...(groups.get(root) ?? []), document])
  }
  return [...groups.values()].filter((one) => one.length > 1)
}

/** Whether a person may want to keep only one of two documents. */
function isSimilar(one: MemoryDocument, other: MemoryDocument, now: number): boolean {
  const { kind } = toPromotion(one, [other], now)
  return (
    kind === 'confirms' ||
    (kind === 'ask' && one.category === other.category && isParaphrase(one.content, other.content))
  )
}
