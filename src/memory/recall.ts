import { toDocumentState } from '#model'
import type { MemoryDocument } from '#model'
import { FEATURES, toFeatureRows } from './recall-features.ts'
import type { FeatureWeights } from './recall-features.ts'
import { toRecallIndex } from './recall-index.ts'
import type { RecallTurn } from './recall-index.ts'

/** A turn that may answer what was asked. */
export interface RecallHit {
  readonly turn: RecallTurn
  /** Comparable with the others of one answer only. */
  readonly score: number
}

/** A session that may answer what was asked, and its best turn. */
export interface RecallSession {
  readonly sessionId: string
  readonly best: RecallHit
}

/** Finds what was said, without a model. The same question gives the same answer, byte for byte. */
export interface Recall {
  /** The turns that best answer a question, best first. What has nothing of it near is not among them. */
  turns(question: string, limit: number): readonly RecallHit[]
  /** The sessions, by their best turn. */
  sessions(question: string, limit: number): readonly RecallSession[]
}

/**
 * Fitted to questions on long dialogues, and checked on dialogues that were left out of the fitting. How long ago
 * something was said is not among them: it makes finding worse.
 */
const WEIGHTS: FeatureWeights = {
  own: 1.81,
  next: 0.23,
  beforePrevious: 1,
  afterNext: 0.08,
  session: 2,
  speaker: 0.54,
  asks: -1.08,
  ownAsks: 0.47,
  answers: 1.76,
  covered: 0.65,
  coveredNear: 0.98,
  coveredAround: 2.24,
  pairs: 0.58,
  length: 2.16,
  tellsTime: 1.82,
  resembles: 1.47,
  resemblesNear: 0.36,
  sessionBest: 1.45,
}

/** Makes turns findable. They are given in the order in which they were said. */
export function createRecall(turns: readonly RecallTurn[]): Recall {
  const index = toRecallIndex(turns)

  function rank(question: string): readonly RecallHit[] {
    return toFeatureRows(question, index)
      .map(({ turn, features }) => ({ turn, score: scoreOf(features) }))
      .toSorted((a, b) => b.score - a.score || a.turn - b.turn)
      .flatMap(({ turn: number, score }) => {
        const turn = turns[number]
        return turn ? [{ turn, score }] : []
      })
  }

  return {
    turns: (question, limit) => rank(question).slice(0, limit),
    sessions(question, limit) {
      const best = new Map<string, RecallHit>()
      for (const hit of rank(question)) if (!best.has(hit.turn.sessionId)) best.set(hit.turn.sessionId, hit)
      return [...best].slice(0, limit).map(([sessionId, hit]) => ({ sessionId, best: hit }))
    },
  }
}

/**
 * Turns, and with them the documents that count: what was promoted out of a turn helps to find it, what came from
 * elsewhere is a turn of its own, with the document's id.
 */
export function withDocuments(
  turns: readonly RecallTurn[],
  documents: readonly MemoryDocument[],
  now: number,
): readonly RecallTurn[] {
  const ids = new Set(turns.map(({ id }) => id))
  const notes = new Map<string, string[]>()
  const alone: RecallTurn[] = []
  for (const document of documents) {
    if (toDocumentState(document, now) !== 'active') continue
    const source = [document.provenance?.entryId, document.sourceMessageId].find(
      (id) => id !== undefined && ids.has(id),
    )
    const text = [document.content, ...document.tags].join(' ')
    if (source !== undefined) notes.set(source, [...(notes.get(source) ?? []), text])
    else alone.push(toTurn(document))
  }
  const enriched = turns.map((turn) => {
    const more = notes.get(turn.id)
    return more ? { ...turn, notes: [...(turn.notes ?? []), ...more] } : turn
  })
  return [...enriched, ...alone]
}

function toTurn({
  id,
  type,
  sessionId,
  speakerName,
  promotedBy,
  content,
  tags,
  createdAt,
}: MemoryDocument): RecallTurn {
  const speaker = speakerName ?? promotedBy
  return {
    id,
    // Only messages stand beside what was said before and after them.
    sessionId: type === 'message' && sessionId !== null ? sessionId : id,
    ...(speaker === undefined ? {} : { speaker }),
    text: content,
    at: createdAt,
    notes: tags,
  }
}

function scoreOf(features: Float64Array): number {
  return FEATURES.reduce((sum, name, n) => sum + WEIGHTS[name] * (features[n] ?? 0), 0)
}
