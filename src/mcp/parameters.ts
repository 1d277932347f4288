import { isObject, ThroughlineError, type JsonObject } from '#base'

/** Something that a tool or a prompt takes. Its schema and the reading of it are made from this. */
export interface Parameter {
  readonly name: string
  readonly kind: 'text' | 'count' | 'texts'
  readonly meaning: string
  readonly required?: true
  /** The only texts it may be. */
  readonly values?: readonly string[]
  /** Of a count. */
  readonly most?: number
}

/** What a call was given, read by its parameters. */
export interface Arguments {
  text(name: string): string | undefined
  /** Throws `request-invalid` when it is not there. */
  getText(name: string): string
  count(name: string, usual: number): number
  texts(name: string): readonly string[]
}

const LONGEST_TEXT = 20_000
const LONGEST_LIST = 50

/** The schema that a client is told. */
export function toInputSchema(parameters: readonly Parameter[]): {
  readonly type: 'object'
  readonly [key: string]: unknown
} {
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, toSchema(parameter)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

function toSchema({ kind, meaning: description, values, most }: Parameter): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'string', description, ...(values === undefined ? {} : { enum: values }) }
    case 'count':
      return { type: 'integer', description, minimum: 1, ...(most === undefined ? {} : { maximum: most }) }
    case 'texts':
      return { type: 'array', items: { type: 'string' }, description }
  }
}

/** Reads what came. Throws `request-invalid`, with what is wrong and what would be right. */
export function readArguments(parameters: readonly Parameter[], given: unknown): Arguments {
  const values = given === undefined || given === null ? {} : given
  if (!isObject(values)) throw invalid('the arguments are no object', toUsage(parameters))
  for (const name of Object.keys(values)) {
    if (parameters.some((parameter) => parameter.name === name)) continue
    throw invalid(`there is no argument ${JSON.stringify(name.slice(0, 60))}`, toUsage(parameters))
  }
  const read = new Map<string, string | number | readonly string[]>()
  for (const parameter of parameters) {
    const value = Object.hasOwn(values, parameter.name) ? values[parameter.name] : undefined
    if (value === undefined || value === null || value === '') {
      if (parameter.required) throw invalid(`\`${parameter.name}\` is missing`, toUsage(parameters))
      continue
    }
    read.set(parameter.name, readValue(parameter, value))
  }
  const text = (name: string): string | undefined => {
    const value = read.get(name)
    return typeof value === 'string' ? value : undefined
  }
  return {
    text,
    getText(name) {
      const value = text(name)
      if (value === undefined) throw invalid(`\`${name}\` is missing`, toUsage(parameters))
      return value
    },
    count(name, usual) {
      const value = read.get(name)
      return typeof value === 'number' ? value : usual
    },
    texts(name) {
      const value = read.get(name)
      return typeof value === 'object' ? value : []
    },
  }
}

function readValue(parameter: Parameter, value: unknown): string | number | readonly string[] {
  switch (parameter.kind) {
    case 'text':
      return readText(parameter, value)
    case 'count':
      return readCount(parameter, value)
    case 'texts':
      return readTexts(parameter, value)
  }
}

function readText({ name, meaning, values }: Parameter, value: unknown): string {
  if (typeof value !== 'string') throw invalid(`\`${name}\` is no text`, meaning)
  if (value.length > LONGEST_TEXT) throw invalid(`\`${name}\` is too long`, 'Say it in fewer words.')
  if (values !== undefined && !values.includes(value)) {
    throw invalid(`\`${name}\` cannot be ${JSON.stringify(value.slice(0, 60))}`, `Use ${values.join(', ')}.`)
  }
  return value
}

function readCount({ name, most }: Parameter, value: unknown): number {
  // Models write numbers as texts now and then.
  const count = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  const isGood = typeof count === 'number' && Number.isSafeInteger(count) && count > 0
  if (isGood && count <= (most ?? count)) return count
  throw invalid(`\`${name}\` is no number that can be meant`, `Use 1 to ${most ?? 1000}.`)
}

function readTexts({ name, meaning }: Parameter, value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  if (!Array.isArray(value) || texts.length < value.length || texts.length > LONGEST_LIST) {
    throw invalid(`\`${name}\` is no list of texts`, meaning)
  }
  return texts
}

function toUsage(parameters: readonly Parameter[]): string {
  const words = parameters.map(({ name, required }) => (required ? name : `${name} (optional)`))
  return `Arguments: ${words.join(', ')}.`
}

/** A request that cannot be meant, and what would be. */
export function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
