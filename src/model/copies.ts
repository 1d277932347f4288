import { isLive, type CopiedFrom, type SessionSummary } from './session.ts'

type Copy = Pick<SessionSummary, 'id' | 'copiedFrom' | 'lastActivityAt' | 'live'>

/**
 * Whether a session need not be listed: nothing was said in it but what was copied from another one that is there, and
 * nobody holds it. Where copies lead in a circle, all of them are listed.
 */
export function isMereCopy(session: Copy, find: (id: string) => Copy | undefined): boolean {
  const passed = new Set<string>()
  let at = session
  for (;;) {
    passed.add(at.id)
    const origin = hasNothingOwn(at) ? find(at.copiedFrom?.id ?? '') : undefined
    if (origin === undefined) return at !== session
    if (passed.has(origin.id)) return false
    at = origin
  }
}

/** Whether what was said at this moment in a session had been said before in the one that it was copied from. */
export function isCopied(
  { copiedFrom }: Pick<SessionSummary, 'copiedFrom'>,
  at: string | undefined,
): boolean {
  if (copiedFrom === undefined) return false
  if (copiedFrom.until === undefined) return true
  return at !== undefined && Date.parse(at) <= Date.parse(copiedFrom.until)
}

/** Whether it is found there, too: the session that it was copied from is here. */
export function isSaidElsewhere(
  session: Pick<SessionSummary, 'copiedFrom'>,
  at: string | undefined,
): boolean {
  return session.copiedFrom?.here === true && isCopied(session, at)
}

/** When a session began to have something of its own: what it says of the time before was paid for elsewhere. */
export function ownSince({
  createdAt,
  copiedFrom,
}: Pick<SessionSummary, 'createdAt' | 'copiedFrom'>): string | undefined {
  return copiedFrom?.until ?? createdAt
}

function hasNothingOwn(session: Copy): boolean {
  const { copiedFrom, lastActivityAt, live } = session
  if (copiedFrom === undefined || isLive(live) || isWanted(copiedFrom)) return false
  return lastActivityAt === undefined || isCopied(session, lastActivityAt)
}

/** Somebody made it to continue in it: it is listed from the beginning. */
function isWanted({ kind }: CopiedFrom): boolean {
  return kind === 'forked' || kind === 'repaired'
}

/**
 * What a fork or a repaired copy is called for as long as it has only the name that was copied with it: after the
 * session that it was made of, whose own name is `origin`.
 */
export function toCopyName(
  { name, nameFrom }: Pick<SessionSummary, 'name' | 'nameFrom'>,
  { kind, name: called }: CopiedFrom,
  origin: string | undefined,
): string | undefined {
  const words = COPY_WORDS[kind]
  if (words === undefined || nameFrom === 'person') return name
  const isOwn = (nameFrom === 'custom' || nameFrom === 'agent') && name !== origin
  const base = called ?? name
  return isOwn || base === undefined ? name : `${words} ${base}`
}

const COPY_WORDS: Readonly<Partial<Record<CopiedFrom['kind'], string>>> = {
  forked: 'Fork of',
  repaired: 'Repaired copy of',
}
