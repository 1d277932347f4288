import { field, isObject, list, number, parseJson, string, type JsonObject } from '#base'

/** Where a value of a line was, and the file that has it now. */
export interface BlobReference {
  readonly path: readonly (string | number)[]
  /** Of the bytes of the file; its name. */
  readonly sha256: string
  readonly bytes: number
  /** The file has the value as JSON: it is more than a text, or a text that UTF-8 has no form for. */
  readonly json?: true | undefined
}

export interface TakenOut {
  /** The line with short texts in place of what was taken, and `blobs` to say what that was. */
  readonly line: JsonObject
  /** What was taken, by its hash, as it is to be written in UTF-8. */
  readonly texts: ReadonlyMap<string, string>
}

export interface PutBack {
  readonly line: JsonObject
  /** What could not be put back. The line still refers to it. */
  readonly missing: readonly BlobReference[]
}

export interface TakingOut {
  /** Texts that take more bytes than this are taken. */
  readonly limit: number
  /** SHA-256 of the text in UTF-8, in hexadecimal. */
  readonly hash: (text: string) => string
  /** `wholes`: the content and the tool's own result, each as one. For a line that is long because of many things. */
  readonly grain?: 'texts' | 'wholes' | undefined
}

/** The one part of a line that says what was taken out of it. Words in a message are never read as a reference. */
export const BLOBS_FIELD = 'blobs'

/** What may be taken out of a line: what was said, and what a tool gave. The rest is needed to find them. */
const PARTS: readonly string[] = ['message', 'toolUseResult']

const WHOLES: readonly (readonly string[])[] = [['message', 'content'], ['toolUseResult']]

/** Takes what is long out of a line. `putBlobsBack` gives the same line again. */
export function takeBlobsOut(line: JsonObject, options: TakingOut): TakenOut {
  const texts = new Map<string, string>()
  const references: BlobReference[] = []
  if (Object.hasOwn(line, BLOBS_FIELD)) return { line, texts }

  function take(path: BlobReference['path'], text: string, bytes: number, isJson: boolean): string {
    const sha256 = options.hash(text)
    const reference = { path, sha256, bytes, ...(isJson ? { json: true as const } : {}) }
    texts.set(sha256, text)
    references.push(reference)
    return placeholderOf(reference)
  }

  function takeText(path: BlobReference['path'], text: string): string {
    // No character takes more than three bytes per unit.
    if (text.length * 3 <= options.limit) return text
    const bytes = utf8Length(text)
    if (bytes !== undefined) return bytes > options.limit ? take(path, text, bytes, false) : text
    const json = JSON.stringify(text)
    const length = utf8Length(json) ?? json.length
    return length > options.limit ? take(path, json, length, true) : text
  }

  function takeTexts(path: BlobReference['path'], value: unknown): unknown {
    if (typeof value === 'string') return takeText(path, value)
    if (Array.isArray(value)) return value.map((item: unknown, at) => takeTexts([...path, at], item))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, takeTexts([...path, key], item)]),
    )
  }

  function takeWhole(value: unknown, path: readonly string[]): unknown {
    const json = JSON.stringify(value)
    const text = take(path, json, utf8Length(json) ?? json.length, true)
    return path[0] === 'message' ? [{ type: 'text', text }] : text
  }

  let left: unknown = line
  if (options.grain === 'wholes') {
    for (const path of WHOLES) {
      if (valueAt(left, path) !== undefined) left = changedAt(left, path, (value) => takeWhole(value, path))
    }
  } else {
    for (const part of PARTS) {
      if (Object.hasOwn(line, part)) left = changedAt(left, [part], (value) => takeTexts([part], value))
    }
  }
  if (references.length === 0 || !isObject(left)) return { line, texts }
  return { line: { ...left, [BLOBS_FIELD]: references }, texts }
}

/** What was taken out of a line. */
export function blobsOf(line: unknown): readonly BlobReference[] {
  return list(line, BLOBS_FIELD).flatMap((value) => {
    const sha256 = string(value, 'sha256')
    const bytes = number(value, 'bytes')
    const path = list(value, 'path').filter((step) => typeof step === 'string' || typeof step === 'number')
    if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256) || bytes === undefined) return []
    return [{ path, sha256, bytes, ...(field(value, 'json') === true ? { json: true as const } : {}) }]
  })
}

/** Puts back what was taken out of a line, as far as `read` has it. Never throws on content. */
export function putBlobsBack(
  line: JsonObject,
  read: (reference: BlobReference) => string | undefined,
): PutBack {
  const references = blobsOf(line)
  if (references.length === 0) return { line, missing: [] }
  const missing: BlobReference[] = []
  let filled: unknown = line
  for (const reference of references) {
    const text = read(reference)
    const value = text === undefined || reference.json !== true ? text : parseJson(text)
    const isThere = holdsPlace(valueAt(filled, reference.path), reference)
    if (value === undefined || !isThere) missing.push(reference)
    else filled = changedAt(filled, reference.path, () => value)
  }
  if (!isObject(filled)) return { line, missing: references }
  const { [BLOBS_FIELD]: _, ...rest } = filled
  return { line: missing.length === 0 ? rest : { ...rest, [BLOBS_FIELD]: missing }, missing }
}

function placeholderOf({ sha256, bytes }: BlobReference): string {
  return `[${bytes} bytes in blobs/${sha256}]`
}

function holdsPlace(value: unknown, reference: BlobReference): boolean {
  const text = Array.isArray(value) && value.length === 1 ? string(value[0], 'text') : value
  return text === placeholderOf(reference)
}

function valueAt(value: unknown, path: BlobReference['path']): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    at = Array.isArray(at) ? at[Number(step)] : field(at, String(step))
  }
  return at
}

/** A copy with one value changed; everything beside the way to it is shared. */
function changedAt(
  value: unknown,
  [step, ...rest]: BlobReference['path'],
  change: (value: unknown) => unknown,
): unknown {
  if (step === undefined) return change(value)
  if (Array.isArray(value)) return value.with(Number(step), changedAt(value[Number(step)], rest, change))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === String(step) ? changedAt(item, rest, change) : item,
    ]),
  )
}

/** How many bytes a text takes in UTF-8; nothing when it has half of a character that is made of two units. */
function utf8Length(text: string): number | undefined {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3
    else {
      const next = text.charCodeAt(at + 1)
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return undefined
      bytes += 4
      at++
    }
  }
  return bytes
}
