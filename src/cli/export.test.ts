import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportSession as toExport, openThroughline, type LocalThroughline } from '#app'
import type { SessionSummary } from '#model'
import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createConsole } from './console.ts'
import { exportSession } from './export.ts'
import { writePieces } from './write-output.ts'

const SECRET = ['AK', 'IA', 'ABCDEFGHIJKLMNOP'].join('')

let dir: TempDir
let throughline: LocalThroughline
let session: SessionSummary

beforeEach(async () => {
  dir = await openTempDir()
  const claudeDir = join(dir.path, 'claude')
  await mkdir(claudeDir)
  await writeTranscript(claudeDir, toJsonl([createLines().prompt(`use ${SECRET} here`)]))
  const config = { home: join(dir.path, 'home'), claudeDir }
  throughline = await openThroughline({ env: { HOME: dir.path }, config })
  session = await throughline.get(SESSION)
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

test.each([
  [{ format: 'md' }, 'note: masked what looked like secrets: aws-key.', false],
  [{ format: 'html', secrets: 'keep' }, 'warning: secrets were not looked for', true],
  [{ format: 'jsonl' }, 'warning: the copy holds secrets (aws-key)', true],
])('[RED12] [RED13] [RED14] %j tells what it did', async (given, note, holds) => {
  const out = join(dir.path, 'out')
  const said: string[] = []
  const console = createConsole({
    out: { write: () => Promise.resolve(), flush: () => Promise.resolve() },
    stdout: { write: () => true },
    stderr: { write: (line) => said.push(line) },
    env: {},
    home: dir.path,
    now: 0,
  })
  const options = new Map(Object.entries({ ...given, out }))
  const values = {
    arg: session.id,
    args: [session.id],
    value: (name: string) => options.get(name),
    flag: () => false,
    all: () => [],
    count: () => undefined,
  }
  expect(await exportSession(throughline, values, console)).toBe(0)
  expect(said.at(-1)).toContain(note)
  expect((await readFile(out, 'utf8')).includes(SECRET)).toBe(holds)
})

test('[RED15] when secrets cannot be looked for, no half of a file stays behind', async () => {
  const out = join(dir.path, 'out.md')
  const redactor = (): never => {
    throw new Error('no')
  }
  const pieces = toExport(throughline, session, { format: 'md', redactor })
  await expect(writePieces(out, pieces, { force: false })).rejects.toThrow('nothing was exported')
  expect(existsSync(out)).toBe(false)
})
