import type { VNode } from 'preact'
import { textOf, type Compaction, type CompactionMessage } from '#model'
import { safeLine } from '#render'
import { toCompactionSize } from '../compaction-size.ts'
import type { PassageContext } from './passage-context.ts'
import { Fold } from './fold.tsx'
import { Markdown } from './markdown.tsx'
import { hasMark } from './marks.tsx'

/** Where everything before was replaced by a summary. Opened, it shows what the agent went on with. */
export function CompactionView(props: { message: CompactionMessage; context: PassageContext }): VNode {
  const { message, context } = props
  const summary = textOf(message.summary).trim()
  const title = describe(message.compaction)
  if (summary === '') {
    return (
      <div class="divider">
        <span>{title}</span>
      </div>
    )
  }
  return (
    <Fold
      of={message.entries[0] ?? message}
      class="divider"
      summary={
        <>
          <span>{title}</span>
          {hasMark(summary, context.marks) ? <mark class="call-match">match inside</mark> : null}
        </>
      }
    >
      {() => <Markdown text={summary} marks={context.marks} />}
    </Fold>
  )
}

function describe(compaction: Compaction): string {
  const { trigger } = compaction
  const tokens = toCompactionSize(compaction)
  const size = tokens === '' ? '' : ` · ${tokens} tokens`
  const how = trigger === 'unknown' ? '' : ` · ${safeLine(trigger.slice(0, 60))}`
  return `Conversation compacted${size}${how}`
}
