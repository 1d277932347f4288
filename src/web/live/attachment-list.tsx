import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { safeLine, toSize } from '#render'
import { Icon } from '../icon.tsx'
import { checkTotal, readAttachment, type Attachment } from './attachment.ts'
import type { LiveSession } from './live-session.ts'
import { mintId } from './mint-id.ts'

/** What goes with the next prompt, and why something does not. */
export interface Attachments {
  readonly list: ReadonlySignal<readonly Attachment[]>
  readonly problems: ReadonlySignal<readonly string[]>
  add(files: Iterable<File>): Promise<void>
  remove(id: string): void
  clear(): void
}

export function useAttachments(live: LiveSession): Attachments {
  const all = useSignal<readonly Attachment[]>([])
  const problems = useSignal<readonly string[]>([])
  return {
    list: all,
    problems,
    async add(files) {
      problems.value = []
      const given = [...files]
      const images = live.view.peek()?.can.images !== false
      const read = await Promise.all(given.map((file) => readAttachment(file, { id: mintId(), images })))
      for (const one of read) {
        if (typeof one === 'string') problems.value = [...problems.value, one]
        else {
          const problem = checkTotal([...all.value, one])
          if (problem === undefined) all.value = [...all.value, one]
          else problems.value = [...problems.value, problem]
        }
      }
    },
    remove(id) {
      all.value = all.value.filter((one) => one.id !== id)
      problems.value = []
    },
    clear() {
      all.value = []
      problems.value = []
    },
  }
}

function Thumbnail({ picture }: { picture: Blob }): VNode {
  const address = useMemo(() => URL.createObjectURL(picture), [picture])
  useEffect(() => () => URL.revokeObjectURL(address), [address])
  return <img src={address} alt="" />
}

export function AttachmentList({ attachments }: { attachments: Attachments }): VNode | null {
  const { list, problems } = attachments
  if (list.value.length === 0 && problems.value.length === 0) return null
  return (
    <div class="attachments">
      {list.value.map(({ id, name, picture, size }) => (
        <span class="attachment" key={id}>
          {picture === undefined ? <Icon name="facts" /> : <Thumbnail picture={picture} />}
          <span class="ellipsis" title={safeLine(name)}>
            {safeLine(name)}
          </span>
          <span class="soft">{toSize(size)}</span>
          <button
            type="button"
            class="icon-button small"
            aria-label={`Remove ${safeLine(name)}`}
            onClick={() => attachments.remove(id)}
          >
            <Icon name="cross" />
          </button>
        </span>
      ))}
      {problems.value.map((words) => (
        <p class="attention-trouble" role="alert" key={words}>
          {words}
        </p>
      ))}
    </div>
  )
}
