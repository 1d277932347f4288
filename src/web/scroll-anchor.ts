/**
 * Keeps what a person reads in its place while things are added above it, taken away or change their size. At the end
 * it stays at the end, until the person does something.
 */
export interface ScrollAnchor {
  /** The list is about to be another one, or has become one. */
  keep(): void
  /** Goes to the end and stays there. */
  stick(): void
  /** Puts an element near the top. */
  show(element: Element): void
  close(): void
}

/** Room between the top and what was gone to. */
const MARGIN_PX = 24
const AT_END_PX = 4

export function createScrollAnchor(box: HTMLElement, content: HTMLElement): ScrollAnchor {
  let isStuck = true
  /** What was gone to stays where it is, whatever grows above it, until a person moves. */
  let shown: string | undefined
  let anchors: readonly { readonly id: string; readonly top: number }[] = []

  /** Remembers where those are that are in sight. One of them will still be there. */
  function note(): void {
    const { top, bottom } = box.getBoundingClientRect()
    const seen: { id: string; top: number }[] = []
    for (const element of content.children) {
      const place = element.getBoundingClientRect()
      if (place.bottom <= top) continue
      if (place.top >= bottom) break
      const id = element instanceof HTMLElement ? element.dataset['key'] : undefined
      if (id !== undefined) seen.push({ id, top: place.top - top })
    }
    anchors = seen.toSorted((a, b) => Number(b.id === shown) - Number(a.id === shown))
  }

  function keep(): void {
    if (isStuck) {
      box.scrollTop = box.scrollHeight
      note()
      return
    }
    const { top } = box.getBoundingClientRect()
    for (const anchor of anchors) {
      const element = content.querySelector(`[data-key="${CSS.escape(anchor.id)}"]`)
      if (element === null) continue
      const moved = element.getBoundingClientRect().top - top - anchor.top
      if (Math.abs(moved) >= 1) box.scrollTop += moved
      break
    }
    note()
  }

  function onScroll(): void {
    if (box.scrollHeight - box.scrollTop - box.clientHeight > AT_END_PX) note()
  }

  /** Only a person lets go of the end. */
  function onHand(): void {
    isStuck = false
    shown = undefined
    note()
  }

  function onWheel(event: WheelEvent): void {
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight <= AT_END_PX
    isStuck = isAtEnd && event.deltaY > 0
    shown = undefined
    note()
  }

  const observer = new ResizeObserver(keep)
  observer.observe(content)
  observer.observe(box)
  box.addEventListener('scroll', onScroll, { passive: true })
  box.addEventListener('wheel', onWheel, { passive: true })
  for (const kind of ['touchmove', 'keydown', 'pointerdown']) {
    box.addEventListener(kind, onHand, { passive: true })
  }
  return {
    keep,
    stick() {
      isStuck = true
      keep()
    },
    show(element) {
      isStuck = false
      shown = element instanceof HTMLElement ? element.dataset['key'] : undefined
      const { top } = box.getBoundingClientRect()
      box.scrollTop += element.getBoundingClientRect().top - top - MARGIN_PX
      note()
    },
    close() {
      observer.disconnect()
      box.removeEventListener('scroll', onScroll)
      box.removeEventListener('wheel', onWheel)
      for (const kind of ['touchmove', 'keydown', 'pointerdown']) box.removeEventListener(kind, onHand)
    },
  }
}
