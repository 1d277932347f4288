import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionSummary } from '#model'
import { findRecorder } from '#sources'
import type { Finding } from '#wire'

/** What a recording lacks beside its lines, and what was set aside of it. Nothing for any other session. */
export function checkRecording({ path, recorded, firstPrompt }: SessionSummary): readonly Finding[] {
  if (recorded?.as !== 'recording') return []
  const folder = dirname(path)
  const findings: Finding[] = setAside(folder).map((file) => ({
    severity: 'note',
    code: 'set-aside',
    message: 'bytes that a writer left unfinished when it was killed, set aside',
    hint: 'Nothing that was acknowledged is in them. Look at them, and delete them when you need them no more.',
    path: file,
  }))
  // Its end writes the one, and nothing is missing before that.
  const isHeld = findRecorder(path) !== undefined
  const hint = `Write it from the lines: \`throughline check --finish ${folderOf(folder)}\`.`
  if (firstPrompt !== undefined && !existsSync(join(folder, 'prompt.txt'))) {
    const message = 'the recording has no prompt.txt: its recorder was killed, or somebody deleted it'
    findings.push({ severity: 'warning', code: 'no-prompt', message, hint, path: join(folder, 'prompt.txt') })
  }
  if (!isHeld && !existsSync(join(folder, 'context.md'))) {
    const message = 'the recording has no context.md: it was never ended, or somebody deleted it'
    findings.push({
      severity: 'warning',
      code: 'no-context',
      message,
      hint,
      path: join(folder, 'context.md'),
    })
  }
  return findings
}

/** The working directory whose `.entire/metadata/<session>` this is. */
function folderOf(session: string): string {
  return join(session, '..', '..', '..')
}

function setAside(folder: string): readonly string[] {
  return [folder, join(folder, 'subagents')].flatMap((dir) => {
    try {
      return readdirSync(dir)
        .filter((name) => /\.jsonl\.torn-\d+/.test(name))
        .map((name) => join(dir, name))
    } catch {
      return []
    }
  })
}
