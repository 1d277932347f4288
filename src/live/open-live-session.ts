import { createRecord } from './audited-record.ts'
import { toIso } from './clock.ts'
import { createLiveSession } from './live-session.ts'
import { checkFirstMode, widestOf } from './permission-mode.ts'
import type { LiveSession, LiveSessionOptions } from './session-opening.ts'

/**
 * Begins a live session. When it resolves, its beginning is on disk, it is `pending`, and the agent is being started.
 * Rejects with `mode-not-allowed`, and with `journal-unwritable` when nothing of it could be written down.
 */
export async function openLiveSession(options: LiveSessionOptions): Promise<LiveSession> {
  const { driver, run, pid, journal, audit, before, clock, folderHash } = options
  const { sessionId, workdir, mode, model, resume, trusted } = options.start
  checkFirstMode({ mode, stored: before.mode, configured: options.widest })
  const at = toIso(clock)
  const record = createRecord(journal, audit)
  await record({
    kind: 'session.started',
    at,
    sessionId,
    agent: driver.agent,
    workdir,
    mode,
    model,
    resumed: resume?.sessionId,
    trusted,
    folderHash,
    run,
    pid,
  })
  return createLiveSession(options, { widest: widestOf(mode, options.widest), startedAt: at, record })
}
