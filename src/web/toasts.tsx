import { signal, type ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'

export interface Toast {
  readonly id: number
  readonly words: string
}

const STAYS_MS = 4000

/** Things said in passing. */
export function createToasts(): {
  readonly shown: ReadonlySignal<readonly Toast[]>
  readonly say: (words: string) => void
} {
  const shown = signal<readonly Toast[]>([])
  let last = 0
  return {
    shown,
    say(words) {
      const id = ++last
      shown.value = [...shown.value.slice(-2), { id, words }]
      setTimeout(() => {
        shown.value = shown.value.filter((toast) => toast.id !== id)
      }, STAYS_MS)
    },
  }
}

export function Toasts({ shown }: { shown: ReadonlySignal<readonly Toast[]> }): VNode {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, words }) => (
        <p key={id}>{words}</p>
      ))}
    </div>
  )
}
