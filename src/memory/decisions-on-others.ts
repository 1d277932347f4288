import { createHash } from 'node:crypto'
import { string } from '#base'
import { openSharedJournal, readJournal, readJournalMark } from '#journal'
import { toMatching, type DocumentVersion, type MemoryDocument } from '#model'
import type { DocumentsOfOthers } from './documents-of-others.ts'

/** What a person here decided about a document that a colleague shares. */
export type DecisionOnOther = 'accepted' | 'declined' | 'open'

interface Decision {
  readonly decision: DecisionOnOther
  /** Of what the document said then. */
  readonly hash: string
  readonly at: string
}

/** Decisions about documents of others, in a file of their own: nobody else reads them. */
export interface DecisionsOnOthers {
  find(id: string): Decision | undefined
  decide(document: MemoryDocument, decision: DecisionOnOther, by: string): Promise<void>
  /** Reads what other processes decided. Resolves with whether there was anything. */
  refresh(): Promise<boolean>
}

const KIND = 'document.decided'
const DECISIONS: ReadonlySet<string> = new Set<DecisionOnOther>(['accepted', 'declined', 'open'])

export function createDecisionsOnOthers(path: string, now: () => number): DecisionsOnOthers {
  let known = new Map<string, Decision>()
  let seen = ''

  async function refresh(): Promise<boolean> {
    const mark = await readJournalMark(path)
    if (mark === seen) return false
    const fresh = new Map<string, Decision>()
    for await (const item of readJournal(path)) {
      if (item.kind !== 'line' || string(item.value, 'kind') !== KIND) continue
      const [id, decision] = [string(item.value, 'id'), string(item.value, 'decision')]
      if (id === undefined || !isDecision(decision)) continue
      const [hash = '', at = ''] = [string(item.value, 'hash'), string(item.value, 'at')]
      fresh.set(id, { decision, hash, at })
    }
    known = fresh
    seen = mark
    return true
  }

  return {
    find: (id) => known.get(id),
    async decide(document, decision, by) {
      const journal = await openSharedJournal(path)
      try {
        const at = new Date(now()).toISOString()
        const { id, content } = document
        await journal.append({ kind: KIND, id, decision, hash: hashOf(document), at, by, content })
      } finally {
        await journal.close()
      }
      await refresh()
    },
    refresh,
  }
}

function isDecision(text: string | undefined): text is DecisionOnOther {
  return text !== undefined && DECISIONS.has(text)
}

/** What a person agreed to: what it says, to whom, and how widely. */
function hashOf({ type, category, content, tags, audience, workdir }: MemoryDocument): string {
  const said = [type, category, content, tags, audience ?? null, workdir === undefined]
  return createHash('sha256').update(JSON.stringify(said)).digest('hex')
}

/**
 * What others share, as far as a person here wants it: each document is held until it was accepted, and again when it
 * says something else since. Of people in `trusted` only what reads like an instruction is held.
 */
export function withDecisions(
  others: () => DocumentsOfOthers,
  {
    decisions,
    trusted,
    now,
  }: {
    readonly decisions: Pick<DecisionsOnOthers, 'find'>
    readonly trusted: () => ReadonlySet<string>
    readonly now: () => number
  },
): () => DocumentsOfOthers {
  const toDecided = (document: MemoryDocument): MemoryDocument => {
    const found = decisions.find(document.id)
    const isSame = found !== undefined && found.hash === hashOf(document)
    const { quarantine, ...rest } = document
    if (isSame && found.decision === 'accepted') return rest
    if (isSame && found.decision === 'declined')
      return { ...document, retiredAt: document.retiredAt ?? found.at }
    if (quarantine !== undefined) return document
    const person = document.elsewhere?.person ?? ''
    if (trusted().has(person)) return document
    const reason =
      found === undefined || found.decision === 'open' ? 'from-colleague' : 'changed-since-decided'
    return { ...document, quarantine: `${reason}: ${person}` }
  }
  const toVersion = (version: DocumentVersion): DocumentVersion => ({
    ...version,
    document: toDecided(version.document),
  })
  return () => {
    const all = others()
    return {
      find(id) {
        const found = all.find(id)
        return found && toDecided(found)
      },
      versions: (id) => all.versions(id).map(toVersion),
      query: (query) => toMatching(all.query({ state: ANY_STATE }).map(toDecided), query, now()),
    }
  }
}

const ANY_STATE = ['active', 'quarantined', 'expired', 'superseded', 'retired'] as const
