import type { VNode } from 'preact'
import { useShared } from '../shared.ts'
import { FirstVisit } from './first-visit.tsx'
import { StartPage } from './start-page.tsx'
import '../style/parts.css'
import './welcome.css'

/** What stands where no session was chosen: a calm start, or a first visit. */
export function Welcome(): VNode {
  const { sessions } = useShared()
  const all = sessions.value
  if (all === undefined) {
    return (
      <div class="view welcome" role="status" aria-label="Looking for sessions">
        <div class="ghost welcome-ghost" />
        <div class="ghost welcome-ghost wide" />
      </div>
    )
  }
  return all.length === 0 ? <FirstVisit /> : <StartPage sessions={all} />
}
