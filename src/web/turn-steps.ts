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
  const calls = [...(content?.querySelectorAll<HTMLDetailsElement>('details') ?? [])]
  const isOpen = calls.some((call) => call.open)
  for (const call of calls) call.open = !isOpen
}
