/**
 * Texts of ours in columns of type `text`. PostgreSQL takes neither a zero character nor half a character; both occur,
 * in names of files and in what agents write. They are written out behind a character that means nothing in Unicode,
 * and so is that character itself: what was put in comes out, and two that differ stay two.
 */
const MARK = '\uFDD0'
// oxlint-disable-next-line no-control-regex -- zero characters are what is looked for
const ODD = /[\0\uFDD0]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
const WRITTEN = /\uFDD0([0-9a-f]{4})/g

/** A text that a column takes. Nearly always the same text. */
export function toColumn(text: string): string {
  return text.replaceAll(ODD, (odd) => MARK + odd.charCodeAt(0).toString(16).padStart(4, '0'))
}

/** The text that was given to `toColumn`. */
export function fromColumn(column: string): string {
  if (!column.includes(MARK)) return column
  return column.replaceAll(WRITTEN, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** The same where there may be none. */
export function toColumnOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text)
}

export function fromColumnOrNone(column: string | null): string | undefined {
  return column === null ? undefined : fromColumn(column)
}

/** A text that LIKE takes as it is. */
export function toLikeLiteral(text: string): string {
  return toColumn(text).replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)
}
