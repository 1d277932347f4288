import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { number, parseJson, string } from '#base'

/** Whether the dialog that a hook belongs to is still open in its terminal. */
type DialogState = 'open' | 'gone' | 'unknown'

export interface DialogWatch {
  /** Looks once. Once it was gone, it stays gone. */
  look(): DialogState
}

/** A dialog that was not seen for so long after the hook was started was answered before we looked. */
const UNSEEN_MS = 10_000

/**
 * Watches a dialog through the registry in which Claude Code says what it waits for: an answer in the terminal ends
 * the waiting, and nothing tells the hook of it. Where there is no registry, nothing is known.
 */
export function watchDialog(options: {
  /** Where the session's transcript is: `<config>/projects/<project>/<id>.jsonl`. */
  readonly transcript: string | undefined
  readonly sessionId: string
  readonly claudePid: string | undefined
  readonly now: () => number
}): DialogWatch {
  const { transcript, sessionId, claudePid, now } = options
  const startedAt = now()
  const file =
    transcript === undefined || claudePid === undefined || !/^\d+$/.test(claudePid)
      ? undefined
      : join(dirname(dirname(dirname(transcript))), 'sessions', `${claudePid}.json`)
  /** When the waiting began that is ours. Another one is another dialog. */
  let ours: number | undefined
  let state: DialogState = 'unknown'

  function next(): DialogState {
    const entry = file === undefined ? undefined : read(file)
    // It is written in place, and may be half there; a session that was cleared has another id.
    if (entry === undefined || string(entry, 'sessionId') !== sessionId) return state
    const since = number(entry, 'statusUpdatedAt') ?? 0
    const isWaiting = string(entry, 'status') === 'waiting'
    if (ours !== undefined) return isWaiting && since === ours ? 'open' : 'gone'
    if (isWaiting) {
      ours = since
      return 'open'
    }
    return now() - startedAt > UNSEEN_MS ? 'gone' : state
  }

  return {
    look() {
      if (state !== 'gone') state = next()
      return state
    },
  }
}

function read(file: string): unknown {
  try {
    return parseJson(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
