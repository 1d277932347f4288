/** The beginning of a text, at most `length` units long and never cut in the middle of a character; `…` says so. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  const insidePair = last >= 0xd800 && last <= 0xdbff
  return `${text.slice(0, insidePair ? length - 1 : length)}…`
}
