import { createBilling, toCompactionFact } from '#model'
import type { BilledMessage, BillReader, FoundCompaction } from '../claude/usage-scan.ts'
import { readLinesWith } from './line-search.ts'

/** Lines that hold a bill, or say whose it is. */
const WORDS = [
  'token_usage_record',
  'token_count',
  'turn_context',
  'task_started',
  'session_meta',
  'compacted',
].map((word) => Buffer.from(`"${word}"`))

/**
 * Reads what the responses of a rollout cost, each once: from the record of each response, and in the files of older
 * versions from the sums after it. The turn's context before it names the model and the folder.
 */
export function createBillReader(): BillReader {
  return {
    async read(file) {
      const bills = new Map<string, BilledMessage>()
      const compactions = new Map<string, FoundCompaction>()
      const billing = createBilling()
      await readLinesWith(file, WORDS, (readings) => {
        for (const reading of readings) {
          if (reading.kind === 'damage') continue
          const { entry } = reading
          const { key, usage, model, workdir } = billing.add(entry) ?? {}
          if (key !== undefined && usage !== undefined)
            bills.set(key, { key, at: toMs(entry.at), model, workdir, usage })
          if (entry.kind === 'compaction') {
            const folder = entry.cwd ?? billing.setting.workdir
            const found = { ...toCompactionFact(entry), at: toMs(entry.at), workdir: folder }
            compactions.set(found.key, found)
          }
        }
      })
      return { messages: [...bills.values()], compactions: [...compactions.values()] }
    },
  }
}

function toMs(at: string | undefined): number | undefined {
  const ms = at === undefined ? Number.NaN : Date.parse(at)
  return Number.isNaN(ms) ? undefined : ms
}
