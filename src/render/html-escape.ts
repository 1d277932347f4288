import { safeText } from './safe-text.ts'

/** Text as HTML, in an element or in a quoted attribute. Nothing in it can be a tag, an attribute or an entity. */
export function toHtmlText(text: string): string {
  return safeText(text).replace(/[&<>"'`]/g, (char) => ESCAPES[char] ?? '')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
