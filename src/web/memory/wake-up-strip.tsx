import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { parseWakeUp, type MemoryDocument, type WakeUpReceipt } from '#model'
import { safeText, toCount, toPlural } from '#render'
import type { KeptWakeUp } from '#wire'
import { toMoment } from '../age.ts'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import { toTitle } from '../session-groups.ts'
import { useDocuments } from './document-store.ts'
import { TYPE_NAMES } from './document-words.ts'
import { ReceiptView } from './receipt-view.tsx'
import '../style/parts.css'
import './told.css'
import './memory.css'

/**
 * Wake-ups that a person has opened. The prompt of a live session is another row once the agent has written it down,
 * and what was opened before stays open.
 */
const OPENED = new Set<string>()

/** What a session began with, on one line; opened, the receipt and the exact text. */
export function WakeUpStrip({ text, kept }: { text: string; kept: KeptWakeUp | undefined }): VNode {
  const [isOpen, setOpen] = useState(OPENED.has(text))
  const { sessions } = useShared()
  const store = useDocuments()
  const nameOf = (id: string): string => {
    const session = sessions.value?.find((one) => one.id === id)
    return session === undefined ? id.slice(0, 8) : `“${toTitle(session)}”`
  }
  const toggle = (open: boolean): void => {
    if (open) OPENED.add(text)
    else OPENED.delete(text)
    setOpen(open)
  }
  const words =
    kept === undefined
      ? describeText(text, nameOf)
      : describeReceipt(kept.receipt, { documents: store.documents.value, nameOf })
  return (
    <details class="wake-up" open={isOpen} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>
        <Icon name="chevron" />
        <span>
          <b>Woke up knowing:</b> {words}
        </span>
      </summary>
      {isOpen ? (
        <div class="wake-up-inside">
          {kept === undefined ? (
            <p class="soft small">There is no receipt of it here: it was composed elsewhere.</p>
          ) : (
            <>
              <p class="soft small">
                {WAYS[kept.way]}, {toMoment(kept.at)}
              </p>
              <ReceiptView receipt={kept.receipt} />
            </>
          )}
          <details class="memory-raw">
            <summary>The exact text</summary>
            <pre tabIndex={0}>{safeText(kept?.text ?? text)}</pre>
          </details>
        </div>
      ) : null}
    </details>
  )
}

const WAYS: Readonly<Record<KeptWakeUp['way'], string>> = {
  prompt: 'Given as its first message',
  hook: 'Given by the plugin',
  mcp: 'Asked for by the agent',
}

/** `3 learnings, 24 messages of “Fix the clock” (3,412 tokens)`. */
export function describeReceipt(
  receipt: WakeUpReceipt,
  of: {
    readonly documents: ReadonlyMap<string, MemoryDocument>
    readonly nameOf: (sessionId: string) => string
  },
): string {
  const counts = new Map<string, number>()
  for (const { id, section } of receipt.documents) {
    const type = of.documents.get(id)?.type ?? (section === 'teaching' ? 'teaching' : 'learning')
    const name = TYPE_NAMES[type].toLowerCase()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const { sessionId, messages, tokens } = receipt
  const parts = [
    ...[...counts].map(([name, count]) => toPlural(count, name)),
    ...(messages.length === 0
      ? []
      : [
          `${toPlural(messages.length, 'message')}${sessionId === undefined ? '' : ` of ${of.nameOf(sessionId)}`}`,
        ]),
  ]
  const what = parts.length === 0 ? 'how to remember' : parts.join(', ')
  return `${what} (${toCount(tokens)} tokens)`
}

/** The same, as far as the text itself tells. */
function describeText(text: string, nameOf: (sessionId: string) => string): string {
  const parts = parseWakeUp(text)
  const items = (parts?.contexts ?? []).reduce((sum, { items: some }) => sum + some.length, 0)
  const lines = (parts?.transcript?.lines ?? []).filter((line) => 'text' in line).length
  return [
    ...(items === 0 ? [] : [toPlural(items, 'document')]),
    ...(lines === 0
      ? []
      : [`${toPlural(lines, 'message')} of ${nameOf(parts?.transcript?.sessionId ?? '')}`]),
  ].join(', ')
}
