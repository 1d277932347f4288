import type { VNode } from 'preact'
import type { Notice, Problem } from '#wire'
import { toAge, toMoment } from '../age.ts'

/** What could not be looked at, and what to do about it. */
export function Problems({ problems }: { problems: readonly Problem[] }): VNode | null {
  if (problems.length === 0) return null
  return (
    <section>
      <h2>What could not be looked at</h2>
      <ul class="remarks">
        {problems.slice(0, 20).map(({ path, message, hint }) => (
          <li key={path}>
            <p>
              <code>{path}</code>
            </p>
            <p>{message}</p>
            {hint !== '' && <p class="soft small">{hint}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What the daemon wants a person to know, the latest first. */
export function Notices({ notices, now }: { notices: readonly Notice[]; now: number }): VNode | null {
  if (notices.length === 0) return null
  return (
    <section>
      <h2>Good to know</h2>
      <ul class="remarks">
        {notices
          .toReversed()
          .slice(0, 5)
          .map(({ at, message, hint }) => (
            <li key={`${at} ${message}`}>
              <p>
                {message}{' '}
                <time class="faint small" dateTime={at} title={toMoment(at)}>
                  {toAge(at, now)}
                </time>
              </p>
              {hint !== '' && <p class="soft small">{hint}</p>}
            </li>
          ))}
      </ul>
    </section>
  )
}
