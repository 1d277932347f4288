import type { ElicitationRequest, ElicitationResult } from '@anthropic-ai/claude-agent-sdk'
import { isObject, list, object, string, type JsonObject } from '#base'
import type { Question, QuestionAsk, Resolution } from '#model'

/** What an MCP server wants to know from a person: how it is shown, and how the answer is said back. */
export interface Elicitation {
  readonly ask: QuestionAsk
  /** Without an answer the server gets none. */
  readonly toResult: (resolution: Resolution | undefined) => ElicitationResult
}

interface Field {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

type Value = NonNullable<ElicitationResult['content']>[string]

const YES = 'Yes'
const NO = 'No'

/** Reads a form, field by field: each is a question. Without fields, and for a page to be opened, it is one yes or no. */
export function readElicitation(request: ElicitationRequest, workdir: string): Elicitation {
  const header = request.serverName
  const schema = request.requestedSchema ?? {}
  const required = list(schema, 'required')
  const fields: readonly Field[] = Object.entries(object(schema, 'properties') ?? {}).flatMap(
    ([name, field]) =>
      isObject(field) ? [{ name, schema: field, isRequired: required.includes(name) }] : [],
  )
  if (request.mode === 'url' || fields.length === 0) return toConfirmation(request, workdir)
  const questions = fields.map((field) => toQuestion(field, { header, message: request.message }))
  return {
    ask: { kind: 'question', workdir, questions },
    toResult(resolution) {
      if (resolution?.kind !== 'answer') return { action: resolution?.kind === 'deny' ? 'decline' : 'cancel' }
      const content: Record<string, Value> = {}
      for (const [index, field] of fields.entries()) {
        const value = toValue(field.schema, resolution.answers[index] ?? [])
        if (value !== undefined) content[field.name] = value
        else if (field.isRequired) return { action: 'cancel' }
      }
      return { action: 'accept', content }
    },
  }
}

function toConfirmation(request: ElicitationRequest, workdir: string): Elicitation {
  const question = request.url === undefined ? request.message : `${request.message}\n${request.url}`
  const options = [{ label: YES }, { label: NO }]
  return {
    ask: {
      kind: 'question',
      workdir,
      questions: [{ question, header: request.serverName, options, multiple: false, free: false }],
    },
    toResult(resolution) {
      if (resolution?.kind !== 'answer') return { action: resolution?.kind === 'deny' ? 'decline' : 'cancel' }
      return { action: resolution.answers[0]?.[0] === YES ? 'accept' : 'decline' }
    },
  }
}

function toQuestion(
  { name, schema }: Field,
  around: { readonly header: string; readonly message: string },
): Question {
  const words = string(schema, 'title') ?? name
  const more = string(schema, 'description')
  const labels = schema['type'] === 'boolean' ? [YES, NO] : choicesOf(schema)
  return {
    question: `${around.message}\n${more === undefined ? words : `${words}: ${more}`}`,
    header: around.header,
    options: labels.map((label) => ({ label })),
    multiple: schema['type'] === 'array',
    free: labels.length === 0,
  }
}

function choicesOf(schema: JsonObject): readonly string[] {
  const from = schema['type'] === 'array' ? object(schema, 'items') : schema
  const named = [...list(from, 'oneOf'), ...list(from, 'anyOf')].map((choice) => string(choice, 'const'))
  return [...list(from, 'enum'), ...named].filter((choice) => typeof choice === 'string')
}

/** The value of a field, or nothing when the words are none of its kind. */
function toValue(schema: JsonObject, words: readonly string[]): Value | undefined {
  if (schema['type'] === 'array') {
    const chosen = words.filter((word) => choicesOf(schema).includes(word))
    return chosen.length > 0 ? chosen : undefined
  }
  const [word] = words
  if (word === undefined) return undefined
  switch (schema['type']) {
    case 'boolean':
      return word === YES ? true : word === NO ? false : undefined
    case 'number':
    case 'integer': {
      const value = word.trim() === '' ? Number.NaN : Number(word)
      return Number.isFinite(value) ? value : undefined
    }
    default: {
      const choices = choicesOf(schema)
      return choices.length === 0 || choices.includes(word) ? word : undefined
    }
  }
}
