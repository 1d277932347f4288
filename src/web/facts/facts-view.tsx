import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionSummary } from '#model'
import { toCount, toPlural, toSize } from '#render'
import { DIGEST_COMMANDS, type Digest } from '#wire'
import { toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { DamageReport } from './damage-report.tsx'
import {
  Branches,
  Commands,
  Compactions,
  Counts,
  Files,
  KeyActions,
  Subagents,
  Tokens,
  Tools,
} from './facts-parts.tsx'
import { toKeyActions } from './key-actions.ts'
import { GoingOn } from './going-on.tsx'
import { Exports, Whereabouts } from './keeping.tsx'
import { Sharing } from './sharing.tsx'
import '../style/parts.css'
import './facts.css'

/** Everything that can be said about a session without reading it. */
export function FactsView({ session }: { session: SessionSummary }): VNode {
  const { throughline } = useShared()
  const [asked, setAsked] = useState(session.size)
  const digest = useAnswer(() => throughline.digest(session), [session.id])
  const check = useAnswer(() => throughline.check(session), [session.id])
  const isOlder = digest.answer.kind === 'there' && session.size !== asked
  function refresh(): void {
    setAsked(session.size)
    digest.again()
    check.again()
  }

  return (
    <div class="view facts-view">
      <header class="facts-head">
        <h1>Facts</h1>
        <p class="soft small">{toSpan(session)}</p>
        {isOlder && (
          <button type="button" class="button" onClick={refresh}>
            It has grown: look again
          </button>
        )}
      </header>
      {digest.answer.kind === 'waiting' && <Waiting size={session.size} />}
      {digest.answer.kind === 'failed' && (
        <TroubleNote trouble={digest.answer.trouble} again={digest.again} />
      )}
      <div class="facts-grid">
        {digest.answer.kind === 'there' && (
          <Part title="How much there is">
            <Counts digest={digest.answer.value} />
          </Part>
        )}
        <Part title="Is it whole?">
          {check.answer.kind === 'waiting' && <p class="soft">Looking…</p>}
          {check.answer.kind === 'failed' && (
            <TroubleNote trouble={check.answer.trouble} again={check.again} />
          )}
          {check.answer.kind === 'there' && <DamageReport report={check.answer.value} />}
        </Part>
        {digest.answer.kind === 'there' && <Read session={session} digest={digest.answer.value} />}
        <Part title="Go on with it">
          <GoingOn session={session} />
        </Part>
        <Sharing session={session} />
        <Part title="Where it is">
          <Whereabouts session={session} />
        </Part>
        <Part title="Keep a copy">
          <Exports session={session} />
        </Part>
      </div>
    </div>
  )
}

function Read({ session, digest }: { session: SessionSummary; digest: Digest }): VNode {
  const { facts, files, commands, tools, branches } = digest
  const unknown = Object.entries(facts.unknownTypes)
  const isCut = commands.length >= DIGEST_COMMANDS
  const actions = toKeyActions(digest)
  return (
    <>
      <Part title="Tokens">
        <Tokens digest={digest} />
      </Part>
      {actions.length > 0 && (
        <Part title="Key actions" count={actions.length}>
          <KeyActions session={session} actions={actions} />
        </Part>
      )}
      {files.length > 0 && (
        <Part title="Files" count={files.length}>
          <Files session={session} digest={digest} />
        </Part>
      )}
      {commands.length > 0 && (
        <Part
          title={isCut ? `The last ${toPlural(commands.length, 'command')}` : 'Commands'}
          count={isCut ? 0 : commands.length}
        >
          <Commands session={session} digest={digest} />
        </Part>
      )}
      {tools.length > 0 && (
        <Part title="Tools" count={tools.length}>
          <Tools digest={digest} />
        </Part>
      )}
      {session.subagents.length > 0 && (
        <Part title="Subagents" count={session.subagents.length}>
          <Subagents session={session} />
        </Part>
      )}
      {branches.length > 0 && (
        <Part title="Branches" count={branches.length}>
          <Branches session={session} digest={digest} />
        </Part>
      )}
      {facts.compactions > 0 && (
        <Part title="Compactions" count={facts.compactions}>
          <Compactions session={session} digest={digest} />
        </Part>
      )}
      {unknown.length > 0 && (
        <Part title="Lines of types nobody knows yet">
          <p class="soft small">
            They are kept as they are:{' '}
            {unknown.map(([type, count]) => `${type} (${toCount(count)})`).join(', ')}.
          </p>
        </Part>
      )}
    </>
  )
}

function Part(props: {
  readonly title: string
  readonly count?: number
  readonly children: ComponentChildren
}): VNode {
  const { title, count = 0, children } = props
  return (
    <section class="fact">
      <h2>
        {title} {count > 0 && <span class="faint">{toCount(count)}</span>}
      </h2>
      {children}
    </section>
  )
}

function Waiting({ size }: { size: number }): VNode {
  return (
    <div class="facts-waiting" role="status">
      <p class="soft">Reading all of it, {toSize(size)}…</p>
      <div class="ghost" />
      <div class="ghost" />
    </div>
  )
}

function toSpan({ createdAt, lastActivityAt }: SessionSummary): string {
  const [from, to] = [toMoment(createdAt), toMoment(lastActivityAt)]
  if (from === '' || to === '' || from === to) return from === '' ? to : from
  return `${from} – ${to}`
}
