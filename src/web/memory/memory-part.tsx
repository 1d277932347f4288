import { signal, type Signal } from '@preact/signals'
import type { VNode } from 'preact'
import { parseDirectives, textOf, type Block } from '#model'
import type { MemoryPart, Picked } from '../memory-part.ts'
import type { Shared } from '../shared.ts'
import { workdirOf } from '../session-groups.ts'
import { findPickedPlace } from './picked-place.ts'
import { RememberDialog, type Rememberable } from './remember-dialog.tsx'
import { toShownText } from './signed-text.ts'
import { SelectionButton } from './selection-button.tsx'
import { WakeUpsElsewhere } from './wake-up-passage.tsx'

/** An agent's words as they are shown. */
function toShown(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.kind === 'text' ? [toShownText(parseDirectives(block.text))] : []))
    .join('\n\n')
}

function toText({ kind, blocks }: Picked['message']): string {
  return (kind === 'reply' ? toShown(blocks) : textOf(blocks)).trim()
}

/** Everything of a session page that has to do with memory. */
export function openMemoryPart(shared: Shared, sessionId: string): MemoryPart {
  const asked = signal<Rememberable | undefined>(undefined)

  function remember(picked: Picked): void {
    const session = shared.sessions.value?.find(({ id }) => id === sessionId)
    const card = shared.board.value.get(sessionId)
    const workdir = session === undefined ? card?.workdir : workdirOf(session)
    asked.value = {
      text: picked.text,
      at: findPickedPlace(picked, sessionId),
      ...(workdir === undefined || workdir === '' ? {} : { workdir }),
    }
  }

  return {
    toShown,
    remember,
    renderTop: () => <WakeUpsElsewhere sessionId={sessionId} />,
    renderOver: (find) => (
      <>
        <SelectionButton
          onRemember={(text, id) => {
            const message = find(id)
            if (message !== undefined) remember({ text: text ?? toText(message), message })
          }}
        />
        <Asked asked={asked} />
      </>
    ),
    close() {
      asked.value = undefined
    },
  }
}

function Asked({ asked }: { asked: Signal<Rememberable | undefined> }): VNode | null {
  if (asked.value === undefined) return null
  return <RememberDialog picked={asked.value} onClose={() => (asked.value = undefined)} />
}
