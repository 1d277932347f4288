import type { ComponentChildren, VNode } from 'preact'
import type { LeftMessages, WakeUpReceipt } from '#model'
import { toCount, toPlural } from '#render'
import { toHash } from '../route.ts'
import { useDocuments } from './document-store.ts'
import { LEFT_REASONS, toFirstWords, toHeldWords } from './document-words.ts'

interface Props {
  readonly receipt: WakeUpReceipt
  /** `off` where a person would be led away from what they are doing. */
  readonly links?: 'on' | 'off'
}

/** What a wake-up contained, what it left out, and why. */
export function ReceiptView({ receipt, links = 'on' }: Props): VNode {
  const { documents } = useDocuments()
  const wordsOf = (id: string): string => toFirstWords(documents.value.get(id)?.content ?? id)
  const { messages, messagesLeft, documentsLeft, sessionId } = receipt
  const said = messages.reduce((sum, { tokens }) => sum + tokens, 0)
  return (
    <div class="receipt">
      <p class="receipt-sum">
        {toCount(receipt.tokens)} of {toCount(receipt.budget.total)} tokens
        {receipt.redacted === 0 ? null : `, ${toPlural(receipt.redacted, 'secret')} masked`}
      </p>
      {receipt.refused === undefined ? null : (
        <p class="memory-held">The configured texts alone are longer than the budget: nothing was told.</p>
      )}
      {receipt.documents.length === 0 ? null : (
        <section>
          <h4>Remembered</h4>
          <ul>
            {receipt.documents.map(({ id, tokens, form, section }) => (
              <li key={id}>
                <Led to={toHash({ kind: 'memory', id })} links={links}>
                  {wordsOf(id)}
                </Led>
                <span class="receipt-note">
                  {section}
                  {form === 'short' ? ', shortened' : ''}
                </span>
                <span class="receipt-tokens">{toCount(tokens)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {messages.length === 0 ? null : (
        <section>
          <h4>Said before</h4>
          <ul>
            <li>
              {sessionId === undefined ? (
                <span>{toPlural(messages.length, 'message')}</span>
              ) : (
                <Led to={toHash({ kind: 'session', id: sessionId })} links={links}>
                  {toPlural(messages.length, 'message')} of the previous session
                </Led>
              )}
              <span class="receipt-note">{toShortened(receipt)}</span>
              <span class="receipt-tokens">{toCount(said)}</span>
            </li>
          </ul>
        </section>
      )}
      {documentsLeft.length + messagesLeft.length === 0 ? null : (
        <section class="receipt-left">
          <h4>Left out</h4>
          <ul>
            {messagesLeft.map((left) => (
              <li key={left.from}>
                <span>{toPlural(left.count, 'message')} of the previous session</span>
                <span class="receipt-note">{LEFT_MESSAGES[left.reason]}</span>
              </li>
            ))}
            {documentsLeft.slice(0, MOST).map(({ id, reason, detail }) => (
              <li key={id}>
                <Led to={toHash({ kind: 'memory', id })} links={links}>
                  {wordsOf(id)}
                </Led>
                <span class="receipt-note">
                  {detail === undefined ? LEFT_REASONS[reason] : toHeldWords(detail)}
                </span>
              </li>
            ))}
            {documentsLeft.length <= MOST ? null : (
              <li>
                <span class="soft">{toCount(documentsLeft.length - MOST)} more</span>
              </li>
            )}
          </ul>
        </section>
      )}
    </div>
  )
}

function Led(props: { to: string; links: 'on' | 'off'; children: ComponentChildren }): VNode {
  return props.links === 'on' ? <a href={props.to}>{props.children}</a> : <span>{props.children}</span>
}

const MOST = 50

const LEFT_MESSAGES: Readonly<Record<LeftMessages['reason'], string>> = {
  budget: 'no room left',
  'not-redacted': 'could not be checked for secrets',
}

function toShortened({ messages }: WakeUpReceipt): string {
  const count = messages.filter(({ form }) => form === 'shortened').length
  return count === 0 ? '' : `${toCount(count)} of them shortened`
}
