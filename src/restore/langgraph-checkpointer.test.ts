import { readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { BaseCheckpointSaver, emptyCheckpoint, type CheckpointTuple } from '@langchain/langgraph-checkpoint'
import { validate } from '@langchain/langgraph-checkpoint-validation'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { openTempDir } from '#testing'
import { openCheckpointer } from './langgraph-checkpointer.ts'

const temp = await openTempDir()
afterAll(() => temp.remove())
let journals = 0
const newPath = (): string => join(temp.path, `checkpoints-${String(++journals)}.jsonl`)

// The suite is written for runners that have their words everywhere.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test })

describe('[NAT20] the conformance tests of LangGraph', () => {
  validate({
    checkpointerName: 'a journal',
    createCheckpointer: () => openCheckpointer(BaseCheckpointSaver, { path: newPath() }),
    destroyCheckpointer: (saver) => saver.close(),
  })
})

async function allOf(saver: BaseCheckpointSaver): Promise<readonly CheckpointTuple[]> {
  const found: CheckpointTuple[] = []
  for await (const tuple of saver.list({})) found.push(tuple)
  return found
}

const METADATA = { source: 'loop', step: 1, parents: {} } as const

describe('[NAT21] checkpoints on a journal', () => {
  test('[NAT21] what was acknowledged is there for the next process, in the same order', async () => {
    const path = newPath()
    const first = await openCheckpointer(BaseCheckpointSaver, { path })
    expect(first).toBeInstanceOf(BaseCheckpointSaver)
    let config: CheckpointTuple['config'] = { configurable: { thread_id: 't', checkpoint_ns: '' } }
    for (let step = 0; step < 3; step++) {
      const checkpoint = {
        ...emptyCheckpoint(),
        channel_values: { step, constant: 'said once' },
        channel_versions: { step: step + 1, constant: 1 },
      }
      const newVersions = step === 0 ? { step: 1, constant: 1 } : { step: step + 1 }
      config = await first.put(config, checkpoint, METADATA, newVersions)
      await first.putWrites(config, [['channel', { step }]], 'task')
    }
    const before = await allOf(first)
    await first.close()
    const second = await openCheckpointer(BaseCheckpointSaver, { path })
    expect(before.map(({ checkpoint }) => checkpoint.channel_values)).toEqual(
      [2, 1, 0].map((step) => ({ step, constant: 'said once' })),
    )
    expect((await readFile(path, 'utf8')).split('said once')).toHaveLength(2)
    expect(await allOf(second)).toEqual(before)
    expect(await second.getTuple({ configurable: { thread_id: 't' } })).toEqual(before[0])
    await second.close()
  })

  test('[NAT21] a line that a crash tore is no checkpoint, and those before it are', async () => {
    const path = newPath()
    const first = await openCheckpointer(BaseCheckpointSaver, { path })
    const config = { configurable: { thread_id: 't', checkpoint_ns: '' } }
    const kept = await first.put(config, emptyCheckpoint(), METADATA, {})
    const { length } = await readFile(path)
    await first.put(config, emptyCheckpoint(), METADATA, {})
    await first.close()
    await truncate(path, length + 20)
    const second = await openCheckpointer(BaseCheckpointSaver, { path })
    expect((await allOf(second)).map((tuple) => tuple.config)).toEqual([kept])
    await second.put(config, emptyCheckpoint(), METADATA, {})
    expect(await allOf(second)).toHaveLength(2)
    await second.close()
  })

  test('[NAT21] a deleted thread stays deleted, and lines are only ever added', async () => {
    const path = newPath()
    const first = await openCheckpointer(BaseCheckpointSaver, { path })
    const config = { configurable: { thread_id: 't', checkpoint_ns: '' } }
    await first.put(config, emptyCheckpoint(), METADATA, {})
    const before = await readFile(path, 'utf8')
    await first.deleteThread('t')
    expect(await first.getTuple(config)).toBeUndefined()
    await first.close()
    expect((await readFile(path, 'utf8')).startsWith(before)).toBe(true)
    const second = await openCheckpointer(BaseCheckpointSaver, { path })
    expect(await allOf(second)).toEqual([])
    await second.close()
  })

  test('[NAT21] one writer at a time', async () => {
    const path = newPath()
    const first = await openCheckpointer(BaseCheckpointSaver, { path })
    await expect(openCheckpointer(BaseCheckpointSaver, { path })).rejects.toMatchObject({
      code: 'journal-locked',
    })
    await first.close()
  })
})
