import { resolve } from 'node:path'
import type { Throughline } from '#app'
import { safeLine, safeText, toPlural } from '#render'
import type { WakeUpPreview } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'

/** `throughline wake-up` */
export async function wakeUp(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const prompt = values.value('prompt')
  const preview = await throughline.memory.wakeUp({
    workdir: resolve(values.value('workdir') ?? '.'),
    agent: values.value('agent') ?? 'claude',
    format: values.value('format') === 'md' ? 'md' : 'xml',
    ...(prompt === undefined ? {} : { prompt }),
    ...(values.flag('without-team') ? { team: false } : {}),
  })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(preview))
    return 0
  }
  if (preview.text === '') {
    console.say('There is nothing to tell: no session has ended here, and nothing is remembered.')
    console.say('next: remember something with `throughline remember`.')
  } else await console.out.write(`${safeText(preview.text)}\n`)
  if (values.flag('receipt')) for (const line of toReceipt(preview)) console.say(line)
  return 0
}

/** Every document and every stretch of messages, inside or not, with the reason. */
function toReceipt({ receipt }: WakeUpPreview): readonly string[] {
  const { documents, documentsLeft, messages, messagesLeft, budget, tokens, sessionId } = receipt
  return [
    `${tokens} of ${toPlural(budget.total, 'token')}, ${toPlural(receipt.characters, 'character')}`,
    ...(sessionId === undefined
      ? []
      : [`in: ${toPlural(messages.length, 'message')} of session ${safeLine(sessionId)}`]),
    ...messagesLeft.map(
      ({ from, to, count, reason }) =>
        `out: ${toPlural(count, 'message')} (${reason}), ${safeLine(from)} to ${safeLine(to)}`,
    ),
    ...documents.map(
      ({ id, section, tokens: each, form, author, machine = '' }) =>
        `in: ${safeLine(id)} (${section}, ${toPlural(each, 'token')}${form === 'short' ? ', its first line' : ''}${
          author === undefined ? '' : `, by ${safeLine(author)} on ${safeLine(machine)}`
        })`,
    ),
    ...documentsLeft.map(
      ({ id, section, reason, detail }) =>
        `out: ${safeLine(id)} (${section}): ${safeLine(detail ?? REASONS[reason])}`,
    ),
    ...(receipt.redacted === 0 ? [] : [`masked: ${toPlural(receipt.redacted, 'secret')}`]),
    ...(receipt.refused === undefined ? [] : ['refused: the texts of config.json alone are too long']),
  ]
}

const REASONS = {
  held: 'held back',
  expired: 'it has expired',
  'too-long': 'too long for one document',
  budget: 'no room was left',
  'not-redacted': 'it could not be searched for secrets',
  'contradiction-left-out': 'what contradicts it had no room',
} as const
