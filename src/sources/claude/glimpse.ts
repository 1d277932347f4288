import { isObject, parseJson, string, type JsonObject } from '#base'
import { isWakeUp } from '#model'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'

/** The few facts a list wants of a line. */
export interface Glimpse {
  readonly type: string | undefined
  readonly timestamp: string | undefined
  readonly gitBranch: string | undefined
  readonly cwd: string | undefined
  readonly relocatedCwd: string | undefined
  readonly customTitle: string | undefined
  readonly aiTitle: string | undefined
  /** A user line whose content is one plain text that no client wrote. Other user lines must be read to know. */
  readonly plainPrompt: string | undefined
}

const KEY = {
  type: 0,
  timestamp: 1,
  gitBranch: 2,
  cwd: 3,
  relocatedCwd: 4,
  customTitle: 5,
  aiTitle: 6,
} as const

/**
 * Up to this length a line is parsed. A list looks at a handful of lines per file and is over before the scanner is
 * compiled; the parser is compiled already.
 */
const SHORT = 4096

/** What a line tells, or `undefined` when it is no record. */
export function glimpse(bytes: Buffer, from: number, to: number): Glimpse | undefined {
  return to - from > SHORT ? glimpseLong(bytes, from, to) : toGlimpse(bytes.toString('utf8', from, to))
}

/**
 * What the end of a line tells. Claude Code writes the time and the place behind the long values, so the last few
 * hundred bytes of a long line are enough: with a brace before them they are an object, and they are one only if
 * they stand on the top level.
 */
export function glimpseEnd(bytes: Buffer, from: number, to: number): Glimpse | undefined {
  if (to - from > SHORT) {
    const window = bytes.toString('utf8', to - END, to)
    for (let at = window.indexOf(TIME); at >= 0; at = window.indexOf(TIME, at + 1)) {
      const end = toGlimpse(`{${window.slice(at)}`)
      if (end !== undefined) return end
    }
  }
  return glimpse(bytes, from, to)
}

const END = 1024
const TIME = '"timestamp":"'

function toGlimpse(json: string): Glimpse | undefined {
  const line = parseJson(json)
  if (!isObject(line)) return undefined
  return {
    type: text(line['type']),
    timestamp: text(line['timestamp']),
    gitBranch: text(line['gitBranch']),
    cwd: text(line['cwd']),
    relocatedCwd: text(line['relocatedCwd']),
    customTitle: text(line['customTitle']),
    aiTitle: text(line['aiTitle']),
    plainPrompt: line['type'] === 'user' ? plainPrompt(line) : undefined,
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function plainPrompt(line: JsonObject): string | undefined {
  if (line['isMeta'] === true || line['isCompactSummary'] === true || line['promptSource'] === 'system')
    return undefined
  // What a recorder took out of a line is read by the reader of its format.
  if (line['blobs'] !== undefined) return undefined
  const content = string(line['message'], 'content')
  if (content === undefined) return undefined
  // Tags and brackets are how clients begin what they write in the user's place.
  const first = content.trimStart().charAt(0)
  return first === '' || first === '<' || first === '[' || isWakeUp(content) ? undefined : content
}

const scanner = new ObjectScanner(Object.keys(KEY))
const fields = new FieldReader(scanner)

function glimpseLong(bytes: Buffer, from: number, to: number): Glimpse | undefined {
  if (scanner.scan(bytes, from, to) < 0) return undefined
  return {
    type: fields.text(bytes, KEY.type),
    timestamp: fields.text(bytes, KEY.timestamp),
    gitBranch: fields.text(bytes, KEY.gitBranch),
    cwd: fields.text(bytes, KEY.cwd),
    relocatedCwd: fields.text(bytes, KEY.relocatedCwd),
    customTitle: fields.text(bytes, KEY.customTitle),
    aiTitle: fields.text(bytes, KEY.aiTitle),
    plainPrompt: undefined,
  }
}
