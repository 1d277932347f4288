import { h, type ComponentChildren, type VNode } from 'preact'
import { parseMarkdown, type Inline, type MarkdownBlock } from '#render'
import { Icon } from '../icon.tsx'
import { CodeBlock } from './code-block.tsx'
import { toMarked } from './marks.tsx'

/** What stands in the place of a character that the text itself does not have. */
export type Signs = ReadonlyMap<string, VNode>

interface Look {
  readonly marks: readonly string[]
  readonly signs?: Signs | undefined
}

/** Only characters that mean nothing by themselves can stand for something. */
const SIGN = /([\uE000-\uF8FF])/

/**
 * Markdown as elements. The text is read into a tree that knows no HTML, and every element is made here: whatever
 * stands in the text becomes text, or the address of a link that #render let through. Nothing is loaded.
 */
export function Markdown({ text, marks, signs }: { text: string } & Look): VNode {
  return (
    <div class="prose" dir="auto">
      {blocksToNodes(parseMarkdown(text), { marks, signs })}
    </div>
  )
}

function blocksToNodes(blocks: readonly MarkdownBlock[], look: Look): ComponentChildren {
  return blocks.map((block) => blockToNode(block, look))
}

function blockToNode(block: MarkdownBlock, look: Look): ComponentChildren {
  switch (block.kind) {
    case 'paragraph':
      return <p>{linesToNodes(block.lines, look)}</p>
    case 'heading':
      return h(headingTag(block.level), null, inlineToNodes(block.content, look))
    case 'code':
      return <CodeBlock text={block.text} language={block.language} marks={look.marks} />
    case 'quote':
      return <blockquote>{blocksToNodes(block.content, look)}</blockquote>
    case 'list':
      return listToNode(block, look)
    case 'table':
      return tableToNode(block, look)
    case 'rule':
      return <hr />
  }
}

/** An article's own headings begin at the third level: the page has the first two. */
function headingTag(level: number): 'h3' | 'h4' | 'h5' | 'h6' {
  if (level <= 1) return 'h3'
  if (level === 2) return 'h4'
  return level === 3 ? 'h5' : 'h6'
}

function linesToNodes(lines: readonly (readonly Inline[])[], look: Look): ComponentChildren {
  return lines.map((line, index) =>
    index === 0 ? inlineToNodes(line, look) : [<br />, inlineToNodes(line, look)],
  )
}

function listToNode(list: MarkdownBlock & { kind: 'list' }, look: Look): VNode {
  const items = list.items.map((item, nth) => itemToNode(item, look, list.numbers?.[nth]))
  if (list.start === undefined) return <ul>{items}</ul>
  return list.start === 1 ? <ol>{items}</ol> : <ol start={list.start}>{items}</ol>
}

function itemToNode(item: readonly MarkdownBlock[], look: Look, number: number | undefined): VNode {
  const [first, ...rest] = item
  const own = number === undefined ? {} : { value: number }
  if (first?.kind !== 'paragraph') return <li {...own}>{blocksToNodes(item, look)}</li>
  const task = taskOf(first.lines)
  // One paragraph, with at most a list below it, stands close to its neighbours.
  const tight = rest.every((block) => block.kind !== 'paragraph')
  if (task !== undefined) {
    return (
      <li class="task" {...own}>
        <label>
          <input type="checkbox" disabled checked={task.done} />
          <span>{linesToNodes(task.lines, look)}</span>
        </label>
        {blocksToNodes(rest, look)}
      </li>
    )
  }
  const words = linesToNodes(first.lines, look)
  return (
    <li {...own}>
      {tight ? words : <p>{words}</p>}
      {blocksToNodes(rest, look)}
    </li>
  )
}

interface Task {
  readonly done: boolean
  readonly lines: readonly (readonly Inline[])[]
}

/** `[ ] something to do`, `[x] something done`. */
function taskOf(lines: readonly (readonly Inline[])[]): Task | undefined {
  const [first, ...rest] = lines
  const [head, ...others] = first ?? []
  if (head?.kind !== 'text') return undefined
  const found = /^\[([ xX])\] +(?=\S|$)/.exec(head.text)
  if (found === null) return undefined
  const words: Inline = { kind: 'text', text: head.text.slice(found[0].length) }
  return { done: found[1] !== ' ', lines: [[words, ...others], ...rest] }
}

function tableToNode(table: MarkdownBlock & { kind: 'table' }, look: Look): VNode {
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.head.map((cell) => (
              <th scope="col">{inlineToNodes(cell, look)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inlineToNodes(cell, look)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inlineToNodes(nodes: readonly Inline[], look: Look): ComponentChildren {
  return nodes.map((node, index) => {
    const next = nodes[index + 1]
    // `![words](address)` is an image that is somewhere else. It is named, and loaded by nobody.
    if (node.kind === 'text' && isImage(node, next)) return toMarked(node.text.slice(0, -1), look.marks)
    const before = nodes[index - 1]
    if (node.kind === 'link' && before?.kind === 'text' && isImage(before, node)) {
      return (
        <Link href={node.href} class="image-link">
          <Icon name="eye" />
          {node.content.length === 0 ? 'image' : inlineToNodes(node.content, look)}
          <span class="image-address">{toMarked(node.href, look.marks)}</span>
        </Link>
      )
    }
    return inlineToNode(node, look)
  })
}

function isImage(before: Inline & { kind: 'text' }, link: Inline | undefined): boolean {
  if (link?.kind !== 'link' || !before.text.endsWith('!')) return false
  // An address that stands by itself behind an exclamation mark is an address.
  const [only] = link.content
  return !(link.content.length === 1 && only?.kind === 'text' && only.text === link.href)
}

function toSigned(text: string, { marks, signs }: Look): ComponentChildren {
  if (signs === undefined) return toMarked(text, marks)
  return text.split(SIGN).map((part) => signs.get(part) ?? toMarked(part, marks))
}

function inlineToNode(node: Inline, look: Look): ComponentChildren {
  switch (node.kind) {
    case 'text':
      return toSigned(node.text, look)
    case 'code':
      return <code>{toMarked(node.text, look.marks)}</code>
    case 'strong':
      return <strong>{inlineToNodes(node.content, look)}</strong>
    case 'emphasis':
      return <em>{inlineToNodes(node.content, look)}</em>
    case 'deleted':
      return <del>{inlineToNodes(node.content, look)}</del>
    case 'link':
      return <Link href={node.href}>{inlineToNodes(node.content, look)}</Link>
  }
}

/** A link out of a session. `href` is one that #render made a link of: http, https or mailto. */
export function Link(props: { href: string; class?: string; children?: ComponentChildren }): VNode {
  return (
    <a
      href={props.href}
      {...(props.class === undefined ? {} : { class: props.class })}
      rel="noopener noreferrer"
      target="_blank"
      title={props.href}
    >
      {props.children}
    </a>
  )
}
