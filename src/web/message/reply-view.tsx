import type { VNode } from 'preact'
import { textOf, type ReplyMessage, type Usage } from '#model'
import { safeLine, toCount, toTokenWords } from '#render'
import { Icon } from '../icon.tsx'
import { lazyView } from '../lazy-view.tsx'
import { mayDirect } from '../memory-part.ts'
import { BlockView } from './block-view.tsx'
import type { PassageContext } from './passage-context.ts'
import { Moment, PassageTools } from './passage-tools.tsx'
import { toReplyParts } from './reply-parts.ts'
import { ToolCalls } from './tool-call.tsx'

const ToldText = lazyView(async () => (await import('../memory/told-text.tsx')).ToldText, 'part')

/** What the agent said and did. */
export function ReplyView({ reply, context }: { reply: ReplyMessage; context: PassageContext }): VNode {
  const { marks } = context
  const said = (context.memory?.toShown(reply.blocks) ?? textOf(reply.blocks)).trim()
  const parts = toReplyParts(reply)
  return (
    <div class={reply.apiError ? 'reply reply-error' : 'reply'}>
      {reply.apiError ? (
        <p class="reply-label">
          <Icon name="warning" /> API error
        </p>
      ) : null}
      {reply.synthetic && !reply.apiError ? (
        <p class="reply-label">Written by the client, not by a model</p>
      ) : null}
      {parts.map((part) =>
        part.kind === 'calls' ? (
          <ToolCalls calls={part.calls} context={context} />
        ) : part.block.kind === 'text' && mayDirect(part.block.text) ? (
          <ToldText block={part.block} reply={reply} context={context} />
        ) : (
          <BlockView block={part.block} marks={marks} />
        ),
      )}
      {parts.length === 0 ? <p class="note">A reply without words</p> : null}
      {endOf(reply) === '' ? null : <p class="note">{endOf(reply)}</p>}
      <PassageTools
        id={reply.id}
        last={reply.entries.at(-1)?.id}
        text={said}
        message={reply}
        what="the reply"
        context={context}
      >
        <Facts reply={reply} />
      </PassageTools>
    </div>
  )
}

function Facts({ reply }: { reply: ReplyMessage }): VNode {
  const { model, usage } = reply
  return (
    <span class="reply-facts">
      {model === undefined ? null : <span>{safeLine(model.slice(0, 60)).replace(/-\d{8}$/, '')}</span>}
      {usage === undefined ? null : <span title={toBill(usage)}>{toTokenWords(usage.output)}</span>}
      <Moment at={reply.at} />
    </span>
  )
}

function toBill({ input, output, cacheRead, cacheCreation }: Usage): string {
  const given = `given: ${toCount(input)} new, ${toCount(cacheRead)} from the cache, ${toCount(cacheCreation)} into it`
  return `Tokens written: ${toCount(output)}; ${given}`
}

/** Why it ended, where that is no ordinary end. */
function endOf({ stopReason }: ReplyMessage): string {
  if (stopReason === 'max_tokens') return 'Cut off: the longest reply the model may give'
  if (stopReason === 'model_context_window_exceeded') return 'Cut off: the context is full'
  return stopReason === 'refusal' ? 'The model refused to go on' : ''
}
