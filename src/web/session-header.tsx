import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { SessionSummary } from '#model'
import { toPlural, toSize } from '#render'
import { toAge, toMoment } from './age.ts'
import { AgentIcon } from './agent-icon.tsx'
import { ContextGauge } from './context-gauge.tsx'
import { Icon } from './icon.tsx'
import { lazyView } from './lazy-view.tsx'
import { toHash, type Route } from './route.ts'
import { toTitle, workdirOf } from './session-groups.ts'
import { useWishes } from './session-keys.ts'
import type { SessionList } from './session-list.ts'
import { toBadges } from './session-state.ts'
import { useShared } from './shared.ts'
import { SideButton } from './side-button.tsx'

const NameField = lazyView(async () => (await import('./name-field.tsx')).NameField, 'part')

interface Props {
  readonly session: SessionSummary
  readonly place: Extract<Route, { kind: 'session' }>
  readonly list: SessionList
  readonly onSide: () => void
  readonly onFind: () => void
  readonly onOutline: () => void
  readonly isOutlined: boolean
  readonly contextTokens: number | undefined
}

/** What a session is called, where it is, how it is, and what can be done with it. */
export function SessionHeader(props: Props): VNode {
  const { session, place, list } = props
  const { now, go } = useShared()
  const isNaming = useSignal(false)
  useWishes((wish) => {
    if (wish === 'rename') isNaming.value = true
  })
  const title = toTitle(session)
  const workdir = workdirOf(session)
  const subagent = session.subagents.find(({ id }) => id === place.subagent)
  const isFacts = place.show === 'facts'
  return (
    <header class="session-header">
      <SideButton onSide={props.onSide} />
      <div class="header-words">
        {isNaming.value ? (
          <NameField session={session} list={list} onDone={() => (isNaming.value = false)} />
        ) : (
          <h1>
            <AgentIcon agent={session.agent} />
            <span class="ellipsis">{title}</span>
            <button
              type="button"
              class="icon-button small"
              aria-label="Rename this session"
              title="Rename (r)"
              onClick={() => (isNaming.value = true)}
            >
              <Icon name="pencil" />
            </button>
          </h1>
        )}
        <p class="header-facts">
          {toBadges(session).map(({ kind, words, hint }) => (
            <span key={kind} class={`badge ${kind}`} title={hint}>
              {words}
            </span>
          ))}
          <span class="ellipsis path" title={workdir}>
            <bdi>{workdir}</bdi>
          </span>
          {session.gitBranch === undefined ? undefined : (
            <span class="ellipsis branch">
              <Icon name="branch" /> {session.gitBranch}
            </span>
          )}
          <time dateTime={session.lastActivityAt} title={toMoment(session.lastActivityAt)}>
            {toAge(session.lastActivityAt, now.value)}
          </time>
          <span>{toSize(session.size)}</span>
          {session.counts === undefined ? undefined : (
            <span class="wide-only">{toPlural(session.counts.prompts, 'prompt')}</span>
          )}
          <ContextGauge tokens={props.contextTokens} />
        </p>
        {subagent === undefined ? undefined : (
          <p class="header-sub">
            <a href={toHash({ kind: 'session', id: session.id })}>{title}</a> › subagent{' '}
            <strong>{subagent.agentType ?? ''}</strong> {subagent.description ?? subagent.id}
          </p>
        )}
      </div>
      <div class="header-tools">
        <button
          type="button"
          class="icon-button"
          aria-label="Find in this session"
          title="Find (f)"
          onClick={props.onFind}
        >
          <Icon name="search" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Outline"
          title="Outline (o)"
          aria-pressed={props.isOutlined && !isFacts}
          onClick={props.onOutline}
        >
          <Icon name="outline" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={isFacts ? 'Back to the conversation' : 'Facts about this session'}
          title="Facts (i)"
          aria-pressed={isFacts}
          onClick={() =>
            go({ kind: 'session', id: session.id, ...(isFacts ? {} : { show: 'facts' as const }) })
          }
        >
          <Icon name="facts" />
        </button>
      </div>
    </header>
  )
}
