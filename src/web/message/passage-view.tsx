import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Passage } from '#model'
import { agentName } from '#render'
import { toClockTime } from '../age.ts'
import { mayWake } from '../memory-part.ts'
import { AsideView, CommandView, CompactionView, DamageView, NoticeView, OrphanView } from './beside.ts'
import { CopyContext } from './copying.tsx'
import type { PassageContext } from './passage-context.ts'
import { PromptView, speakerOf } from './prompt-view.tsx'
import { hasWords } from './reply-parts.ts'
import { ReplyView } from './reply-view.tsx'

export type { PassageContext } from './passage-context.ts'

/** One passage of a conversation. The same passage in the same context is not made again. */
export function PassageView(props: { passage: Passage; context: PassageContext }): VNode {
  const { passage, context } = props
  return useMemo(
    () => (
      <CopyContext.Provider value={context.copy}>
        <article
          class={classOf(passage)}
          data-id={idOf(passage)}
          data-offset={offsetOf(passage)}
          aria-label={labelOf(passage, context)}
        >
          <div class="passage-body">{bodyOf(passage, context)}</div>
        </article>
      </CopyContext.Provider>
    ),
    [passage, context],
  )
}

function bodyOf(passage: Passage, context: PassageContext): ComponentChildren {
  switch (passage.kind) {
    case 'prompt':
      return <PromptView prompt={passage} context={context} />
    case 'reply':
      return <ReplyView reply={passage} context={context} />
    case 'command':
      return <CommandView command={passage} context={context} />
    case 'compaction':
      return <CompactionView message={passage} context={context} />
    case 'notice':
      return <NoticeView notice={passage} context={context} />
    case 'orphan':
      return <OrphanView orphan={passage} context={context} />
    case 'aside':
      return <AsideView aside={passage} context={context} />
    case 'damage':
      return <DamageView damage={passage.damage} context={context} />
  }
}

function classOf(passage: Passage): string {
  const names = ['passage', `passage-${passage.kind}`]
  if (passage.kind === 'prompt') names.push(mayWake(passage) ? 'passage-woken' : `prompt-${passage.origin}`)
  if (passage.kind === 'reply' && !hasWords(passage)) names.push('passage-quiet')
  if (passage.kind !== 'damage' && passage.offPath === true) names.push('passage-off-path')
  return names.join(' ')
}

function idOf(passage: Passage): string {
  return passage.kind === 'damage' ? `@${passage.damage.offset}` : passage.id
}

function offsetOf(passage: Passage): number | undefined {
  return passage.kind === 'damage' ? passage.damage.offset : passage.entries[0]?.place.offset
}

function labelOf(passage: Passage, context: PassageContext): string {
  if (passage.kind === 'damage') return 'Damage'
  const when = toClockTime(passage.at)
  const aside = passage.offPath === true ? ', set aside' : ''
  return `${nameOf(passage, context)}${when === '' ? '' : `, ${when}`}${aside}`
}

function nameOf(passage: Exclude<Passage, { kind: 'damage' }>, context: PassageContext): string {
  switch (passage.kind) {
    case 'prompt':
      return mayWake(passage) ? 'Wake-up' : speakerOf(passage, context)
    case 'reply':
      return agentName(context.session)
    case 'command':
      return 'Command'
    case 'compaction':
      return 'Compaction'
    case 'notice':
      return 'Notice'
    case 'orphan':
      return 'Result without a call'
    case 'aside':
      return 'Beside the conversation'
  }
}
