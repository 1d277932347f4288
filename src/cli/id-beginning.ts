/** Fewer characters of an id are sooner a word, such as `add` or `bad`, than meant as an id. */
const SHORTEST = 4

/** Whether what was typed is an id or the beginning of one: enough of it to be no accident. */
export function isBeginningOf(typed: string, id: string): boolean {
  return typed === id || (typed.length >= SHORTEST && id.startsWith(typed))
}
