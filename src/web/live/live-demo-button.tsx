import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { toTrouble, useAnswer, type Trouble } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { mintId } from './mint-id.ts'

/** The scripted agent knows what to do with it. */
const SCRIPT = 'Show me what a live session is like.'

/** Starts a session that needs no account. Not there when this daemon has no such agent. */
export function LiveDemoButton({ class: name }: { class: string }): VNode | null {
  const { go, throughline } = useShared()
  const ids = useMemo(() => ({ session: mintId(), prompt: mintId() }), [])
  const { answer } = useAnswer(() => throughline.live.agents(), [])
  const [state, setState] = useState<'idle' | 'busy' | Trouble>('idle')
  const offer = answer.kind === 'there' ? answer.value.find(({ agent }) => agent === 'scripted') : undefined
  const workdir = offer?.demoFolder
  if (offer === undefined || offer.problem !== undefined || workdir === undefined) return null

  async function press(folder: string): Promise<void> {
    setState('busy')
    try {
      await throughline.live.start({
        agent: 'scripted',
        workdir: folder,
        sessionId: ids.session,
        mode: 'default',
        wakeUp: false,
        prompt: { id: ids.prompt, blocks: [{ kind: 'text', text: SCRIPT }] },
      })
      go({ kind: 'session', id: ids.session })
    } catch (error) {
      setState(toTrouble(error))
    }
  }

  return (
    <>
      <button type="button" class={name} disabled={state === 'busy'} onClick={() => void press(workdir)}>
        {state === 'busy' ? 'A moment…' : 'Try a live session'}
      </button>
      {typeof state === 'object' && <TroubleNote trouble={state} again={() => void press(workdir)} />}
    </>
  )
}
