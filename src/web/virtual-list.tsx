import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface Props<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  /** Every item is as high as this says: what is not on screen need not be there. */
  readonly heightOf: (item: T) => number
  readonly render: (item: T, index: number) => VNode
  /** Kept in sight when it changes. */
  readonly shown?: number | undefined
  readonly label: string
  readonly class?: string
}

const BEYOND_PX = 400

/** A list of any length that has only a screenful in the document. */
export function VirtualList<T>(props: Props<T>): VNode {
  const { items, heightOf, keyOf } = props
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const tops = toTops(items, heightOf)
  const total = tops.at(-1) ?? 0

  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight })
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (element === null || props.shown === undefined || props.shown < 0) return
    const top = tops[props.shown] ?? 0
    const bottom = tops[props.shown + 1] ?? top
    if (top < element.scrollTop + 40) element.scrollTop = Math.max(0, top - 80)
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight + 40
  }, [props.shown, view.height])

  const first = Math.max(0, findIndex(tops, view.top - BEYOND_PX))
  const last = Math.min(items.length, findIndex(tops, view.top + view.height + BEYOND_PX) + 1)
  const visible = items.slice(first, last)
  return (
    <div class={`virtual ${props.class ?? ''}`} ref={box} tabIndex={-1}>
      <ul style={{ height: `${total}px` }} aria-label={props.label}>
        {visible.map((item, at) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={first + at + 1}
            style={{ transform: `translateY(${tops[first + at] ?? 0}px)`, height: `${heightOf(item)}px` }}
          >
            {props.render(item, first + at)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Where each item begins, and where the last one ends. */
export function toTops<T>(items: readonly T[], heightOf: (item: T) => number): readonly number[] {
  const tops = [0]
  let top = 0
  for (const item of items) {
    top += heightOf(item)
    tops.push(top)
  }
  return tops
}

/** The item at a height. */
export function findIndex(tops: readonly number[], height: number): number {
  let low = 0
  for (let high = tops.length - 1; low < high;) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= height) low = middle
    else high = middle - 1
  }
  return low
}
