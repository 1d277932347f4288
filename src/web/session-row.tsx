import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { SessionSummary } from '#model'
import { toSize } from '#render'
import { toAge, toMoment } from './age.ts'
import { AgentIcon } from './agent-icon.tsx'
import { Icon } from './icon.tsx'
import { lazyView } from './lazy-view.tsx'
import { toHash } from './route.ts'
import { toFolderName } from './folder-names.ts'
import { toTitle, workdirOf } from './session-groups.ts'
import type { SessionList } from './session-list.ts'
import { toBadges } from './session-state.ts'
import { useShared } from './shared.ts'

const NameField = lazyView(async () => (await import('./name-field.tsx')).NameField, 'part')

interface Props {
  readonly session: SessionSummary
  readonly isCurrent: boolean
  readonly list: SessionList
}

/** A session in the list: what it is called, where and when it was, and what it needs. */
export function SessionRow({ session, isCurrent, list }: Props): VNode {
  const { now, board, throughline, say } = useShared()
  const isNaming = useSignal(false)
  const badges = toBadges(session, board.value.get(session.id))
  const title = toTitle(session)

  async function star(): Promise<void> {
    try {
      list.put(await throughline.star(session, session.starred !== true))
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    }
  }

  if (isNaming.value)
    return (
      <div class="session-row naming">
        <NameField session={session} list={list} onDone={() => (isNaming.value = false)} />
      </div>
    )
  return (
    <div class={`session-row ${isCurrent ? 'current' : ''}`}>
      <a
        class="session-link"
        href={toHash({ kind: 'session', id: session.id })}
        aria-current={isCurrent ? 'page' : undefined}
        title={session.firstPrompt?.slice(0, 300)}
      >
        <span class="session-title">
          <AgentIcon agent={session.agent} />
          <span class="ellipsis">{title}</span>
        </span>
        <span class="session-facts">
          {badges.map(({ kind, words, hint }) => (
            <span key={kind} class={`badge ${kind}`} title={hint}>
              {words}
            </span>
          ))}
          <time dateTime={session.lastActivityAt} title={toMoment(session.lastActivityAt)}>
            {toAge(session.lastActivityAt, now.value)}
          </time>
          {session.path === '' ? null : <span>{toSize(session.size)}</span>}
          <span class="ellipsis">{session.gitBranch ?? toFolderName(workdirOf(session))}</span>
        </span>
      </a>
      <span class="row-tools">
        <button
          type="button"
          class="icon-button small"
          aria-label={`Rename ${title}`}
          onClick={() => (isNaming.value = true)}
        >
          <Icon name="pencil" />
        </button>
        <button
          type="button"
          class={`icon-button small star ${session.starred === true ? 'on' : ''}`}
          aria-label={`Star ${title}`}
          aria-pressed={session.starred === true}
          onClick={() => void star()}
        >
          <Icon name="star" filled={session.starred === true} />
        </button>
      </span>
    </div>
  )
}
