import type { VNode } from 'preact'
import { isWakeUp, textOf, type PromptMessage } from '#model'
import type { KeptWakeUp } from '#wire'
import { useAnswer } from '../answer.ts'
import type { PassageContext } from '../message/passage-context.ts'
import { Spoken } from '../message/prompt-view.tsx'
import { useShared } from '../shared.ts'
import { WakeUpStrip } from './wake-up-strip.tsx'

/** A prompt that is a wake-up: nobody said it, and it is shown as what the session began with. */
export function WakeUpPassage({
  prompt,
  context,
}: {
  prompt: PromptMessage
  context: PassageContext
}): VNode {
  const text = textOf(prompt.blocks)
  return isWakeUp(text) ? (
    <Received text={text} sessionId={context.session.id} />
  ) : (
    <Spoken prompt={prompt} context={context} />
  )
}

function Received({ text, sessionId }: { text: string; sessionId: string }): VNode {
  const { throughline } = useShared()
  const { answer } = useAnswer(() => throughline.memory.wakeUps(sessionId), [sessionId, text])
  const all = answer.kind === 'there' ? answer.value : []
  return <WakeUpStrip text={text} kept={findKept(all, text)} />
}

function findKept(all: readonly KeptWakeUp[], text: string): KeptWakeUp | undefined {
  const words = text.trim()
  return all.find((one) => one.text.trim() === words) ?? all.find(({ way }) => way === 'prompt')
}

/** Wake-ups that came to the agent in another way than as a prompt. */
export function WakeUpsElsewhere({ sessionId }: { sessionId: string }): VNode | null {
  const { throughline } = useShared()
  const { answer } = useAnswer(() => throughline.memory.wakeUps(sessionId), [sessionId])
  if (answer.kind !== 'there') return null
  const others = answer.value.filter(({ way, text }) => way !== 'prompt' && text !== '')
  if (others.length === 0) return null
  return (
    <div class="wake-ups">
      {others.map((kept) => (
        <WakeUpStrip key={kept.at} text={kept.text} kept={kept} />
      ))}
    </div>
  )
}
