import type { VNode } from 'preact'
import { textOf, type Compaction, type CompactionMessage } from '#model'
import { safeLine, toShortCount } from '#render'
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

function describe({ trigger, tokensBefore, tokensAfter }: Compaction): string {
  const size =
    tokensBefore === undefined
      ? ''
      : ` · ${toShortCount(tokensBefore)}${tokensAfter === undefined ? '' : ` → ${toShortCount(tokensAfter)}`} tokens`
  const how = trigger === 'unknown' ? '' : ` · ${safeLine(trigger.slice(0, 60))}`
  return `Conversation compacted${size}${how}`
}
