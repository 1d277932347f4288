import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { KnownWorkdir, LiveCalls } from '#wire'
import { toTrouble, type Trouble } from '../answer.ts'

/** Where a session is to continue: in its own folder while that exists, else in one that a person chooses. */
export interface ResumeFolder {
  /** Its own folder, once it is known not to exist. Empty when the session names none. */
  readonly gone: ReadonlySignal<string | undefined>
  /** Folders that exist, those of the latest sessions first. */
  readonly offers: ReadonlySignal<readonly string[]>
  readonly chosen: Signal<string>
  /** Why nothing can continue in the chosen folder. */
  readonly trouble: Signal<Trouble | undefined>
  /** Asks whether the folder exists, where that is not known yet. */
  look(workdirs: readonly string[]): Promise<void>
  /** The folder was refused: one has to be chosen. */
  refuse(workdirs: readonly string[]): void
  /** What to resume or fork with. Nothing while a person has to choose a folder first: `trouble` says so. */
  check(workdirs: readonly string[]): Promise<{ readonly workdir?: string } | undefined>
}

export function openResumeFolder(live: Pick<LiveCalls, 'folder' | 'workdirs'>): ResumeFolder {
  const known = signal<readonly KnownWorkdir[] | undefined>(undefined)
  const gone = signal<string | undefined>(undefined)
  const chosen = signal('')
  const trouble = signal<Trouble | undefined>(undefined)

  async function look([own]: readonly string[]): Promise<void> {
    if (known.value !== undefined) return
    // Not knowing, nobody is asked for another folder: the daemon refuses what cannot be.
    known.value = await live.workdirs().catch(() => undefined)
    if (own === undefined) gone.value = ''
    else if (known.value?.some(({ workdir, exists }) => workdir === own && !exists) === true) gone.value = own
  }

  return {
    gone,
    chosen,
    trouble,
    offers: computed(() => (known.value ?? []).flatMap(({ workdir, exists }) => (exists ? [workdir] : []))),
    look,
    refuse([own]) {
      gone.value ??= own ?? ''
    },
    async check(workdirs) {
      await look(workdirs)
      if (gone.value === undefined) return {}
      const workdir = chosen.value.trim()
      trouble.value = undefined
      if (workdir === '') {
        trouble.value = { message: 'Choose a folder to continue in.', hint: '' }
        return undefined
      }
      try {
        await live.folder(workdir)
        return { workdir }
      } catch (error) {
        trouble.value = toTrouble(error)
        return undefined
      }
    },
  }
}
