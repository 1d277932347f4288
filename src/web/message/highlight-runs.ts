/** What a highlighter can say of a piece of code. The page makes class names of these and of nothing else. */
const HIGHLIGHTS = [
  'plain',
  'keyword',
  'string',
  'number',
  'comment',
  'title',
  'type',
  'attribute',
  'meta',
  'added',
  'removed',
  'emphasis',
  'strong',
] as const

type Highlight = (typeof HIGHLIGHTS)[number]

/** Code in pieces: what it is, and its text. All texts together are the code. */
export type HighlightRuns = readonly (readonly [what: Highlight, text: string])[]

/** How runs cross from the worker: numbers of `HIGHLIGHTS` and texts, in turn. */
export type WireRuns = readonly (number | string)[]

/** A node of what lowlight gives, as far as it is read. */
interface Node {
  readonly type: string
  readonly value?: string
  readonly properties?: { readonly className?: unknown }
  readonly children?: readonly Node[]
}

const BY_SCOPE: Readonly<Record<string, Highlight>> = {
  'hljs-keyword': 'keyword',
  'hljs-literal': 'number',
  'hljs-number': 'number',
  'hljs-string': 'string',
  'hljs-regexp': 'string',
  'hljs-char': 'string',
  'hljs-link': 'string',
  'hljs-comment': 'comment',
  'hljs-quote': 'comment',
  'hljs-doctag': 'comment',
  'hljs-title': 'title',
  'hljs-section': 'title',
  'hljs-selector-id': 'title',
  'hljs-selector-class': 'title',
  'hljs-type': 'type',
  'hljs-built_in': 'type',
  'hljs-name': 'keyword',
  'hljs-selector-tag': 'keyword',
  'hljs-attr': 'attribute',
  'hljs-attribute': 'attribute',
  'hljs-property': 'attribute',
  'hljs-variable': 'attribute',
  'hljs-template-variable': 'attribute',
  'hljs-symbol': 'attribute',
  'hljs-bullet': 'meta',
  'hljs-meta': 'meta',
  'hljs-addition': 'added',
  'hljs-deletion': 'removed',
  'hljs-emphasis': 'emphasis',
  'hljs-strong': 'strong',
  // What is put into a string is no string.
  'hljs-subst': 'plain',
}

/** Flattens a highlighter's tree: the innermost scope that is known decides. */
export function toWireRuns(root: Node): WireRuns {
  const out: (number | string)[] = []
  const visit = (node: Node, what: Highlight): void => {
    if (node.value !== undefined && node.value !== '') {
      const index = HIGHLIGHTS.indexOf(what)
      if (out.at(-2) === index) out[out.length - 1] = `${out.at(-1)}${node.value}`
      else out.push(index, node.value)
    }
    const inside = scopeOf(node.properties?.className) ?? what
    for (const child of node.children ?? []) visit(child, inside)
  }
  visit(root, 'plain')
  return out
}

/** Reads what a worker sent. `undefined` unless it is exactly this code, in pieces that are known. */
export function readWireRuns(wire: unknown, code: string): HighlightRuns | undefined {
  if (!Array.isArray(wire) || wire.length % 2 !== 0) return undefined
  const runs: (readonly [Highlight, string])[] = []
  let at = 0
  for (let index = 0; index < wire.length; index += 2) {
    const place: unknown = wire[index]
    const text: unknown = wire[index + 1]
    const what = typeof place === 'number' ? HIGHLIGHTS[place] : undefined
    if (what === undefined || typeof text !== 'string' || !code.startsWith(text, at)) return undefined
    at += text.length
    runs.push([what, text])
  }
  return at === code.length ? runs : undefined
}

function scopeOf(className: unknown): Highlight | undefined {
  if (!Array.isArray(className)) return undefined
  for (const name of className) {
    if (typeof name === 'string' && Object.hasOwn(BY_SCOPE, name)) return BY_SCOPE[name]
  }
  return undefined
}
