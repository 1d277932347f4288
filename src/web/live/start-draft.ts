import type { PermissionMode, SessionSummary } from '#model'
import type { KnownWorkdir } from '#wire'
import type { Route } from '../route.ts'
import { workdirOf } from '../session-groups.ts'

/** What a person has said so far about a session that they want to start. */
export interface StartDraft {
  readonly agent: string
  readonly workdir: string
  readonly mode: PermissionMode
  readonly model: string
  readonly prompt: string
  /** Whether it begins with what the last session knew. */
  readonly wakeUp: boolean
}

const RECENT = 8

/** A dialog that is closed by mistake is opened again with every word in it. */
let kept: StartDraft | undefined

/** Whether a dialog was open before: what it says of the folder is what a person left there. */
export function hasDraft(): boolean {
  return kept !== undefined
}

export function keepDraft(draft: StartDraft): void {
  kept = draft
}

/** What was said before, in the folder of the session that is looked at, else where the last work was. */
export function findDraft(sessions: readonly SessionSummary[], route: Route): StartDraft {
  const shown = route.kind === 'session' ? sessions.find(({ id }) => id === route.id) : undefined
  const workdir = shown === undefined ? (kept?.workdir ?? toWorkdirs(sessions)[0] ?? '') : workdirOf(shown)
  const draft = kept ?? { agent: 'claude', mode: 'default', model: '', prompt: '', wakeUp: true }
  return { ...draft, workdir }
}

/** Folders in which somebody worked, the latest first, without those known to be gone. Those of samples are nowhere. */
export function toWorkdirs(
  sessions: readonly SessionSummary[],
  known: readonly KnownWorkdir[] = [],
): readonly string[] {
  const gone = new Set(known.flatMap(({ workdir, exists }) => (exists ? [] : [workdir])))
  const real = sessions.filter(({ demo, origin }) => demo !== true && origin === undefined)
  const names = [...new Set(real.map(workdirOf))]
  return names.filter((workdir) => workdir !== '' && !gone.has(workdir)).slice(0, 50)
}

/** Those that have what was typed in them, or the latest when one of them is typed already. */
export function toSuggestions(recent: readonly string[], typed: string): readonly string[] {
  const words = typed.trim().toLowerCase()
  const isOne = words === '' || recent.some((workdir) => workdir.toLowerCase() === words)
  const found = isOne ? recent : recent.filter((workdir) => workdir.toLowerCase().includes(words))
  return found.slice(0, RECENT)
}
