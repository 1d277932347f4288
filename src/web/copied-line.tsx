import type { VNode } from 'preact'
import type { CopiedFrom } from '#model'
import { toClockTime, toMoment } from './age.ts'
import { Icon } from './icon.tsx'
import { toHash } from './route.ts'
import { toTitle } from './session-groups.ts'
import './style/copied-line.css'

/** Where what was copied ends: what it was copied from, and what was the last of it. */
export function CopiedLine({ from }: { from: CopiedFrom }): VNode {
  const { until } = from
  return (
    <p class="day-line copied-line">
      <Icon name="branch" />
      <span>
        {from.kind === 'forked' ? 'Forked from' : 'Repaired copy of'} <Origin from={from} />
        {until === undefined ? undefined : (
          <>
            {' at '}
            <time dateTime={until} title={toMoment(until)}>
              {toClockTime(until)}
            </time>
          </>
        )}
      </span>
    </p>
  )
}

function Origin({ from: { id, name, here } }: { from: CopiedFrom }): VNode {
  const title = toTitle({ id, name })
  return here === true ? <a href={toHash({ kind: 'session', id })}>{title}</a> : <span>{title}</span>
}

/** A repaired copy begins where the conversation in use begins: what came before is in the original alone. */
export function RepairedBeginning({ id }: { id: string }): VNode {
  return (
    <>
      The beginning of the repaired copy.{' '}
      <a href={toHash({ kind: 'session', id })}>Earlier history is in the original</a>
    </>
  )
}
