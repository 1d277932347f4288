const REFERENCE = /^[$%@<{[*#]|^\.{1,2}\/|^\/|^~|\$\{|\{\{|^process\.|^env\.|^os\.|^https?:|\*{3}|\.{3}|…/i
const PLACEHOLDER =
  /^(?:x+|\*+|-+|your.*|my.*|the.*|change.?me.*|example.*|placeholder.*|redacted.*|null|undefined|true|false|none|string|number|boolean|required|optional|password|secret|token|test|dummy|todo)$/i

/** `$TOKEN`, `<your key>`, `./file`, `process.env.X`: it stands elsewhere. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text)
}

/** `your-key-here`, `changeme`, `xxxx`: there is none. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text)
}

/** Nothing that stands for a value, and no port. */
export function isValue(text: string): boolean {
  return (
    text.length >= 3 &&
    !isReference(text) &&
    (!isPlaceholder(text) || /\d/.test(text)) &&
    !/^(?:\d{1,5}(?::\d{1,5})?|pass|-.*)$/i.test(text)
  )
}

/** Base64 of `user:password`. */
export function isBasic(value: string): boolean {
  if (value.length < 8 || value.length > 2048) return false
  return /^[\u0020-\u007e]{1,256}:[\u0021-\u007e]{1,1024}$/.test(
    Buffer.from(value, 'base64').toString('latin1'),
  )
}

export function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text)
}

/** Digits among letters, as chance puts them, and no words: `a1b2c3…`, not `section-12-of-the-guide`. */
export function isDense(text: string): boolean {
  const digits = text.match(/\d/g)?.length ?? 0
  if (digits < 2 || new Set(text).size < 8 || /^[\d.,:x-]+$/.test(text)) return false
  if (/^[0-9a-f]{16,}$/i.test(text) || !/[a-z]{7,}|[A-Z]{8,}/.test(text)) return true
  // Chance makes something like a word, too, when it has the time.
  return text.length >= 24 && digits >= 3 && isMixed(text) && !/[-_.:]/.test(text)
}
