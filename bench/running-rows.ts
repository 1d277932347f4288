import type { Bench } from './bench.ts'
import { missing } from './comparison.ts'
import { claudeRows } from './running-claude-rows.ts'
import { deviceRow } from './running-device-rows.ts'
import { hostRows, sessionMemoryRows } from './running-host-rows.ts'
import { openRunningPlace, type RunningPlace } from './running-place.ts'
import type { Row } from './table.ts'

type Measuring = (place: RunningPlace) => Promise<readonly Row[]>

const PIECES: Readonly<Record<string, Measuring>> = {
  'host: start': hostRows,
  'live session: memory': sessionMemoryRows,
  'words to devices': deviceRow,
  'prompt to first word': claudeRows,
}

/**
 * Agents that are run: what we add to the bare Agent SDK, between an agent and many devices, and to the memory. The
 * agents are the real Claude Code and the scripted one; the model is scripted, on this machine.
 */
export async function runningRows(_bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [name, measure] of Object.entries(PIECES)) {
    const place = await openRunningPlace()
    try {
      rows.push(...(await measure(place)))
    } catch (error) {
      rows.push(missing(name, error))
    } finally {
      await place.close()
    }
  }
  return rows
}
