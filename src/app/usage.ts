import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import type { SessionIndex } from '#ingest'
import { openTranscript, type BilledMessage, type BillReader, type Source } from '#sources'
import { embeddedPrices, toUsageReport, type StoredBill } from '#store'
import type { UsageReport, UsageRequest } from '#wire'

/** What the index says that was spent, with the names sessions have now. */
export async function indexedUsage(
  index: SessionIndex,
  sessions: readonly SessionSummary[],
  request: UsageRequest,
): Promise<UsageReport> {
  const report = await index.usage(request)
  if (request.by !== 'session') return report
  const names = new Map(sessions.map(({ id, name }) => [id, name]))
  return { ...report, rows: report.rows.map((row) => ({ ...row, name: names.get(row.key) })) }
}

/** What the transcripts say that was spent, read for nothing else. */
export async function scannedUsage(
  source: Source,
  sessions: readonly SessionSummary[],
  request: UsageRequest,
): Promise<UsageReport> {
  const reader = source.createBillReader()
  const bills: StoredBill[] = []
  let complete = true
  for (const [done, session] of sessions.entries()) {
    request.onProgress?.(done, sessions.length)
    for (const path of [session.path, ...session.subagents.map((subagent) => subagent.path)]) {
      const messages = await readBills(reader, path)
      complete &&= messages !== undefined
      for (const message of messages ?? []) {
        bills.push({ ...message, path, session: session.id, createdAt: session.createdAt ?? '' })
      }
    }
  }
  request.onProgress?.(sessions.length, sessions.length)
  const names = new Map(sessions.map(({ id, name }) => [id, name]))
  return toUsageReport(bills, request, { prices: embeddedPrices(), complete, nameOf: (id) => names.get(id) })
}

async function readBills(reader: BillReader, path: string): Promise<readonly BilledMessage[] | undefined> {
  try {
    const file = openTranscript(path)
    try {
      return await reader.read(file)
    } finally {
      file.close()
    }
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined
    throw error
  }
}
