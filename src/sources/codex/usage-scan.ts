import { billKey, compactionKey, savedTokens } from '#model'
import type { BilledMessage, BillReader, FoundCompaction } from '../claude/usage-scan.ts'
import { readLinesWith } from './line-search.ts'

const WORDS = ['token_usage_record', 'turn_context', 'compacted'].map((word) => Buffer.from(`"${word}"`))

/**
 * Reads what the responses of a rollout cost, each once: from the record of each response, never from the sums that
 * Codex also writes. Which model it was, and where, the turn's context before it says.
 */
export function createBillReader(): BillReader {
  return {
    async read(file) {
      const bills = new Map<string, BilledMessage>()
      const compactions = new Map<string, FoundCompaction>()
      let model: string | undefined
      let workdir: string | undefined
      await readLinesWith(file, WORDS, (readings) => {
        for (const reading of readings) {
          if (reading.kind === 'damage') continue
          const { entry } = reading
          if (entry.kind === 'record' && entry.type === 'turn_context') {
            model = entry.value ?? model
            workdir = entry.cwd ?? workdir
          } else if (entry.kind === 'reply' && entry.usage !== undefined) {
            const key = billKey(entry)
            bills.set(key, { key, at: toMs(entry.at), model, workdir, usage: entry.usage })
          } else if (entry.kind === 'compaction') {
            const key = compactionKey(entry)
            compactions.set(key, { key, at: toMs(entry.at), workdir, tokens: savedTokens(entry.compaction) })
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
