import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { safeLine, safeText } from '#render'
import { CopyButton } from './copying.tsx'
import type { HighlightRuns } from './highlight-runs.ts'
import type { Highlighter } from './highlighter.ts'
import { toLanguage } from './language.ts'
import { toMarked } from './marks.tsx'

/** Fetched with the first code that comes near. */
let highlighter: Highlighter | undefined

async function openedHighlighter(): Promise<Highlighter> {
  highlighter ??= (await import('./page-highlighter.ts')).highlighter
  return highlighter
}

/** A piece of code: plain at once, in colour when the worker has answered. */
export function CodeBlock(props: {
  text: string
  language: string
  marks: readonly string[]
  /** The number of its first line, where it is a piece of a file. */
  firstLine?: number
}): VNode {
  const { marks, firstLine } = props
  const code = safeText(props.text)
  const { element, runs } = useHighlight(code, toLanguage(props.language))
  const label = safeLine(props.language)
  return (
    <div class={firstLine === undefined ? 'code-block' : 'code-block code-numbered'} ref={element}>
      <div class="code-bar">
        <span class="code-language">{label}</span>
        <CopyButton text={props.text} what="code" />
      </div>
      <pre tabIndex={0}>
        {firstLine === undefined ? null : (
          <span class="code-numbers" aria-hidden="true">
            {toNumbers(code, firstLine)}
          </span>
        )}
        <code>{runs === undefined ? toMarked(code, marks) : runsToNodes(runs, marks)}</code>
      </pre>
    </div>
  )
}

function toNumbers(code: string, first: number): string {
  return Array.from(code.split('\n'), (_line, index) => first + index).join('\n')
}

function runsToNodes(runs: HighlightRuns, marks: readonly string[]): ComponentChildren {
  return runs.map(([what, text]) =>
    what === 'plain' ? toMarked(text, marks) : <span class={`hl-${what}`}>{toMarked(text, marks)}</span>,
  )
}

/** The colours of some code, asked for when its element comes near. */
function useHighlight(
  code: string,
  language: string,
): { readonly element: { current: HTMLDivElement | null }; readonly runs: HighlightRuns | undefined } {
  const element = useRef<HTMLDivElement>(null)
  const [answer, setAnswer] = useState<{ readonly of: string; readonly runs: HighlightRuns | undefined }>()
  useEffect(() => {
    const shown = element.current
    if (shown === null || language === '') return undefined
    let gone = false
    const show = async (): Promise<void> => {
      // Code is readable without its colours.
      const opened = await openedHighlighter().catch(() => undefined)
      const runs = await opened?.highlight(code, language)
      if (!gone) setAnswer({ of: code, runs })
    }
    const stop = whenNear(shown, () => void show())
    return () => {
      gone = true
      stop()
    }
  }, [code, language])
  return { element, runs: answer?.of === code ? answer.runs : highlighter?.find(code, language) }
}

const waiting = new WeakMap<Element, () => void>()
let observer: IntersectionObserver | undefined

/** Calls once when an element is on screen or about to be. Gives what ends the waiting. */
function whenNear(element: Element, call: () => void): () => void {
  observer ??= new IntersectionObserver(
    (changes) => {
      for (const { isIntersecting, target } of changes) {
        if (!isIntersecting) continue
        observer?.unobserve(target)
        waiting.get(target)?.()
      }
    },
    { rootMargin: '600px 0px' },
  )
  waiting.set(element, call)
  observer.observe(element)
  return () => {
    waiting.delete(element)
    observer?.unobserve(element)
  }
}
