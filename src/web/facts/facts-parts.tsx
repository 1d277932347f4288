import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionSummary } from '#model'
import { toCount, toPlural, toSize, toTokens } from '#render'
import type { Digest } from '#wire'
import { toMoment } from '../age.ts'
import { ContextGauge } from '../context-gauge.tsx'
import { toCompactionSize } from '../compaction-size.ts'
import { toHash } from '../route.ts'
import { ContextLine } from './context-line.tsx'
import type { KeyAction } from './key-actions.ts'
import { LongList } from './long-list.tsx'
import { toShortPath } from './short-path.ts'

interface Props {
  readonly session: SessionSummary
  readonly digest: Digest
}

/** How much there is. */
export function Counts({ digest: { facts } }: { digest: Digest }): VNode {
  const counts: readonly (readonly [words: string, value: number])[] = [
    ['Prompts', facts.prompts],
    ['Replies', facts.replies],
    ['Tool calls', facts.toolCalls],
    ['Compactions', facts.compactions],
    ['Branches', facts.branches],
    ['Lines', facts.lines],
  ]
  return (
    <dl class="fact-counts">
      {counts.map(([words, value]) => (
        <div key={words}>
          <dt>{words}</dt>
          <dd>{toCount(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Tokens by kind, the window, the models. */
export function Tokens({ digest: { facts, outline } }: { digest: Digest }): VNode {
  const { usage, inherited, models } = facts
  const kinds: readonly (readonly [words: string, value: number])[] = [
    ['Output', usage.output],
    ['Input', usage.input],
    ['Written to cache', usage.cacheCreation],
    ['Read from cache', usage.cacheRead],
  ]
  return (
    <>
      <dl class="fact-rows">
        {kinds.map(([words, value]) => (
          <div key={words}>
            <dt>{words}</dt>
            <dd>{toCount(value)}</dd>
          </div>
        ))}
        <div class="sum">
          <dt>All tokens</dt>
          <dd>{toCount(toTokens(usage))}</dd>
        </div>
        {toTokens(inherited) > 0 && (
          <div>
            <dt>of which copied from another session</dt>
            <dd>{toCount(toTokens(inherited))}</dd>
          </div>
        )}
        {facts.contextTokens !== undefined && (
          <div>
            <dt>In the window at the end</dt>
            <dd>
              {toCount(facts.contextTokens)} <ContextGauge tokens={facts.contextTokens} />
            </dd>
          </div>
        )}
        <div>
          <dt>{models.length === 1 ? 'Model' : 'Models'}</dt>
          <dd>{models.length === 0 ? 'none answered' : models.join(', ')}</dd>
        </div>
      </dl>
      <ContextLine outline={outline} />
    </>
  )
}

/** Files that tools read and changed. */
export function Files({ session, digest }: Props): VNode {
  return (
    <LongList
      label="Files"
      items={digest.files}
      render={({ path, reads, changes, added, removed, entryId }) => (
        <>
          <a class="cut path" title={path} href={toHash({ kind: 'session', id: session.id, entry: entryId })}>
            <bdi>{toShortPath(path, session.workdirs)}</bdi>
          </a>
          <span class="fact-figures">
            {changes > 0 && (
              <>
                <span class="added">+{toCount(added)}</span>{' '}
                <span class="removed">−{toCount(removed)}</span>{' '}
              </>
            )}
            <span class="faint">
              {[changes > 0 ? toPlural(changes, 'change') : '', reads > 0 ? toPlural(reads, 'read') : '']
                .filter(Boolean)
                .join(', ')}
            </span>
          </span>
        </>
      )}
    />
  )
}

/** Commits, pushes, installations, tests: what one asks about afterwards. */
export function KeyActions({
  session,
  actions,
}: {
  session: SessionSummary
  actions: readonly KeyAction[]
}): VNode {
  return (
    <LongList
      label="Key actions"
      items={actions.toReversed()}
      render={({ entryId, at, what, command, failed, denied }) => (
        <>
          <a
            class="cut"
            href={toHash({ kind: 'session', id: session.id, entry: entryId })}
            title={toMoment(at)}
          >
            <strong>{what}</strong> <code>{command}</code>
          </a>
          {failed && <span class="tag bad">failed</span>}
          {denied && <span class="tag warn">declined</span>}
        </>
      )}
    />
  )
}

/** Commands in the order they ran, the last one first. */
export function Commands({ session, digest }: Props): VNode {
  const [isFailedOnly, setFailedOnly] = useState(false)
  const failed = digest.commands.filter((command) => command.failed).length
  const shown = digest.commands.filter((command) => command.failed || !isFailedOnly).toReversed()
  return (
    <>
      {failed > 0 && failed < digest.commands.length && (
        <label class="fact-check small soft">
          <input
            type="checkbox"
            checked={isFailedOnly}
            onChange={(event) => setFailedOnly(event.currentTarget.checked)}
          />
          Only the {toCount(failed)} that failed
        </label>
      )}
      <LongList
        key={String(isFailedOnly)}
        label="Commands"
        items={shown}
        render={({ command, entryId, at, failed: hasFailed, denied }) => (
          <>
            <a
              class="cut path"
              title={`${toMoment(at)} ${command}`.trim()}
              href={toHash({ kind: 'session', id: session.id, entry: entryId })}
            >
              {command === '' ? '(empty)' : command}
            </a>
            {hasFailed && <span class="tag bad">failed</span>}
            {denied === true && <span class="tag warn">declined</span>}
          </>
        )}
      />
    </>
  )
}

/** How often each tool was called. */
export function Tools({ digest }: { digest: Digest }): VNode {
  return (
    <LongList
      label="Tools"
      items={digest.tools}
      render={({ name, calls, failed, denied }) => (
        <>
          <span class="cut">{name}</span>
          <span class="fact-figures">
            {failed > 0 && <span class="tag bad">{toCount(failed)} failed</span>}{' '}
            {denied > 0 && <span class="tag warn">{toCount(denied)} declined</span>}{' '}
            <span class="faint">{toPlural(calls, 'call')}</span>
          </span>
        </>
      )}
    />
  )
}

/** Ends of the conversation beside the active one. */
export function Branches({ session, digest }: Props): VNode {
  return (
    <LongList
      label="Branches"
      items={digest.branches}
      render={({ leafId, text, size, at }) => (
        <>
          <a class="cut" title={text} href={toHash({ kind: 'session', id: session.id, entry: leafId })}>
            {text === '' ? 'Without words' : text}
          </a>
          <span class="fact-figures faint" title={toMoment(at)}>
            {toPlural(size, 'message')}
          </span>
        </>
      )}
    />
  )
}

/** Conversations that tool calls started. */
export function Subagents({ session }: { session: SessionSummary }): VNode {
  return (
    <LongList
      label="Subagents"
      items={session.subagents}
      render={({ id, description, agentType, size }) => (
        <>
          <a class="cut" href={toHash({ kind: 'session', id: session.id, subagent: id })}>
            {description ?? id}
          </a>
          <span class="fact-figures faint">
            {agentType === undefined ? '' : `${agentType} · `}
            {toSize(size)}
          </span>
        </>
      )}
    />
  )
}

/** What compactions took out of the window, one by one. */
export function Compactions({ session, digest }: Props): VNode {
  const compactions = digest.outline.filter((point) => point.kind === 'compaction')
  return (
    <LongList
      label="Compactions"
      items={compactions}
      render={({ id, at, trigger, ...sizes }) => (
        <>
          <a class="cut" href={toHash({ kind: 'session', id: session.id, entry: id })}>
            {toMoment(at) === '' ? 'Compaction' : toMoment(at)}
          </a>
          <span class="fact-figures faint">
            {trigger}
            {toCompactionSize(sizes) === '' ? null : ` · ${toCompactionSize(sizes)} tokens`}
          </span>
        </>
      )}
    />
  )
}
