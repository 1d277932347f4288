/**
 * Text from a transcript, made safe to show anywhere: terminal, editor, browser.
 *
 * The only control characters that come out are `\n` and `\t`. Colours and cursor movements vanish, every other
 * control, direction override and invisible character is shown as what it is, and half characters become U+FFFD.
 */
export function safeText(text: string): string {
  if (!SUSPECT.test(text)) return text
  return text
    .replace(SEQUENCES, '')
    .replace(/\r+\n?/g, '\n')
    .replace(HIDDEN, (found, offset: number, whole: string) =>
      isPartOfWriting(found, whole, offset) ? found : visible(found),
    )
}

/** The same on one line: line breaks and runs of spaces become one space. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ').trim()
}

// oxlint-disable no-control-regex, no-misleading-character-class
const SUSPECT = /[^\n\t\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff]/

/** Cursor and colour sequences, and the frame of a hyperlink. Anything else that begins with ESC is shown. */
const SEQUENCES =
  /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\]8;[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b\([0-9A-B]/g

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f]|\p{Cs}/gu
// oxlint-enable no-control-regex, no-misleading-character-class

const PICTOGRAPH = /\p{Extended_Pictographic}/u
const EMOJI = /\p{Emoji}/u
/** Scripts whose spelling needs the joiner and the non-joiner. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Mongolian}\p{Script=Syriac}\p{Script=Khmer}\p{Script=Myanmar}]/u
const MODIFIER = /\ufe0f|\p{Emoji_Modifier}/u

/** An emoji's joiner and presentation, and the joiners some scripts are spelled with, hide nothing. */
function isPartOfWriting(found: string, whole: string, offset: number): boolean {
  const before = characterBefore(whole, offset)
  if (found === '\ufe0f' || found === '\ufe0e') return EMOJI.test(before)
  if (found !== '\u200d' && found !== '\u200c') return false
  const after = characterAt(whole, offset + 1)
  if (JOINING.test(before)) return JOINING.test(after)
  const base = MODIFIER.test(before) ? characterBefore(whole, offset - before.length) : before
  return found === '\u200d' && PICTOGRAPH.test(base) && PICTOGRAPH.test(after)
}

function characterAt(text: string, offset: number): string {
  const point = text.codePointAt(offset)
  return point === undefined ? '' : String.fromCodePoint(point)
}

function characterBefore(text: string, offset: number): string {
  const pair = offset >= 2 ? characterAt(text, offset - 2) : ''
  return pair.length === 2 ? pair : text.slice(Math.max(0, offset - 1), offset)
}

function visible(found: string): string {
  const point = found.codePointAt(0) ?? 0
  if (point >= 0xd800 && point <= 0xdfff) return '\ufffd'
  if (point < 0x20) return String.fromCodePoint(0x2400 + point)
  if (point === 0x7f) return '\u2421'
  return `<U+${point.toString(16).toUpperCase().padStart(4, '0')}>`
}
