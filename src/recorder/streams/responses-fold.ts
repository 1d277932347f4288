import { field, number, object, string, type JsonObject } from '#base'
import { toFailure, type AnswerFold } from './answer-fold.ts'
import { beside, isCall, objectsIn } from './content-blocks.ts'
import { fromItem } from './openai-items.ts'
import { growItem, type GrowingItem } from './responses-deltas.ts'
import { fromOpenaiUsage } from './usage-figures.ts'

/**
 * Puts an answer of OpenAI's Responses API together. What the provider says of an item in the end wins over what it
 * streamed; the pieces count where no end of it was heard.
 */
export function createResponsesFold(): AnswerFold {
  const items = new Map<number, GrowingItem>()
  let response: JsonObject | undefined
  let isOver = false
  let failure: string | undefined

  function setItem(value: JsonObject): void {
    const item = object(value, 'item')
    if (item) items.set(number(value, 'output_index') ?? items.size, { ...item })
  }

  function conclude(value: JsonObject): void {
    response = { ...response, ...value }
    isOver = true
    const error = object(value, 'error')
    if (error || string(value, 'status') === 'failed') failure = toFailure(error)
  }

  return {
    event(value) {
      const type = string(value, 'type') ?? ''
      switch (type) {
        case 'response.output_item.added':
        case 'response.output_item.done':
          return setItem(value)
        case 'response.created':
        case 'response.queued':
        case 'response.in_progress':
          response = { ...response, ...object(value, 'response') }
          return
        case 'response.completed':
        case 'response.done':
        case 'response.incomplete':
        case 'response.cancelled':
        case 'response.failed':
          return conclude(object(value, 'response') ?? {})
        case 'error':
          failure = toFailure(object(value, 'error') ?? value)
          return
        default:
          growItem(items, type, value)
      }
    },
    whole(value) {
      if (string(value, 'object') === 'response' || Array.isArray(value['output'])) conclude(value)
    },
    done() {
      // Only compatible servers say so, after everything else.
    },
    end() {
      if (response === undefined && items.size === 0) return undefined
      const content = toOutput(response, items).flatMap(fromItem)
      const usage = object(response, 'usage')
      return {
        provider: 'openai',
        message: {
          id: string(response, 'id'),
          model: string(response, 'model'),
          content,
          stop_reason: isOver && failure === undefined ? toStopReason(response, content) : null,
          stop_sequence: null,
          usage: usage && fromOpenaiUsage(usage),
          ...beside('openai', toKept(response)),
        },
        outcome: failure !== undefined ? 'failed' : isOver ? 'whole' : 'cut',
        failure,
      }
    },
  }
}

/** Servers that store nothing conclude with an empty list: the items that were streamed are all there is. */
function toOutput(
  response: JsonObject | undefined,
  items: ReadonlyMap<number, GrowingItem>,
): readonly JsonObject[] {
  const last = objectsIn(response, 'output')
  if (last.length >= items.size && last.length > 0) return last
  return [...items].toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

function toStopReason(response: JsonObject | undefined, content: readonly JsonObject[]): string | null {
  const status = string(response, 'status')
  if (status === 'incomplete') {
    const reason = string(object(response, 'incomplete_details'), 'reason')
    if (reason === 'max_output_tokens') return 'max_tokens'
    return reason === 'content_filter' ? 'refusal' : (reason ?? null)
  }
  if (status !== undefined && status !== 'completed') return status
  return content.some(isCall) ? 'tool_use' : 'end_turn'
}

/** What says something of the answer, and is not what the request had said already. */
function toKept(response: JsonObject | undefined): JsonObject {
  return Object.fromEntries(
    [
      'status',
      'incomplete_details',
      'error',
      'created_at',
      'service_tier',
      'conversation',
      'previous_response_id',
    ]
      .map((key) => [key, field(response, key)])
      .filter(([, value]) => value !== null && value !== undefined),
  )
}
