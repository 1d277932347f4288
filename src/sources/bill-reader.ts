import { createBillReader as createClaudeBillReader, type BillReader } from './claude/usage-scan.ts'
import { codexFormat } from './codex/read-line.ts'
import { createBillReader as createCodexBillReader } from './codex/usage-scan.ts'
import { formatOf } from './format-of.ts'

/** Reads what messages cost in transcripts of any agent. Whose lines they are is told by where the file lies. */
export function createBillReader(): BillReader {
  const claude = createClaudeBillReader()
  const codex = createCodexBillReader()
  return {
    read: async (file) => await (formatOf(file.path) === codexFormat ? codex : claude).read(file),
  }
}
