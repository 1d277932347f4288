/** JSON on one line. Characters that could act on a terminal are escaped, which changes nothing for a reader. */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, escape)}\n`
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
