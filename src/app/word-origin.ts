import { isObject, parseJson, shorten } from '#base'
import { createRunMatcher, SAID_BEFORE } from '#memory'
import { isWakeUpEntry, transcriptsOf, type Block, type Entry, type SessionSummary } from '#model'
import { formatOf, openTranscript, readForward, type TranscriptFile } from '#sources'
import { subagentPath } from './page.ts'

/** The place in a session where an agent asks that words are kept. */
export interface SaidAt {
  readonly entryId: string
  readonly subagent?: string | undefined
  readonly at?: string | undefined
}

/** Whose words a text has: what tools, files and programs gave counts as foreign. */
type Origin = 'own' | 'foreign'

interface Found {
  readonly origin: Origin
  readonly at: string
  readonly path: string
  readonly text: string
}

/** Records in which a client keeps what a person or a model said elsewhere. */
const COPIES: ReadonlySet<string> = new Set(['last-prompt', 'ai-title', 'custom-title', 'summary'])

/** Gemini CLI puts the files that a prompt names behind the prompt. */
const REFERENCED = '--- Content from referenced files ---'
const DEEPEST = 12
const EXCERPT = 80

/**
 * The beginning of the text in which the words of an agent stood first, when that text is no person's and no agent's:
 * the answer of a tool, a file that a prompt names, something a program added. The whole session is looked through up
 * to the place, subagents included. `undefined` when a person or an agent said it first, or nobody did.
 */
export async function findForeignOrigin(
  session: SessionSummary,
  said: SaidAt,
  content: string,
): Promise<string | undefined> {
  const ownPath = said.subagent === undefined ? session.path : subagentPath(session, said.subagent)
  const matcher = createRunMatcher(content)
  let first: Found | undefined
  for (const path of transcriptsOf(session)) {
    const until = path === ownPath ? said.entryId : undefined
    // A line without a time was written after the one before it.
    let at = ''
    for await (const entry of entriesBefore(path, { until, at: said.at })) {
      at = entry.at ?? at
      if (first !== undefined && at > first.at) continue
      if (!matcher.mayHold(bytesOf(entry))) continue
      for (const { origin, text } of textsOf(entry)) {
        if (matcher.shareIn(text) < SAID_BEFORE) continue
        const found: Found = { origin, at, path, text }
        if (first === undefined || isBefore(found, first)) first = found
      }
    }
  }
  return first?.origin === 'foreign' ? shorten(first.text.trim().replaceAll(/\s+/g, ' '), EXCERPT) : undefined
}

/** In the same moment of two files it counts as foreign: nobody can tell what came first. */
function isBefore(one: Found, other: Found): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.path !== other.path && one.origin === 'foreign' && other.origin === 'own'
}

/** A file that cannot be read holds nothing back that the others do not. */
async function* entriesBefore(
  path: string,
  { until, at }: { readonly until: string | undefined; readonly at: string | undefined },
): AsyncGenerator<Entry> {
  const file = findTranscript(path)
  if (file === undefined) return
  try {
    for await (const { readings } of readForward(file, formatOf(path))) {
      for (const reading of readings) {
        if (reading.kind !== 'entry') continue
        if (until !== undefined && reading.entry.id === until) return
        if (at === undefined || (reading.entry.at ?? '') <= at) yield reading.entry
      }
    }
  } finally {
    file.close()
  }
}

function findTranscript(path: string): TranscriptFile | undefined {
  try {
    return openTranscript(path)
  } catch {
    return undefined
  }
}

function bytesOf({ raw }: Entry): Buffer {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

interface Words {
  readonly origin: Origin
  readonly text: string
}

function own(texts: readonly string[]): readonly Words[] {
  return texts.map((text) => ({ origin: 'own', text }))
}

function foreign(texts: readonly string[]): readonly Words[] {
  return texts.map((text) => ({ origin: 'foreign', text }))
}

function textsOf(entry: Entry): readonly Words[] {
  switch (entry.kind) {
    case 'reply':
      // What the client wrote in the place of an answer may quote a server.
      return entry.synthetic || entry.apiError
        ? foreign(entry.blocks.map(wordsOf))
        : own(entry.blocks.map(wordsOf))
    case 'prompt': {
      if (isWakeUpEntry(entry)) return []
      const isPerson = entry.origin === 'person'
      const texts = entry.blocks.map(wordsOf)
      const files = texts.findIndex((text) => text.includes(REFERENCED))
      if (!isPerson) return foreign(texts)
      if (files < 0) return own(texts)
      const [words = '', ...rest] = (texts[files] ?? '').split(REFERENCED)
      return [...own([...texts.slice(0, files), words]), ...foreign([...rest, ...texts.slice(files + 1)])]
    }
    case 'delegated':
      return textsOf(entry.work)
    case 'result':
    case 'injection':
      return foreign(entry.blocks.map(wordsOf))
    case 'summary':
    case 'interruption':
    case 'compaction':
    case 'oversize':
      return []
    case 'command':
      return foreign([entry.output ?? ''])
    case 'notice':
    case 'context':
    case 'record':
    case 'unknown':
      if (COPIES.has(entry.type)) return []
      return foreign(stringsOf(parseJson(bytesOf(entry).toString('utf8'))))
  }
}

/** Every string of a block, put together: calls have their words in their input. */
function wordsOf(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text
    case 'thinking':
      return block.thinking
    case 'tool-result':
      return block.content.map(wordsOf).join('\n')
    case 'tool-use':
      return stringsOf(block.input).join('\n')
    default:
      return stringsOf(block).join('\n')
  }
}

function stringsOf(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value]
  if (depth >= DEEPEST) return []
  if (Array.isArray(value)) return value.flatMap((item) => stringsOf(item, depth + 1))
  return isObject(value) ? Object.values(value).flatMap((item) => stringsOf(item, depth + 1)) : []
}
