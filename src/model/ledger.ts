import type { Bill } from './billing.ts'
import type { ReplyEntry } from './entry.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

/**
 * Counts tokens once. A message is written as several lines that all repeat its usage, may be copied into forked
 * sessions, and its last line has the final figures: so it is keyed by message and request, and the last value wins.
 */
export interface UsageLedger {
  /** Says whether another session has already been billed for this message. */
  add(bill: Pick<Bill, 'key' | 'usage'>, owner: string): 'own' | 'inherited'
  total(): Usage
}

export function createLedger(): UsageLedger {
  const bills = new Map<string, { readonly owner: string; usage: Usage }>()
  return {
    add({ key, usage }, owner) {
      const bill = bills.get(key)
      if (bill === undefined) bills.set(key, { owner, usage: usage ?? NO_USAGE })
      else if (bill.owner === owner) bill.usage = usage ?? bill.usage
      else {
        // A copy may have the line with the final figures where the original was torn: they only ever grow.
        if (usage && usage.output > bill.usage.output) bill.usage = usage
        return 'inherited'
      }
      return 'own'
    },
    total() {
      let total = NO_USAGE
      for (const { usage } of bills.values()) total = addUsage(total, usage)
      return total
    },
  }
}

/** A line without a message id stands for itself. */
export function billKey(entry: ReplyEntry): string {
  return entry.messageId === undefined ? `line:${entry.id}` : `${entry.messageId} ${entry.requestId ?? ''}`
}
