import type { Bench } from './bench.ts'
import { daemonPageRows } from './daemon-page-rows.ts'
import { daemonRows } from './daemon-rows.ts'
import { fanoutRows } from './fanout-rows.ts'
import { growthRows } from './growth-rows.ts'
import { indexRows } from './index-rows.ts'
import { liveRows } from './live-rows.ts'
import { peerRows } from './peer-rows.ts'
import { proxyRows } from './proxy-rows.ts'
import { recordingRows } from './recording-rows.ts'
import { redactionRows } from './redaction-rows.ts'
import { rememberingRows } from './remembering-rows.ts'
import { restoringRows } from './restoring-rows.ts'
import { runningRows } from './running-rows.ts'
import { listRows, memoryRows, pageRows, readRows, viewRows } from './rows.ts'
import { searchRows } from './search-rows.ts'
import type { Row } from './table.ts'
import { teamRows } from './team-rows.ts'
import { usageRows } from './usage-rows.ts'
import { webRows } from './web-rows.ts'

/** The parts of the table, by the names `--only` takes. The first one that needs an index builds it. */
export const PARTS: Readonly<Record<string, (bench: Bench) => Promise<readonly Row[]>>> = {
  list: listRows,
  pages: pageRows,
  view: viewRows,
  read: readRows,
  memory: memoryRows,
  index: indexRows,
  daemon: async (bench) => [...(await daemonRows(bench)), ...(await daemonPageRows(bench))],
  search: searchRows,
  usage: usageRows,
  live: liveRows,
  fanout: fanoutRows,
  running: runningRows,
  remembering: rememberingRows,
  redaction: redactionRows,
  recording: async (bench) => [...(await recordingRows(bench)), ...(await proxyRows(bench))],
  restoring: restoringRows,
  web: webRows,
  peers: peerRows,
  team: teamRows,
}

/** Those that are run when they are asked for by name: they take minutes. */
export const LONG_PARTS: typeof PARTS = { growth: growthRows }
