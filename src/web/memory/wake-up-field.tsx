import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { safeText } from '#render'
import type { WakeUpPreview } from '#wire'
import { toTrouble } from '../answer.ts'
import { toTitle } from '../session-groups.ts'
import { useShared } from '../shared.ts'
import { useDocuments } from './document-store.ts'
import { ReceiptView } from './receipt-view.tsx'
import { describeReceipt } from './wake-up-strip.tsx'

/** What was typed rests for this long before it is composed again. */
const REST_MS = 500

interface Props {
  readonly isOn: boolean
  readonly workdir: string
  readonly agent: string | undefined
  readonly prompt: string
  readonly onChange: (isOn: boolean) => void
}

/** Whether a session begins with what the last one knew, and what that would be. */
export function WakeUpField({ isOn, workdir, agent, prompt, onChange }: Props): VNode {
  const { throughline, sessions } = useShared()
  const store = useDocuments()
  const preview = useSignal<WakeUpPreview | string | undefined>(undefined)
  const folder = workdir.trim()
  const words = prompt.trim()

  useEffect(() => {
    preview.value = undefined
    if (!isOn || folder === '') return undefined
    let isOld = false
    const timer = setTimeout(() => {
      const request = {
        workdir: folder,
        ...(agent === undefined ? {} : { agent }),
        ...(words === '' ? {} : { prompt: words }),
      }
      throughline.memory.wakeUp(request).then(
        (found) => !isOld && (preview.value = found),
        (error: unknown) => !isOld && (preview.value = toTrouble(error).message),
      )
    }, REST_MS)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [isOn, folder, agent, words])

  const nameOf = (id: string): string => {
    const session = sessions.value?.find((one) => one.id === id)
    return session === undefined ? id.slice(0, 8) : `“${toTitle(session)}”`
  }
  const found = preview.value
  return (
    <div class="wake-up-field">
      <label class="tick">
        <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
        Begin with what the last session knew
      </label>
      {!isOn || folder === '' ? null : found === undefined ? (
        <p class="soft small" role="status">
          Looking at what that is…
        </p>
      ) : typeof found === 'string' ? (
        <p class="soft small">{found}</p>
      ) : found.text === '' ? (
        <p class="soft small">Nothing is known of this folder yet.</p>
      ) : (
        <details class="memory-raw">
          <summary>{describeReceipt(found.receipt, { documents: store.documents.value, nameOf })}</summary>
          <ReceiptView receipt={found.receipt} links="off" />
          <pre tabIndex={0} aria-label="The exact text">
            {safeText(found.text)}
          </pre>
        </details>
      )}
    </div>
  )
}
