import type { ComponentChildren, VNode } from 'preact'
import { safeHref, toCount } from '#render'
import { CodeBlock } from './code-block.tsx'
import { Fold } from './fold.tsx'
import { Link } from './markdown.tsx'
import { toMarked } from './marks.tsx'

/** Longer words show their beginning, and the rest on demand. */
const LONG = { length: 5000, shown: 1500 }

/**
 * What a person wrote, the way they wrote it: line breaks and spaces are theirs, and nothing is formatted but what
 * cannot be mistaken: fenced code, and addresses.
 */
export function Words({ text, marks }: { text: string; marks: readonly string[] }): VNode {
  return (
    <div class="words" dir="auto">
      {splitFences(text).map((part) =>
        part.kind === 'code' ? (
          <CodeBlock text={part.text} language={part.language} marks={marks} />
        ) : (
          <div class="words-text">{withLinks(part.text, marks)}</div>
        ),
      )}
    </div>
  )
}

/** The same, with all but the beginning folded when it is long. `of` is what was said. */
export function LongWords(props: { of: object; text: string; marks: readonly string[] }): VNode {
  const { of, text, marks } = props
  if (text.length <= LONG.length) return <Words text={text} marks={marks} />
  const line = text.lastIndexOf('\n', LONG.shown)
  const end = line > LONG.shown / 2 ? line : LONG.shown
  const rest = text.slice(end)
  return (
    <>
      <Words text={`${text.slice(0, end)} …`} marks={marks} />
      <Fold of={of} class="fold-quiet" summary={`${toCount(rest.length)} more characters`}>
        {() => <Words text={rest} marks={marks} />}
      </Fold>
    </>
  )
}

/** A stretch of somebody's words: as they are, or code between fences. */
type WordsPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }

/** Finds code between fences. A fence that is never closed is text. */
function splitFences(text: string): readonly WordsPart[] {
  const out: WordsPart[] = []
  const lines = text.split('\n')
  let plain: string[] = []
  const flush = (): void => {
    const words = plain.join('\n').replace(/^\n+|\s+$/g, '')
    if (words !== '') out.push({ kind: 'text', text: words })
    plain = []
  }
  // Once no fence closes, none further down does: it is looked for once.
  let closable = true
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const language = closable ? /^```([^`]{0,60})$/.exec(line)?.[1] : undefined
    const end = language === undefined ? -1 : findClosing(lines, at + 1)
    if (language !== undefined && end >= 0) {
      flush()
      out.push({ kind: 'code', language: language.trim(), text: lines.slice(at + 1, end).join('\n') })
      at = end
    } else {
      if (language !== undefined) closable = false
      plain.push(line)
    }
  }
  flush()
  return out
}

function findClosing(lines: readonly string[], from: number): number {
  for (let at = from; at < lines.length; at++) if (/^```\s*$/.test(lines[at] ?? '')) return at
  return -1
}

/** Addresses become links, by the rule of #render. */
function withLinks(text: string, marks: readonly string[]): ComponentChildren {
  const out: ComponentChildren[] = []
  let last = 0
  for (const found of text.matchAll(/https?:\/\/[^\s<>"'`\\]{1,2000}/g)) {
    const address = found[0].replace(/[.,;:!?)\]}]{1,8}$/, '')
    const href = safeHref(address)
    if (href === undefined) continue
    out.push(toMarked(text.slice(last, found.index), marks))
    out.push(<Link href={href}>{toMarked(address, marks)}</Link>)
    last = found.index + address.length
  }
  out.push(toMarked(text.slice(last), marks))
  return out
}
