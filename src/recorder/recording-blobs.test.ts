import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isObject } from '#base'
import { createBlobStore, hashText, MAX_LINE_BYTES } from '#journal'
import { blobsOf } from '#model'
import { finishRecordings } from './finish.ts'
import { linesOf, openPlace } from './fixtures/recording-place.ts'
import { readRecordedLines, type RecordedLine } from './recorded-lines.ts'

const LONG = 'long text '.repeat(2_000)

async function read(path: string): Promise<readonly RecordedLine[]> {
  const lines: RecordedLine[] = []
  for await (const line of readRecordedLines(path)) lines.push(line)
  return lines
}

test('[E7.1] [REC19] large text is in files of its own, once, and is put back when it is read', async () => {
  const { record } = await openPlace()
  const recording = await record({ large: 'blobs' })
  const results = [
    { tool_use_id: 'a', content: LONG },
    {
      tool_use_id: 'b',
      content: [
        { type: 'text', text: LONG },
        { type: 'text', text: 'short' },
      ],
    },
  ]
  await recording.toolResult(results, { toolUseResult: { stdout: LONG } })
  const [line] = await linesOf(recording.path)
  expect(JSON.stringify(line).length).toBeLessThan(2_000)
  expect(readdirSync(join(recording.folder, 'blobs'))).toEqual([hashText(LONG)])
  expect(blobsOf(line).map(({ path }) => path)).toEqual([
    ['message', 'content', 0, 'content'],
    ['message', 'content', 1, 'content', 0, 'text'],
    ['toolUseResult', 'stdout'],
  ])
  const [whole] = await read(recording.path)
  expect(whole?.line).toMatchObject({
    message: { content: results.map((result) => ({ type: 'tool_result', ...result })) },
    toolUseResult: { stdout: LONG },
  })
  expect(whole?.line['blobs']).toBeUndefined()
  await recording.end()
})

test('[REC20] what no line can hold is in files of its own, whatever was asked for', async () => {
  const { record } = await openPlace()
  const recording = await record()
  const huge = 'x'.repeat(MAX_LINE_BYTES)
  await recording.user(huge)
  const many = Array.from({ length: 4_000 }, (_, n) => ({ type: 'text', text: `${n} ${'x'.repeat(9_000)}` }))
  await recording.assistant({ content: many })
  const [user, assistant] = await read(recording.path)
  expect(user?.line).toMatchObject({ message: { content: huge } })
  expect(Object(assistant?.line['message']).content.length).toBe(many.length)
  const [, stored] = await linesOf(recording.path)
  expect(isObject(stored) && JSON.stringify(stored).length < 2_000).toBe(true)
  await recording.end()
})

test('[REC21] a blob that is missing or was changed is told, and the rest is read', async () => {
  const { record } = await openPlace()
  const recording = await record({ large: 'blobs' })
  await recording.user(`${LONG}1`)
  await recording.user(`${LONG}2`)
  await recording.user('short')
  await recording.end()
  const blobs = createBlobStore(join(recording.folder, 'blobs'))
  rmSync(join(recording.folder, 'blobs', hashText(`${LONG}1`)))
  truncateSync(join(recording.folder, 'blobs', hashText(`${LONG}2`)), 5)
  expect(await blobs.read(hashText(`${LONG}1`))).toEqual({ damage: 'missing' })
  expect(await blobs.read(hashText(`${LONG}2`))).toEqual({ damage: 'changed' })
  expect(await blobs.read('../full.jsonl')).toEqual({ damage: 'missing' })
  expect((await read(recording.path)).map(({ missing }) => missing)).toEqual([1, 1, 0])
  // Whoever writes the same text again mends it.
  await blobs.put(hashText(`${LONG}2`), `${LONG}2`)
  expect((await read(recording.path)).map(({ missing }) => missing)).toEqual([1, 0, 0])
})

test('[REC22] a blob is removed when no line of the recording or its subagents needs it, and nobody writes', async () => {
  const { cwd, record } = await openPlace()
  const recording = await record({ large: 'blobs' })
  await recording.user(`${LONG}main`)
  const sub = await record({ large: 'blobs', subagentOf: { sessionId: recording.sessionId, agentId: 's' } })
  await sub.user(`${LONG}sub`)
  const folder = join(recording.folder, 'blobs')
  const stray = hashText('stray')
  writeFileSync(join(folder, stray), 'stray')
  writeFileSync(join(folder, `${stray}.0123456789ab.tmp`), 'st')
  writeFileSync(join(folder, 'notes.txt'), 'of somebody')
  await recording.end()
  // The subagent is still being written.
  expect(await finishRecordings(cwd)).toMatchObject([{ outcome: 'held' }])
  expect(existsSync(join(folder, stray))).toBe(true)
  await sub.end()
  expect(await finishRecordings(cwd)).toMatchObject([{ outcome: 'finished', swept: 1 }])
  expect(readdirSync(folder).toSorted()).toEqual(
    [hashText(`${LONG}main`), hashText(`${LONG}sub`), 'notes.txt'].toSorted(),
  )
  // A line that cannot be read may need any of them.
  writeFileSync(join(folder, stray), 'stray')
  writeFileSync(
    recording.path,
    `${readFileSync(recording.path, 'utf8')}{damaged\n${readFileSync(sub.path, 'utf8')}`,
  )
  expect(await finishRecordings(cwd)).toMatchObject([{ outcome: 'finished', swept: 0 }])
  expect(existsSync(join(folder, stray))).toBe(true)
})
