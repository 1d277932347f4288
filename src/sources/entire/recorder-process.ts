import { sep } from 'node:path'
import { entriesOf } from '../folders.ts'
import { lifeOf } from '../holder.ts'

/**
 * The process that records into this transcript right now, if one of this machine does. From the names in the folder
 * of its lock alone: nothing is opened, and nothing is tidied up.
 */
export function findRecorder(path: string): number | undefined {
  for (const { name } of entriesOf(`${path}.lock`)) {
    const pid = Number(/^held-[0-9a-f]{16}-(\d+)$/.exec(name)?.[1] ?? Number.NaN)
    const holder = {
      file: `${path}.lock${sep}${name}`,
      sessionId: '',
      pid,
      status: 'unknown',
      lastSeenMs: 0,
    } as const
    if (Number.isInteger(pid) && lifeOf(holder) === 'alive') return pid
  }
  return undefined
}
