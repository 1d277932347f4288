import type { VNode } from 'preact'
import { shorten } from '#base'
import type { Block } from '#model'
import { safeLine } from '#render'
import { Fold } from './fold.tsx'
import { Markdown } from './markdown.tsx'
import { hasMark, toMarked } from './marks.tsx'
import { lazyView } from '../lazy-view.tsx'

const ImageView = lazyView(async () => (await import('./media.tsx')).ImageView, 'part')
const DocumentView = lazyView(async () => (await import('./media.tsx')).DocumentView, 'part')

const ThingView = lazyView(async () => (await import('./thing-view.tsx')).ThingView, 'part')

/** A block that is no tool call, as the agent's words have it. */
export function BlockView({ block, marks }: { block: Block; marks: readonly string[] }): VNode {
  switch (block.kind) {
    case 'text':
      return <Markdown text={block.text} marks={marks} />
    case 'thinking':
      return <Thought block={block} thought={block.thinking} marks={marks} />
    case 'image':
      return <ImageView image={block} marks={marks} />
    case 'document':
      return <DocumentView document={block} marks={marks} />
    case 'tool-result':
      return (
        <>
          {block.content.map((inner) => (
            <BlockView block={inner} marks={marks} />
          ))}
        </>
      )
    case 'unknown':
    case 'redacted-thinking':
    case 'tool-use':
      return <ThingView block={block} marks={marks} />
  }
}

function Thought(props: { block: Block; thought: string; marks: readonly string[] }): VNode {
  const { block, thought, marks } = props
  const preview = safeLine(thought.slice(0, 400))
  const isInside = marks.length > 0 && hasMark(thought, marks) && !hasMark(preview, marks)
  return (
    <Fold
      of={block}
      class="thought"
      summary={
        <>
          <span class="call-tool">Thought</span>
          <span class="call-detail">{toMarked(shorten(preview, 240), marks)}</span>
          {isInside ? <mark class="call-match">match inside</mark> : null}
        </>
      }
    >
      {() => <Markdown text={thought} marks={marks} />}
    </Fold>
  )
}
