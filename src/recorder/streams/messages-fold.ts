import { field, isObject, list, number, object, parseJson, string, type JsonObject } from '#base'
import { toFailure, type AnswerFold } from './answer-fold.ts'
import { without } from './content-blocks.ts'
import { mergeUsage } from './usage-figures.ts'

/** A block while it is streamed. */
interface GrowingBlock {
  block: Record<string, unknown>
  /** The input of a call as far as it was written. */
  json: string
}

/** Puts an answer of Anthropic's Messages API together. */
export function createMessagesFold(): AnswerFold {
  const blocks = new Map<number, GrowingBlock>()
  let message: JsonObject | undefined
  let usage: JsonObject | undefined
  let isOver = false
  let failure: string | undefined

  function begin(value: JsonObject): void {
    message = without(value, ['usage', 'content'])
    usage = object(value, 'usage')
    for (const [index, block] of list(value, 'content').entries())
      if (isObject(block)) blocks.set(index, { block: { ...block }, json: '' })
  }

  function grow(index: number, delta: JsonObject): void {
    const growing = blocks.get(index) ?? { block: toEmptyBlock(delta), json: '' }
    blocks.set(index, growing)
    applyDelta(growing, delta)
  }

  return {
    event(value) {
      switch (string(value, 'type')) {
        case 'message_start':
          return begin(object(value, 'message') ?? {})
        case 'content_block_start': {
          const index = number(value, 'index') ?? blocks.size
          blocks.set(index, { block: { ...object(value, 'content_block') }, json: '' })
          return
        }
        case 'content_block_delta':
          return grow(number(value, 'index') ?? blocks.size - 1, object(value, 'delta') ?? {})
        case 'message_delta': {
          const rest = without(value, ['type', 'delta', 'usage'])
          message = { ...message, ...withoutNull(rest), ...withoutNull(object(value, 'delta') ?? {}) }
          usage = mergeUsage(usage ?? {}, object(value, 'usage') ?? {})
          return
        }
        case 'message_stop':
          isOver = true
          return
        case 'error':
          failure = toFailure(field(value, 'error'))
          return
        default:
          // Pings, the end of a block, and whatever is added one day.
          return
      }
    },
    whole(value) {
      if (string(value, 'type') === 'error') failure = toFailure(field(value, 'error'))
      if (string(value, 'type') !== 'message') return
      begin(value)
      isOver = true
    },
    done() {
      isOver = true
    },
    end() {
      if (message === undefined && blocks.size === 0) return undefined
      const content = [...blocks].toSorted(([a], [b]) => a - b).map(([, growing]) => toBlock(growing))
      return {
        provider: 'anthropic',
        message: {
          ...without(message ?? {}, ['type', 'role']),
          id: string(message, 'id'),
          model: string(message, 'model'),
          content,
          stop_reason: string(message, 'stop_reason') ?? null,
          stop_sequence: string(message, 'stop_sequence') ?? null,
          usage,
        },
        outcome: failure !== undefined ? 'failed' : isOver ? 'whole' : 'cut',
        failure,
      }
    },
  }
}

function applyDelta(growing: GrowingBlock, delta: JsonObject): void {
  const { block } = growing
  const type = string(delta, 'type')
  switch (type) {
    case 'text_delta':
      block['text'] = (string(block, 'text') ?? '') + (string(delta, 'text') ?? '')
      return
    case 'thinking_delta':
      block['thinking'] = (string(block, 'thinking') ?? '') + (string(delta, 'thinking') ?? '')
      return
    case 'input_json_delta':
      growing.json += string(delta, 'partial_json') ?? ''
      return
    case 'citations_delta':
      block['citations'] = [...list(block, 'citations'), field(delta, 'citation')]
      return
    case 'signature_delta':
    case 'compaction_delta':
      // These say what a field is in the end, not what is added to it.
      Object.assign(block, without(delta, ['type']))
      return
    default:
      // Nobody knows yet how it is to be put on: it is kept beside.
      block['deltas'] = [...list(block, 'deltas'), delta]
  }
}

/** A block whose beginning was not heard. */
function toEmptyBlock(delta: JsonObject): Record<string, unknown> {
  const type = string(delta, 'type') ?? ''
  if (type === 'thinking_delta' || type === 'signature_delta') return { type: 'thinking', thinking: '' }
  if (type === 'input_json_delta') return { type: 'tool_use', input: {} }
  return { type: 'text', text: '' }
}

function toBlock({ block, json }: GrowingBlock): JsonObject {
  if (json === '') return block
  const input = parseJson(json)
  // What cannot be read is kept as the model wrote it, beside an input that anybody can read.
  return input === undefined ? { ...block, partial_json: json } : { ...block, input }
}

function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))
}
