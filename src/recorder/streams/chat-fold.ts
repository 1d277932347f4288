import { field, isObject, list, number, object, string, type JsonObject } from '#base'
import { toFailure, type AnswerFold } from './answer-fold.ts'
import { fromChatMessage } from './chat-messages.ts'
import { beside, objectsIn, without } from './content-blocks.ts'
import { fromOpenaiUsage } from './usage-figures.ts'

interface Choice {
  message: Record<string, unknown>
  finish: string | undefined
}

/**
 * Puts an answer of OpenAI's Chat Completions together, also of servers that speak likewise. The first choice is the
 * message; any other is kept beside it. Probabilities of tokens are not kept.
 */
export function createChatFold(): AnswerFold {
  const choices = new Map<number, Choice>()
  let completion: JsonObject | undefined
  let usage: JsonObject | undefined
  let isOver = false
  let failure: string | undefined

  function choiceOf(value: JsonObject): Choice {
    const index = number(value, 'index') ?? 0
    const choice = choices.get(index) ?? { message: {}, finish: undefined }
    choices.set(index, choice)
    choice.finish = string(value, 'finish_reason') ?? choice.finish
    return choice
  }

  function take(value: JsonObject): void {
    const error = field(value, 'error')
    if (error !== undefined && error !== null) failure = toFailure(error)
    if (!Array.isArray(value['choices'])) return
    completion = { ...completion, ...without(value, ['choices', 'usage', 'type']) }
    usage = object(value, 'usage') ?? usage
    for (const each of objectsIn(value, 'choices')) {
      const choice = choiceOf(each)
      addDelta(choice.message, object(each, 'delta') ?? {})
      const message = object(each, 'message')
      if (message) choice.message = { ...message }
    }
  }

  return {
    event: take,
    whole(value) {
      take(value)
      if (completion !== undefined) isOver = true
    },
    done() {
      isOver = true
    },
    end() {
      if (completion === undefined) return undefined
      const [first, ...others] = [...choices].toSorted(([a], [b]) => a - b)
      const finish = first?.[1].finish
      return {
        provider: 'openai',
        message: {
          id: string(completion, 'id'),
          model: string(completion, 'model'),
          content: first ? fromChatMessage(first[1].message) : [],
          stop_reason: finish === undefined ? null : (STOP_REASONS[finish] ?? finish),
          stop_sequence: null,
          usage: usage && fromOpenaiUsage(usage),
          ...beside('openai', {
            ...without(completion, ['id', 'model', 'error']),
            finish_reason: finish,
            ...restOf(first?.[1].message ?? {}),
            ...(others.length > 0 ? { choices: others.map(toOther) } : {}),
          }),
        },
        outcome: failure !== undefined ? 'failed' : isOver || finish !== undefined ? 'whole' : 'cut',
        failure,
      }
    },
  }
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

function toOther([index, { message, finish }]: readonly [number, Choice]): JsonObject {
  return { index, finish_reason: finish ?? null, content: fromChatMessage(message) }
}

const KNOWN = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
]

/** What a message has that is no part of what was said: the places it cites, for example. */
function restOf(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(without(message, KNOWN)).filter(([, value]) => value !== null))
}

function addDelta(message: Record<string, unknown>, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (value === null || value === undefined) continue
    if (key === 'tool_calls') addToolCalls(message, list(delta, key).filter(isObject))
    else if (key === 'role') message[key] = value
    else message[key] = grow(message[key], value)
  }
}

/** Texts grow at their end, lists too, objects in their fields; of anything else the last counts. */
function grow(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value]
  if (!isObject(before) || !isObject(value)) return value
  const grown: Record<string, unknown> = { ...before }
  for (const [key, inner] of Object.entries(value)) {
    const isName = key === 'id' || key === 'name' || key === 'type'
    if (isName && typeof inner === 'string' && inner !== '') grown[key] = inner
    else if (!isName && inner !== null) grown[key] = grow(grown[key], inner)
  }
  return grown
}

function addToolCalls(message: Record<string, unknown>, calls: readonly JsonObject[]): void {
  const known: unknown[] = [...list(message, 'tool_calls')]
  message['tool_calls'] = known
  for (const call of calls) {
    // Servers that number no calls send each in one piece, with its id.
    const isNew = string(call, 'id') !== undefined || known.length === 0
    const index = number(call, 'index') ?? (isNew ? known.length : known.length - 1)
    while (known.length < index) known.push({})
    known[index] = grow(known[index] ?? {}, without(call, ['index']))
  }
}
