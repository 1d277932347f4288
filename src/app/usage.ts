import { ThroughlineError } from '#base'
import { ownSince, transcriptsOf, type SessionSummary } from '#model'
import type { SessionIndex } from '#ingest'
import { createBillReader, openTranscript, type BillReader, type FileBills } from '#sources'
import { embeddedPrices, toUsageReport, type StoredBill, type StoredCompaction } from '#store'
import type { UsageReport, UsageRequest } from '#wire'
import { toBilled } from './samples-apart.ts'
import type { TeamSearch } from './team-search.ts'

/** What the index says that was spent, with the names sessions have now; with a team, on all of a person's machines. */
export async function indexedUsage(
  index: SessionIndex,
  {
    sessions,
    team,
  }: { readonly sessions: readonly SessionSummary[]; readonly team?: UsageElsewhere | undefined },
  request: UsageRequest,
): Promise<UsageReport> {
  const { leftOut, ofSamples } = toBilled(sessions)
  const report = await onMachines(await index.usage(request, leftOut), request, team)
  const told = ofSamples ? { ...report, ofSamples } : report
  if (request.by !== 'session') return told
  const names = new Map(sessions.map(({ id, name }) => [id, name]))
  return { ...told, rows: told.rows.map((row) => ({ ...row, name: names.get(row.key) })) }
}

type UsageElsewhere = Pick<TeamSearch, 'usage'>

/** Where the team does not answer, what this machine knows is better than nothing. */
async function onMachines(
  here: UsageReport,
  request: UsageRequest,
  team: UsageElsewhere | undefined,
): Promise<UsageReport> {
  if (team === undefined || request.machines !== 'mine') return here
  return await team.usage(request, here).catch((error: unknown): UsageReport => {
    const isAway = error instanceof ThroughlineError && error.code === 'index-unavailable'
    if (isAway) return { ...here, machines: 'this', complete: false }
    throw error
  })
}

/** What the transcripts say that was spent, read for nothing else. */
export async function scannedUsage(
  all: readonly SessionSummary[],
  request: UsageRequest,
): Promise<UsageReport> {
  const { billed: sessions, ofSamples } = toBilled(all)
  const reader = createBillReader()
  const bills: StoredBill[] = []
  const compactions: StoredCompaction[] = []
  let complete = true
  for (const [done, session] of sessions.entries()) {
    request.onProgress?.(done, sessions.length)
    for (const path of transcriptsOf(session)) {
      const found = await readBills(reader, path)
      complete &&= found !== undefined
      for (const message of found?.messages ?? []) {
        bills.push({ ...message, path, session: session.id, createdAt: ownSince(session) ?? '' })
      }
      for (const compaction of found?.compactions ?? []) compactions.push({ ...compaction, path })
    }
  }
  request.onProgress?.(sessions.length, sessions.length)
  const names = new Map(sessions.map(({ id, name }) => [id, name]))
  const report = toUsageReport(bills, request, {
    prices: embeddedPrices(),
    complete,
    compactions,
    nameOf: (id) => names.get(id),
  })
  return ofSamples ? { ...report, ofSamples } : report
}

async function readBills(reader: BillReader, path: string): Promise<FileBills | undefined> {
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
