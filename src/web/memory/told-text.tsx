import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { parseDirectives, type ReplyMessage, type TextBlock } from '#model'
import { Markdown } from '../message/markdown.tsx'
import type { PassageContext } from '../message/passage-context.ts'
import { toSignedText, type Sign } from './signed-text.ts'
import { ToldChip, ToldNotice, type ToldPlace } from './told-chip.tsx'

/** What an agent said, without its directives and with a sign where each of them was. */
export function ToldText(props: { block: TextBlock; reply: ReplyMessage; context: PassageContext }): VNode {
  const { block, reply, context } = props
  const reading = useMemo(() => parseDirectives(block.text), [block])
  // What a subagent says is its own affair: nothing of it is kept.
  const place = context.subagent === undefined ? findPlace(block, reply) : undefined
  if (reading.directives.length + reading.notices.length === 0)
    return <Markdown text={block.text} marks={context.marks} />
  const { text, signs, rest } = toSignedText(reading)
  const toNode = (sign: Sign): VNode => <SignView sign={sign} place={place} text={block.text} />
  const nodes = new Map([...signs].map(([character, sign]) => [character, toNode(sign)]))
  return (
    <>
      {text.trim() === '' ? null : <Markdown text={text} marks={context.marks} signs={nodes} />}
      {rest.length === 0 ? null : <p class="told-rest">{rest.map(toNode)}</p>}
    </>
  )
}

/** One sign in a text. */
export function SignView(props: { sign: Sign; place: ToldPlace | undefined; text: string }): VNode {
  const { sign } = props
  switch (sign.kind) {
    case 'notice':
      return <ToldNotice notice={sign.notice} />
    case 'directive': {
      const { start, end } = sign.directive
      return (
        <ToldChip directive={sign.directive} place={props.place} raw={props.text.slice(start, end).trim()} />
      )
    }
  }
}

/** The entry that said it first, and which of its blocks it was. */
function findPlace(block: TextBlock, reply: ReplyMessage): ToldPlace | undefined {
  for (const entry of reply.entries) {
    if (entry.kind !== 'reply') continue
    const at = entry.blocks.indexOf(block)
    if (at >= 0) return { entryId: entry.forkedFrom?.entryId ?? entry.id, block: at }
  }
  return undefined
}
