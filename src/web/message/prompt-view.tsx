import type { VNode } from 'preact'
import { textOf, type PromptMessage } from '#model'
import { lazyView } from '../lazy-view.tsx'
import { mayWake } from '../memory-part.ts'
import { BlockView } from './block-view.tsx'
import type { PassageContext } from './passage-context.ts'
import { Moment, PassageTools } from './passage-tools.tsx'
import { LongWords } from './words.tsx'

const WakeUpPassage = lazyView(
  async () => (await import('../memory/wake-up-passage.tsx')).WakeUpPassage,
  'part',
)

/** What was said to the agent. */
export function PromptView({ prompt, context }: { prompt: PromptMessage; context: PassageContext }): VNode {
  return mayWake(prompt) ? (
    <WakeUpPassage prompt={prompt} context={context} />
  ) : (
    <Spoken prompt={prompt} context={context} />
  )
}

/** Words that somebody said to the agent. */
export function Spoken({ prompt, context }: { prompt: PromptMessage; context: PassageContext }): VNode {
  const { marks } = context
  const said = textOf(prompt.blocks).trim()
  const things = prompt.blocks.filter((block) => block.kind !== 'text')
  return (
    <div class="prompt">
      <header class="who">
        <b>{speakerOf(prompt, context)}</b>
        <Moment at={prompt.at} />
        {prompt.midTurn ? <span>while the agent was working</span> : null}
        <PassageTools id={prompt.id} text={said} message={prompt} what="the prompt" context={context} />
      </header>
      {said === '' ? null : <LongWords of={prompt.entries[0] ?? prompt} text={said} marks={marks} />}
      {things.map((block) => (
        <BlockView block={block} marks={marks} />
      ))}
    </div>
  )
}

/** Who speaks in a prompt. What a subagent is told is its task, whoever the line says it is from. */
export function speakerOf(prompt: PromptMessage, context: PassageContext): string {
  if (context.subagent !== undefined || context.isWork) return 'Task'
  switch (prompt.origin) {
    case 'person':
      return context.authorOf?.(prompt.id) ?? 'You'
    case 'program':
      return 'Program'
    case 'system':
      return 'System'
  }
}
