/** What a person said to it, within or in place of what the client tells the model. */
export function wordsOfDenial(text: string): string {
  const quoted = /\bthe user said:\n([^]+)/u.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  return /^(?:The user \S+|\[(?:Request|Operation) |exec command|patch) /u.test(text) ? '' : text
}

/** What came of a call, in a line of a terminal: `denied`, with what a person said, when a person did not allow it. */
export function toFailureLine(text: string): string {
  if (!/^The user denied this call\b/u.test(text)) return text
  const said = wordsOfDenial(text)
  return said === '' ? 'denied' : `denied: ${said}`
}
