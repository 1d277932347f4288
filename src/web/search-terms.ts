/** The words of a query that can be marked in a text. */
export function toTerms(query: string): readonly string[] {
  const phrases = [...query.matchAll(/"([^"]+)"/g)].map((found) => found[1] ?? '')
  const words = query
    .replaceAll(/"[^"]*"?/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !word.startsWith('-') && !/^\w+:/.test(word) && word !== 'OR')
    .map((word) => word.replace(/\*$/, ''))
  return [...phrases, ...words].map((term) => term.toLowerCase()).filter((term) => term.length > 1)
}
