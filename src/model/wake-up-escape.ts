/**
 * How values are written into a wake-up: what could be a tag, the line of a speaker, a note of ours or a directive is
 * an entity, and so is what cannot be seen. `unescapeValue` gives back exactly what went in.
 */

/** Words of a message or a document. Its further lines are indented, so that none begins where ours begin. */
export function escapeBody(text: string): string {
  return escapeWords(text).replace(/\n/g, `\n${INDENT}`)
}

/** One line: a name, or the value of an attribute. */
export function escapeLine(text: string): string {
  return escapeWords(text).replace(/["[\]()\n\t]/g, toEntity)
}

/** A text that the person at this machine wrote. It may teach directives, and nothing else is different. */
export function escapeTrusted(text: string): string {
  return text.replace(MARKUP, toEntity).replace(HIDDEN, toEntity)
}

/** What was escaped, as it was. */
export function unescapeValue(text: string): string {
  return text.replace(ENTITIES, (entity, hex: string | undefined) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return NAMED[entity] ?? entity
  })
}

/** A body without the indentation of its further lines. */
export function unescapeBody(text: string): string {
  return unescapeValue(text.replaceAll(`\n${INDENT}`, '\n'))
}

export const INDENT = '  '

const MARKUP = /[&<>]/g
const ENTITIES = /&(?:amp|lt|gt|#x([0-9a-f]+));/g
const NAMED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

function escapeWords(text: string): string {
  return escapeTrusted(text)
    .replace(DIRECTIVE, toEntity)
    .replace(SPEAKER, escapeBracket)
    .replace(/^\(/, toEntity)
}

/** The bracket of a directive, in whatever letters. */
const DIRECTIVE = /\[(?=\s{0,8}(?:REMEMBER|MARKER|TEACH|USED)\b)/gi
/** A line that begins as ours do when somebody speaks. */
const SPEAKER =
  /^([^\S\n]{0,80}(?:[->*#|][^\S\n]{0,8}){0,4})\[(?=[^\S\n]{0,8}(?:human|agent|user|assistant|system)\b)/gim

function escapeBracket(_: string, before: string): string {
  return `${before}&#x5b;`
}

/**
 * Control characters but line breaks and tabs, direction overrides, invisible characters, line separators, halves of
 * characters. A joiner between two characters of a script or an emoji that need it hides nothing.
 */
// oxlint-disable no-control-regex, no-misleading-character-class
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![^\u0000-\u007f])[\u200c\u200d\ufe00-\ufe0f]|[\u200c\u200d](?![^\u0000-\u007f])|\p{Cs}/gu
// oxlint-enable no-control-regex, no-misleading-character-class

function toEntity(char: string): string {
  switch (char) {
    case '&':
      return '&amp;'
    case '<':
      return '&lt;'
    case '>':
      return '&gt;'
    default:
      return `&#x${(char.codePointAt(0) ?? 0).toString(16)};`
  }
}
