import type { VNode } from 'preact'
import type { CopiedFrom } from '#model'
import { lazyView } from './lazy-view.tsx'

const RepairedBeginning = lazyView(async () => (await import('./copied-line.tsx')).RepairedBeginning, 'part')

/** A fork or a repaired copy: what came before is in another session too. */
export function isMadeHere(from: CopiedFrom | undefined): from is CopiedFrom {
  return from?.kind === 'forked' || from?.kind === 'repaired'
}

/** What stands above the first message. */
export function Beginning({ copiedFrom }: { copiedFrom: CopiedFrom | undefined }): VNode {
  return copiedFrom?.kind === 'repaired' && copiedFrom.here === true ? (
    <RepairedBeginning id={copiedFrom.id} />
  ) : (
    <>The beginning of the session</>
  )
}
