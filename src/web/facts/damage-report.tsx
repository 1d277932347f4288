import type { VNode } from 'preact'
import type { CheckReport, Finding } from '#wire'
import { toHash } from '../route.ts'
import { LongList } from './long-list.tsx'

const WORDS: Readonly<Record<Finding['severity'], string>> = {
  error: 'Error',
  warning: 'Warning',
  note: 'Note',
}
const TAGS: Readonly<Record<Finding['severity'], string>> = { error: 'bad', warning: 'warn', note: '' }
const ORDER: readonly Finding['severity'][] = ['error', 'warning', 'note']

/** What is wrong with a session, worst first, each with its next step. */
export function DamageReport({ report }: { report: CheckReport }): VNode {
  const findings = report.findings.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
  if (findings.length === 0) return <p class="soft">Nothing is wrong with it: every line was read.</p>
  return (
    <LongList
      label="What is wrong"
      class="findings"
      items={findings}
      render={({ severity, code, message, hint, entryId }) => (
        <>
          <span class={`tag ${TAGS[severity]}`}>{WORDS[severity]}</span>
          <div>
            <p>
              {entryId === undefined ? (
                message
              ) : (
                <a href={toHash({ kind: 'session', id: report.session.id, entry: entryId })}>{message}</a>
              )}{' '}
              <code class="faint">{code}</code>
            </p>
            {hint !== '' && <p class="soft small">{hint}</p>}
          </div>
        </>
      )}
    />
  )
}
