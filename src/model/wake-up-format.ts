import {
  escapeBody,
  escapeLine,
  escapeTrusted,
  INDENT,
  unescapeBody,
  unescapeValue,
} from './wake-up-escape.ts'

/** What documents of a wake-up are about, in the order in which they stand there. */
export const WAKE_UP_SECTIONS = ['identity', 'knowledge', 'operational', 'teaching'] as const

export type WakeUpSection = (typeof WAKE_UP_SECTIONS)[number]

/** A message of the previous session, or how many were left out where it would stand. */
export type WakeUpLine =
  | { readonly speaker: 'human' | 'agent'; readonly name: string; readonly text: string }
  | { readonly leftOut: number }

/** The previous session, as far as it stands in the wake-up. */
export interface WakeUpTranscript {
  readonly sessionId: string
  readonly ended: string
  readonly lines: readonly WakeUpLine[]
}

/** A document in a wake-up. */
export interface WakeUpItem {
  readonly text: string
  /** What is to be known before it is believed. */
  readonly note?: string
}

export interface WakeUpContext {
  readonly section: WakeUpSection
  readonly items: readonly WakeUpItem[]
}

/** All that stands in a wake-up. */
export interface WakeUpParts {
  readonly opening: string
  readonly transcript?: WakeUpTranscript
  readonly contexts: readonly WakeUpContext[]
  readonly closing: string
}

/** The text of a wake-up. Whatever the values are, it can be read in one way only. */
export function renderWakeUp(parts: WakeUpParts): string {
  const blocks = [
    parts.opening === '' ? '' : escapeTrusted(parts.opening),
    parts.transcript === undefined ? '' : renderTranscript(parts.transcript),
    ...parts.contexts.map(renderContext),
    parts.closing === '' ? '' : escapeTrusted(parts.closing),
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

/** The previous session, as it stands in the text. */
export function renderTranscript({ sessionId, ended, lines }: WakeUpTranscript): string {
  const count = lines.filter((line) => 'text' in line).length
  const from = sessionId === '' ? '' : `session-id="${escapeLine(sessionId)}" `
  const until = ended === '' ? '' : ` ended="${escapeLine(ended)}"`
  const attributes = `${from}message-count="${count}"${until}`
  return [
    `<previous-session category="transcript" ${attributes}>`,
    ...lines.map(renderLine),
    '</previous-session>',
  ].join('\n')
}

/** One message, or one gap, as it stands in the transcript. */
export function renderLine(line: WakeUpLine): string {
  if ('leftOut' in line) return `(${line.leftOut} ${line.leftOut === 1 ? 'message' : 'messages'} left out)`
  return `[${line.speaker} — ${escapeLine(line.name)}]: ${escapeBody(line.text)}`
}

function renderContext({ section, items }: WakeUpContext): string {
  return [
    `<context category="${section}" document-count="${items.length}">`,
    ...items.map(renderItem),
    '</context>',
  ].join('\n')
}

/** One document, as it stands in its section. */
export function renderItem({ text, note }: WakeUpItem): string {
  return `- ${note === undefined ? '' : `(${escapeLine(note)}) `}${escapeBody(text)}`
}

const TRANSCRIPT =
  /(?:^|\n)<previous-session category="transcript"(?: session-id="([^"\n]*)")? message-count="(\d+)"(?: ended="([^"\n]*)")?>\n([^<>]*)<\/previous-session>(?:\n|$)/
const CONTEXT =
  /(?:^|\n)<context category="(identity|knowledge|operational|teaching)" document-count="(\d+)">\n([^<>]*)<\/context>(?=\n|$)/g

/** Reads a wake-up back; `undefined` when the text is none. */
export function parseWakeUp(text: string): WakeUpParts | undefined {
  const transcript = TRANSCRIPT.exec(text)
  const contexts = [...text.matchAll(CONTEXT)]
  const first = transcript ?? contexts[0]
  const last = contexts.at(-1) ?? transcript
  if (first === undefined || last === undefined || first === null || last === null) return undefined
  const lines = transcript === null ? undefined : readLines(transcript[4] ?? '')
  const read = contexts.map(readContext)
  if (transcript !== null && lines?.filter((line) => 'text' in line).length !== Number(transcript[2])) {
    return undefined
  }
  if (contexts.some((match, index) => Number(match[2]) !== read[index]?.items.length)) return undefined
  return {
    opening: unescapeValue(text.slice(0, first.index)).replace(/\n$/, ''),
    ...(transcript === null || lines === undefined
      ? {}
      : {
          transcript: {
            sessionId: unescapeValue(transcript[1] ?? ''),
            ended: unescapeValue(transcript[3] ?? ''),
            lines,
          },
        }),
    contexts: read,
    closing: unescapeValue(text.slice(last.index + last[0].trimEnd().length)).replace(/^\n\n/, ''),
  }
}

/** Each begins where a line begins, and goes on as long as lines are indented. */
function itemsOf(body: string): readonly string[] {
  if (body === '') return []
  return body.replace(/\n$/, '').split(new RegExp(`\\n(?!${INDENT})`))
}

function readLines(body: string): readonly WakeUpLine[] {
  return itemsOf(body).flatMap((item): readonly WakeUpLine[] => {
    const gap = /^\((\d+) messages? left out\)$/.exec(item)
    if (gap !== null) return [{ leftOut: Number(gap[1]) }]
    const said = /^\[(human|agent) — ([^\]\n]*)\]: ([^]*)$/.exec(item)
    if (said === null) return []
    const speaker = said[1] === 'human' ? 'human' : 'agent'
    return [{ speaker, name: unescapeValue(said[2] ?? ''), text: unescapeBody(said[3] ?? '') }]
  })
}

function readContext([, section = '', , body = '']: RegExpExecArray): WakeUpContext {
  const items = itemsOf(body).flatMap((item): readonly WakeUpItem[] => {
    const [, note, text] = /^- (?:\(([^)\n]*)\) )?([^]*)$/.exec(item) ?? []
    if (text === undefined) return []
    return [{ text: unescapeBody(text), ...(note === undefined ? {} : { note: unescapeValue(note) }) }]
  })
  return { section: WAKE_UP_SECTIONS.find((name) => name === section) ?? 'knowledge', items }
}

/** Whether a text is, or holds, a wake-up: such a prompt was said by nobody. */
export function isWakeUp(text: string): boolean {
  // Nearly every prompt is none, and every one is asked.
  if (!text.includes('</context>') && !text.includes('</previous-session>')) return false
  return parseWakeUp(text) !== undefined
}
