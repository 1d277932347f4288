import { field, number, object, string, type JsonObject } from '#base'
import { toFailure, type AnswerFold } from './answer-fold.ts'
import { beside, isCall, objectsIn, without } from './content-blocks.ts'
import { createPartBlocks, type PartBlocks } from './gemini-parts.ts'
import { createMadeIds } from './made-ids.ts'
import type { RequestTurn } from './model-request.ts'
import { fromGeminiUsage } from './usage-figures.ts'

interface Candidate {
  readonly parts: PartBlocks
  /** Everything else that was said of it; the last counts. */
  facts: JsonObject
}

/**
 * Puts an answer of Gemini together, streamed as events or as a list, or in one piece. The first candidate is the
 * message; any other is kept beside it.
 */
export function createGeminiFold(turns: readonly RequestTurn[]): AnswerFold {
  const candidates = new Map<number, Candidate>()
  let response: JsonObject | undefined
  let usage: JsonObject | undefined
  let failure: string | undefined

  function candidateOf(index: number): Candidate {
    const known = candidates.get(index)
    if (known) return known
    const made = { parts: createPartBlocks(createMadeIds(turns)), facts: {} }
    candidates.set(index, made)
    return made
  }

  function take(outer: JsonObject): void {
    // The interface that Gemini CLI uses with an account has everything one level further down.
    const value = object(outer, 'response') ?? outer
    const error = field(value, 'error')
    if (error !== undefined && error !== null) {
      failure = toFailure(error)
      return
    }
    if (!['candidates', 'usageMetadata', 'promptFeedback', 'responseId'].some((key) => key in value)) return
    response = { ...response, ...without(value, ['candidates', 'usageMetadata', 'type']) }
    usage = object(value, 'usageMetadata') ?? usage
    for (const each of objectsIn(value, 'candidates')) {
      const candidate = candidateOf(number(each, 'index') ?? 0)
      for (const part of objectsIn(object(each, 'content'), 'parts')) candidate.parts.add(part)
      candidate.facts = { ...candidate.facts, ...without(each, ['content', 'index']) }
    }
  }

  return {
    event: take,
    whole: take,
    done() {
      // Nothing of Gemini says so.
    },
    end() {
      if (response === undefined) return undefined
      const [first, ...others] = [...candidates].toSorted(([a], [b]) => a - b)
      const content = first?.[1].parts.blocks ?? []
      const finish =
        string(first?.[1].facts, 'finishReason') ?? string(object(response, 'promptFeedback'), 'blockReason')
      return {
        provider: 'gemini',
        message: {
          id: string(response, 'responseId'),
          model: string(response, 'modelVersion'),
          content,
          stop_reason: finish === undefined ? null : toStopReason(finish, content),
          stop_sequence: null,
          usage: usage && fromGeminiUsage(usage),
          ...beside('gemini', {
            ...without(response, ['responseId', 'modelVersion']),
            ...first?.[1].facts,
            ...(others.length > 0 ? { candidates: others.map(toOther) } : {}),
          }),
        },
        outcome: failure !== undefined ? 'failed' : finish !== undefined ? 'whole' : 'cut',
        failure,
      }
    },
  }
}

function toOther([index, { parts, facts }]: readonly [number, Candidate]): JsonObject {
  return { ...facts, index, content: parts.blocks }
}

function toStopReason(finish: string, content: readonly JsonObject[]): string {
  if (finish === 'STOP') return content.some(isCall) ? 'tool_use' : 'end_turn'
  if (finish === 'MAX_TOKENS') return 'max_tokens'
  return finish === 'MALFORMED_FUNCTION_CALL' || finish === 'OTHER' ? finish.toLowerCase() : 'refusal'
}
