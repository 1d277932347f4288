import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Attention, SessionSummary } from '#model'
import type { BoardCard, Digest } from '#wire'
import { AttentionCard, SettledAttentionNote } from './attention-card.tsx'
import { announce } from './attention-words.ts'
import { safeLine } from '#render'
import { Composer } from './composer.tsx'
import { FolderField } from './folder-field.tsx'
import type { ResumeFolder } from './resume-folder.ts'
import type { LiveSession } from './live-session.ts'
import { WaitingPrompts } from './waiting-prompts.tsx'
import '../style/parts.css'
import './live.css'

/** A settled card is of interest this long. */
const STAYS_MS = 12_000

/**
 * What stands below a conversation, outside of it: what is asked, what waits, and where one writes. Nothing that a
 * session says can come over it.
 */
export function LiveDock(props: {
  live: LiveSession
  folder: ResumeFolder
  session: SessionSummary
  digest: Digest | undefined
  elsewhere: readonly Attention[]
  may: BoardCard['may']
}): VNode {
  const { live, folder, session, digest } = props
  const open = [...(live.view.value?.attentions ?? []), ...props.elsewhere]
  return (
    <div class="live-dock" role="region" aria-label="Live">
      <p class="unseen" aria-live="assertive">
        {open[0] === undefined ? '' : announce(open[0])}
      </p>
      <div class="live-column">
        <Settled live={live} />
        <Cards open={open} may={props.may} onAnswered={live.dismiss} />
        <WaitingPrompts live={live} folder={folder} workdirs={session.workdirs} />
        <ResumeFolderField live={live} folder={folder} />
        <Composer live={live} folder={folder} session={session} digest={digest} />
      </div>
    </div>
  )
}

/** Asks where a session is to continue whose folder does not exist, before anything is sent to it. */
function ResumeFolderField({ live, folder }: { live: LiveSession; folder: ResumeFolder }): VNode | null {
  const gone = folder.gone.value
  if (gone === undefined || live.where.value === 'live') return null
  return (
    <div class="resume-folder">
      <FolderField
        id="resume-folder"
        label={
          gone === '' ? (
            'This session names no folder. Continue in:'
          ) : (
            <>
              The folder <code>{safeLine(gone)}</code> does not exist on this machine. Continue in:
            </>
          )
        }
        value={folder.chosen.value}
        recent={folder.offers.value}
        trouble={folder.trouble.value}
        onChange={(workdir) => {
          folder.chosen.value = workdir
          folder.trouble.value = undefined
        }}
      />
    </div>
  )
}

/** One at a time, the oldest first. */
function Cards(props: {
  open: readonly Attention[]
  may: BoardCard['may']
  onAnswered: (attentionId: string) => void
}): VNode | null {
  const { open } = props
  const [first] = open
  if (first === undefined) return null
  const place = open.length > 1 ? { place: `1 of ${open.length}` } : {}
  return (
    <AttentionCard
      key={first.id}
      attention={first}
      {...place}
      may={props.may}
      onAnswered={(outcome) => {
        if (outcome.kind !== 'won') return
        props.onAnswered(first.id)
        moveOn(first.id)
      }}
    />
  )
}

/** Who answered by keyboard goes on with what is asked next, else with the page, whose keys work again. */
function moveOn(answered: string): void {
  if (matchMedia('(pointer: coarse)').matches) return
  setTimeout(() => {
    const focused = document.activeElement
    if (focused !== null && focused !== document.body && focused.closest('.attention') === null) return
    const next = document.querySelector(
      `.live-dock .attention:not([data-attention="${CSS.escape(answered)}"])`,
    )
    const place = next ?? document.querySelector('.conversation')
    if (place instanceof HTMLElement) place.focus({ preventScroll: true })
  }, 150)
}

function Settled({ live }: { live: LiveSession }): VNode | null {
  const last = live.settled.value.at(-1)
  const id = last?.attention.id
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    clearTimeout(timer.current)
    if (id !== undefined) timer.current = setTimeout(() => live.dismiss(id), STAYS_MS)
    return () => clearTimeout(timer.current)
  }, [id])
  if (last === undefined || id === undefined) return null
  return <SettledAttentionNote {...last} onDismiss={() => live.dismiss(id)} />
}
