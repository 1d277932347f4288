import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { expectError, openTempDir, plantSecrets } from '#testing'
import { openMaskThread, type MaskThread } from './mask-thread.ts'

let thread: MaskThread | undefined
afterEach(async () => {
  await thread?.close()
})

test('[TEA41] lines are masked in a thread, in their order, while others have their turn', async () => {
  const opened = (thread = openMaskThread())
  const secrets = plantSecrets(5, 40).filter(({ sort }) => sort === 'issued')
  const lines = secrets.map(({ text }) => Buffer.from(`${JSON.stringify({ text })}\n`))
  let turns = 0
  const turning = setInterval(() => turns++, 1)
  const masked = await Promise.all(
    [...lines, Buffer.from(`"${'plain '.repeat(200_000)}"\n`)].map((line) => opened.mask(line)),
  )
  clearInterval(turning)
  expect(turns).toBeGreaterThan(3)
  expect(masked.slice(0, -1).map(({ length }) => length)).toEqual(lines.map(({ length }) => length))
  for (const [n, { secret }] of secrets.entries())
    expect(masked[n]?.toString()).not.toContain(JSON.stringify(secret).slice(1, -1))
})

test('[TEA41] a line that the thread dies of stays here, and those beside it do not; a thread that does not begin is nobody’s fault', async () => {
  const dir = await openTempDir()
  const program = join(dir.path, 'worker.mjs')
  writeFileSync(
    program,
    `import { parentPort } from 'node:worker_threads'
     parentPort.postMessage({ id: 0, lines: [] })
     parentPort.on('message', ({ id, lines }) => {
       if (lines.some((line) => Buffer.from(line).includes('deadly'))) process.exit(1)
       parentPort.postMessage({ id, lines: lines.map(() => ({ kind: 'clean' })) })
     })`,
  )
  const opened = (thread = openMaskThread(pathToFileURL(program)))
  const [one, two, three] = ['one\n', 'deadly\n', 'three\n'].map((text) => opened.mask(Buffer.from(text)))
  await expectError(two ?? Promise.resolve(), 'redaction-failed')
  expect(String(await one)).toBe('one\n')
  expect(String(await three)).toBe('three\n')
  const none = openMaskThread(pathToFileURL(join(dir.path, 'nothing.mjs')))
  await expectError(none.mask(Buffer.from('x\n')), 'internal')
  await none.close()
  await dir.remove()
})

test('[TEA41] what is asked for when it is closed is tried another time', async () => {
  const closed = openMaskThread()
  await closed.close()
  await expectError(closed.mask(Buffer.from('x\n')), 'internal')
})
