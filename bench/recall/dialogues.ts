import { isObject, list, number, object, parseJson, string } from '#base'
import type { RecallTurn } from '#memory'

/** A question, and the turns that hold what answers it. */
interface DialogueQuestion {
  readonly question: string
  readonly evidence: readonly string[]
  readonly category: number
}

export interface Dialogue {
  readonly id: string
  readonly turns: readonly RecallTurn[]
  readonly questions: readonly DialogueQuestion[]
  /** Questions that name no turn of the dialogue, and so cannot be measured. */
  readonly skipped: number
}

const EVIDENCE = /D:?(\d+):(\d+)/g

/**
 * The dialogues of a file in the format of LoCoMo: a list of samples with `conversation` (lists of turns `session_1`,
 * `session_2`…, each with a date beside it) and `qa`. Ids of evidence that are run together or misspelt are mended. The
 * words that a picture was searched with are not read: nobody said them.
 */
export function readDialogues(text: string): readonly Dialogue[] {
  const samples = parseJson(text)
  return Array.isArray(samples) ? samples.filter(isObject).map(readDialogue) : []
}

/** The turns that are meant, in the spelling of the turns themselves. */
export function toEvidence(ids: readonly unknown[]): readonly string[] {
  const found = ids.flatMap((id) => (typeof id === 'string' ? [...id.matchAll(EVIDENCE)] : []))
  return [...new Set(found.map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`))]
}

function readDialogue(sample: unknown, n: number): Dialogue {
  const conversation = object(sample, 'conversation') ?? {}
  const turns = Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .toSorted((a, b) => Number(a.slice(8)) - Number(b.slice(8)))
    .flatMap((sessionId) =>
      list(conversation, sessionId).flatMap((turn) =>
        readTurn(turn, sessionId, string(conversation, `${sessionId}_date_time`)),
      ),
    )
  const known = new Set(turns.map(({ id }) => id))
  const all = list(sample, 'qa').map((item) => ({
    question: string(item, 'question') ?? '',
    evidence: toEvidence(list(item, 'evidence')).filter((id) => known.has(id)),
    category: number(item, 'category') ?? 0,
  }))
  const questions = all.filter(({ evidence }) => evidence.length > 0)
  return {
    id: string(sample, 'sample_id') ?? `dialogue-${n + 1}`,
    turns,
    questions,
    skipped: all.length - questions.length,
  }
}

function readTurn(turn: unknown, sessionId: string, at: string | undefined): readonly RecallTurn[] {
  const id = string(turn, 'dia_id')
  if (id === undefined) return []
  const speaker = string(turn, 'speaker')
  const caption = string(turn, 'blip_caption')
  return [
    {
      id: toEvidence([id])[0] ?? id,
      sessionId,
      text: string(turn, 'text') ?? '',
      ...(speaker === undefined ? {} : { speaker }),
      ...(at === undefined ? {} : { at }),
      ...(caption === undefined ? {} : { notes: [caption] }),
    },
  ]
}
