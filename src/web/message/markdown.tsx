import { h, type ComponentChildren, type VNode } from 'preact'
import { parseMarkdown, type Inline, type MarkdownBlock } from '#render'
import { Icon } from '../icon.tsx'
import { CodeBlock } from './code-block.tsx'
import { toMarked } from './marks.tsx'

/**
 * Markdown as elements. The text is read into a tree that knows no HTML, and every element is made here: whatever
 * stands in the text becomes text, or the address of a link that #render let through. Nothing is loaded.
 */
export function Markdown({ text, marks }: { text: string; marks: readonly string[] }): VNode {
  return (
    <div class="prose" dir="auto">
      {blocksToNodes(parseMarkdown(text), marks)}
    </div>
  )
}

function blocksToNodes(blocks: readonly MarkdownBlock[], marks: readonly string[]): ComponentChildren {
  return blocks.map((block) => blockToNode(block, marks))
}

function blockToNode(block: MarkdownBlock, marks: readonly string[]): ComponentChildren {
  switch (block.kind) {
    case 'paragraph':
      return <p>{linesToNodes(block.lines, marks)}</p>
    case 'heading':
      return h(headingTag(block.level), null, inlineToNodes(block.content, marks))
    case 'code':
      return <CodeBlock text={block.text} language={block.language} marks={marks} />
    case 'quote':
      return <blockquote>{blocksToNodes(block.content, marks)}</blockquote>
    case 'list':
      return listToNode(block, marks)
    case 'table':
      return tableToNode(block, marks)
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

function linesToNodes(lines: readonly (readonly Inline[])[], marks: readonly string[]): ComponentChildren {
  return lines.map((line, index) =>
    index === 0 ? inlineToNodes(line, marks) : [<br />, inlineToNodes(line, marks)],
  )
}

function listToNode(list: MarkdownBlock & { kind: 'list' }, marks: readonly string[]): VNode {
  const items = list.items.map((item) => itemToNode(item, marks))
  if (list.start === undefined) return <ul>{items}</ul>
  return list.start === 1 ? <ol>{items}</ol> : <ol start={list.start}>{items}</ol>
}

function itemToNode(item: readonly MarkdownBlock[], marks: readonly string[]): VNode {
  const [first, ...rest] = item
  if (first?.kind !== 'paragraph') return <li>{blocksToNodes(item, marks)}</li>
  const task = taskOf(first.lines)
  // One paragraph, with at most a list below it, stands close to its neighbours.
  const tight = rest.every((block) => block.kind !== 'paragraph')
  if (task !== undefined) {
    return (
      <li class="task">
        <label>
          <input type="checkbox" disabled checked={task.done} />
          <span>{linesToNodes(task.lines, marks)}</span>
        </label>
        {blocksToNodes(rest, marks)}
      </li>
    )
  }
  const words = linesToNodes(first.lines, marks)
  return (
    <li>
      {tight ? words : <p>{words}</p>}
      {blocksToNodes(rest, marks)}
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

function tableToNode(table: MarkdownBlock & { kind: 'table' }, marks: readonly string[]): VNode {
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.head.map((cell) => (
              <th scope="col">{inlineToNodes(cell, marks)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inlineToNodes(cell, marks)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inlineToNodes(nodes: readonly Inline[], marks: readonly string[]): ComponentChildren {
  return nodes.map((node, index) => {
    const next = nodes[index + 1]
    // `![words](address)` is an image that is somewhere else. It is named, and loaded by nobody.
    if (node.kind === 'text' && isImage(node, next)) return toMarked(node.text.slice(0, -1), marks)
    const before = nodes[index - 1]
    if (node.kind === 'link' && before?.kind === 'text' && isImage(before, node)) {
      return (
        <Link href={node.href} class="image-link">
          <Icon name="eye" />
          {node.content.length === 0 ? 'image' : inlineToNodes(node.content, marks)}
          <span class="image-address">{toMarked(node.href, marks)}</span>
        </Link>
      )
    }
    return inlineToNode(node, marks)
  })
}

function isImage(before: Inline & { kind: 'text' }, link: Inline | undefined): boolean {
  if (link?.kind !== 'link' || !before.text.endsWith('!')) return false
  // An address that stands by itself behind an exclamation mark is an address.
  const [only] = link.content
  return !(link.content.length === 1 && only?.kind === 'text' && only.text === link.href)
}

function inlineToNode(node: Inline, marks: readonly string[]): ComponentChildren {
  switch (node.kind) {
    case 'text':
      return toMarked(node.text, marks)
    case 'code':
      return <code>{toMarked(node.text, marks)}</code>
    case 'strong':
      return <strong>{inlineToNodes(node.content, marks)}</strong>
    case 'emphasis':
      return <em>{inlineToNodes(node.content, marks)}</em>
    case 'deleted':
      return <del>{inlineToNodes(node.content, marks)}</del>
    case 'link':
      return <Link href={node.href}>{inlineToNodes(node.content, marks)}</Link>
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
