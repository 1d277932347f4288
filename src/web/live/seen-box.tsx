import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const SLACK_PX = 4

/** A box that scrolls, and says when its end has been in sight. What does not fit was not seen until then. */
export function SeenBox(props: {
  /** Another thing than before has to be seen again. */
  of: string
  onSeen: () => void
  label: string
  children: ComponentChildren
}): VNode {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let isSeen = false
    const look = (): void => {
      const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= SLACK_PX
      element.classList.toggle('has-more', !isAtEnd)
      // A box without a height is not on screen.
      if (isSeen || !isAtEnd || element.clientHeight === 0) return
      isSeen = true
      props.onSeen()
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [props.of])
  return (
    <div class="seen-box" ref={box} tabIndex={0} role="group" aria-label={props.label}>
      <div class="seen-inside">{props.children}</div>
    </div>
  )
}
