import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScriptedDriver } from '#drivers'
import { describeDriver, openTempDir } from '#testing'
import { readTranscripts } from './drivers-claude-place.ts'

describe('[DRV1] [DRV2] [DRV3] [DRV4] [DRV5] [DRV6] [DRV7] [DRV8] [DRV9] [DRV10] [DRV11] [DRV12] [DRV13] [DRV14] [DRV15] [DRV16] [DRV17] [DRV18] [DRV19] [DRV20] [DRV21] a driver', () => {
  describeDriver(
    { afterAll, beforeAll, describe, expect, test },
    {
      name: 'the scripted agent',
      open: async () => {
        const dir = await openTempDir()
        const folder = join(dir.path, 'projects')
        const workdir = join(dir.path, 'work')
        mkdirSync(workdir)
        return {
          driver: createScriptedDriver({ transcripts: folder, now: () => Date.now() }),
          workdir,
          env: { PATH: process.env['PATH'] ?? '', HOME: dir.path },
          transcripts: (sessionId) => readTranscripts(folder, sessionId),
          // It has no process of its own that could be killed: it is told to go.
          crash: async ({ agent }) => {
            await agent.interrupt()
            await agent.prompt({ id: 'the-end', blocks: [{ kind: 'text', text: '[[die]]' }] })
          },
          close: () => dir.remove(),
        }
      },
    },
  )
})
