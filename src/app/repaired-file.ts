import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'

/**
 * Writes the lines of a mended session beside the old one, under its own id, whole or not at all. Sessions of agents
 * whose lines are not their own transcript cannot be mended in place: they are converted to the same agent instead.
 */
export async function writeRepaired(
  session: SessionSummary,
  id: string,
  lines: readonly string[],
): Promise<{ readonly path: string; readonly command: readonly string[] }> {
  const path = join(dirname(session.path), `${id}.jsonl`)
  const draft = `${path}.throughline-${String(process.pid)}`
  try {
    await writeFile(draft, lines.map((line) => `${line}\n`).join(''), {
      mode: 0o600,
      flush: true,
      flag: 'wx',
    })
    await rename(draft, path)
  } catch (cause) {
    throw new ThroughlineError('output-unwritable', `${path} could not be written`, {
      hint: 'Check free space and permissions of the folder.',
      cause,
    })
  }
  return { path, command: ['claude', '--resume', id] }
}
