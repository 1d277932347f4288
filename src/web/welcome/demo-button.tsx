import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { toTrouble, type Trouble } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'

interface Props {
  readonly wanted: 'on' | 'off'
  readonly words: string
  readonly class: string
}

/** Puts the samples there, or takes them away. The list follows by itself. */
export function DemoButton({ wanted, words, class: name }: Props): VNode {
  const { say, throughline } = useShared()
  const [state, setState] = useState<'idle' | 'busy' | Trouble>('idle')
  async function press(): Promise<void> {
    setState('busy')
    try {
      await throughline.demo(wanted)
      setState('idle')
      say(wanted === 'on' ? 'The samples are in the list.' : 'The samples are gone.')
    } catch (error) {
      setState(toTrouble(error))
    }
  }
  return (
    <>
      <button type="button" class={name} disabled={state === 'busy'} onClick={() => void press()}>
        {state === 'busy' ? 'A moment…' : words}
      </button>
      {typeof state === 'object' && <TroubleNote trouble={state} again={() => void press()} />}
    </>
  )
}
