const SLACK_PX = 40

/** The prompt before or after what stands at the top. */
export function findNeighbour(
  box: HTMLElement | null,
  content: HTMLElement | null,
  way: 'next-prompt' | 'previous-prompt',
): HTMLElement | undefined {
  if (box === null || content === null) return undefined
  const { top } = box.getBoundingClientRect()
  const prompts = [...content.querySelectorAll<HTMLElement>('[data-kind="prompt"]')]
  const placeOf = (element: HTMLElement): number => element.getBoundingClientRect().top - top
  return way === 'next-prompt'
    ? prompts.find((prompt) => placeOf(prompt) > SLACK_PX)
    : prompts.findLast((prompt) => placeOf(prompt) < 0)
}

/** Unfolds every tool call that is in the document, or folds them if one is open. */
export function toggleCalls(content: HTMLElement | null): void {
  const calls = [...(content?.querySelectorAll<HTMLDetailsElement>('.fold-calls, details.call') ?? [])]
  const isOpen = calls.some((call) => call.open)
  for (const call of calls) call.open = !isOpen
}

/** Below the top by so much begins what is read. */
const READ_PX = 96

/** The row that is being read: the one at the top, and at the end of everything the last one. */
export function findReading(box: HTMLElement, content: HTMLElement | null): string | undefined {
  const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < SLACK_PX
  const line = box.getBoundingClientRect().top + (isAtEnd ? box.clientHeight : READ_PX)
  const rows = [...(content?.querySelectorAll<HTMLElement>('[data-key]') ?? [])]
  return (rows.findLast((row) => row.getBoundingClientRect().top <= line) ?? rows[0])?.dataset['key']
}
