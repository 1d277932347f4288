import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClaudeSource, createCodexSource } from '#sources'
import {
  createLines,
  expectError,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import { createRestoring } from './restoring.ts'
import { readEntries } from './session-entries.ts'
import type { ReadWritten } from './written-check.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

/** Writes a session with a call for Codex, which then is found as `read` finds it. */
async function convert(read: ReadWritten): Promise<unknown> {
  const claudeDir = join(temp.path, 'claude')
  const workdir = join(temp.path, 'work')
  mkdirSync(workdir)
  const lines = createLines({ cwd: workdir })
  await writeTranscript(
    claudeDir,
    toJsonl([
      lines.prompt('What is in it?'),
      lines.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }]),
      lines.result('toolu_1', 'a file'),
      lines.reply([{ type: 'text', text: 'A file.' }]),
    ]),
  )
  const restoring = createRestoring({
    home: join(temp.path, 'home'),
    get: async () => {
      const [session] = (await createClaudeSource(claudeDir).list()).sessions
      if (session === undefined) throw new Error('there is no session')
      return session
    },
    roots: { claude: claudeDir, codex: join(temp.path, 'codex'), gemini: join(temp.path, 'gemini') },
    run: async () => undefined,
    readWritten: read,
    onWritten: async () => undefined,
    mintId: () => 'minted',
    now: () => Date.UTC(2026, 10, 16),
  })
  return await restoring.convert(SESSION, { to: 'codex' })
}

test('[P14] a session that was written is read back, and taken when all of it is there', async () => {
  const read: ReadWritten = async (id) => {
    const { sessions } = await createCodexSource(join(temp.path, 'codex')).list()
    const written = sessions.find((session) => session.id === id)
    return written && (await readEntries(written.path))
  }
  expect(await convert(read)).toMatchObject({ isWritten: true })
})

test.each([
  ['it is not there', async () => undefined, /not where codex keeps/u],
  ['it is empty', async () => [], /the text is missing .*, and 3 more/u],
])('[P14] one of which less is found is told, whatever the agent would say: %s', async (_what, read, why) => {
  const error = await expectError(convert(read), 'history-not-loaded')
  expect(error.message).toMatch(why)
})
