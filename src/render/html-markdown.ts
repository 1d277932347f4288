import { toHtmlText } from './html-escape.ts'
import type { Inline } from './inline.ts'
import { parseMarkdown, type MarkdownBlock } from './markdown-tree.ts'

/**
 * Markdown as HTML. Safe by construction: the text is read into a tree that knows no HTML, every tag is written
 * here, and every character of the text passes `toHtmlText`. Headings begin at `h3`, below those of the page.
 */
export function toHtmlProse(text: string): string {
  return blocksToHtml(parseMarkdown(text), false)
}

function blocksToHtml(blocks: readonly MarkdownBlock[], tight: boolean): string {
  return blocks.map((block) => blockToHtml(block, tight)).join('\n')
}

function blockToHtml(block: MarkdownBlock, tight: boolean): string {
  switch (block.kind) {
    case 'paragraph': {
      const text = block.lines.map(inlineToHtml).join('<br>\n')
      return tight ? text : `<p>${text}</p>`
    }
    case 'heading': {
      const tag = `h${Math.min(6, block.level + 2)}`
      return `<${tag}>${inlineToHtml(block.content)}</${tag}>`
    }
    case 'code':
      return `<pre tabindex="0"${languageOf(block.language)}><code>${toHtmlText(block.text)}</code></pre>`
    case 'quote':
      return `<blockquote>${blocksToHtml(block.content, false)}</blockquote>`
    case 'list': {
      const items = block.items
        .map((item, nth) => `<li${numberOf(block, nth)}>${blocksToHtml(item, isTight(item))}</li>`)
        .join('\n')
      if (block.start === undefined) return `<ul>\n${items}\n</ul>`
      return block.start === 1 ? `<ol>\n${items}\n</ol>` : `<ol start="${block.start}">\n${items}\n</ol>`
    }
    case 'table': {
      const head = block.head.map((cell) => `<th scope="col">${inlineToHtml(cell)}</th>`).join('')
      const rows = block.rows.map(
        (row) => `<tr>${row.map((cell) => `<td>${inlineToHtml(cell)}</td>`).join('')}</tr>`,
      )
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
    }
    case 'rule':
      return '<hr>'
  }
}

/** What stands behind the marks that open a code block: shown above it. */
function languageOf(language: string): string {
  return language === '' ? '' : ` data-language="${toHtmlText(language)}"`
}

function numberOf({ numbers }: MarkdownBlock & { kind: 'list' }, nth: number): string {
  const number = numbers?.[nth]
  return number === undefined ? '' : ` value="${number}"`
}

/** An item of one paragraph, with at most a list below it. */
function isTight(item: readonly MarkdownBlock[]): boolean {
  return item.filter((block) => block.kind === 'paragraph').length <= 1
}

function inlineToHtml(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      switch (node.kind) {
        case 'text':
          return toHtmlText(node.text)
        case 'code':
          return `<code>${toHtmlText(node.text)}</code>`
        case 'strong':
          return `<strong>${inlineToHtml(node.content)}</strong>`
        case 'emphasis':
          return `<em>${inlineToHtml(node.content)}</em>`
        case 'deleted':
          return `<del>${inlineToHtml(node.content)}</del>`
        case 'link':
          return `<a href="${toHtmlText(node.href)}" rel="noreferrer noopener">${inlineToHtml(node.content)}</a>`
      }
    })
    .join('')
}
