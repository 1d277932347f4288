import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLines, eventually, openTempDir, toJsonl } from '#testing'
import { openThroughline } from './open-throughline.ts'

const ID = 'cccccccc-0000-4000-8000-000000000001'
/** No process has this number. */
const NOBODY = 2_147_483_000

test('[WAT12] a crash is no longer shown after the session was resumed here and ended in order, also after a restart', async () => {
  const temp = await openTempDir()
  onTestFinished(async () => await temp.remove())
  const home = join(temp.path, 'home')
  const claudeDir = join(temp.path, 'claude')
  const workdir = join(temp.path, 'work')
  for (const folder of [home, workdir, join(claudeDir, 'projects', '-work'), join(claudeDir, 'sessions')])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(
    join(claudeDir, 'projects', '-work', `${ID}.jsonl`),
    toJsonl([createLines({ sessionId: ID }).prompt('Find out why it fails')]),
  )
  const crash = { pid: NOBODY, sessionId: ID, procStart: '1', status: 'busy', updatedAt: Date.now() }
  writeFileSync(join(claudeDir, 'sessions', `${NOBODY}.json`), JSON.stringify(crash))
  const open = (index: boolean): ReturnType<typeof openThroughline> =>
    openThroughline({
      index,
      env: { PATH: process.env['PATH'], HOME: temp.path },
      config: { home, claudeDir },
    })

  const throughline = await open(true)
  try {
    expect((await throughline.get(ID)).live).toMatchObject({ pid: NOBODY, status: 'gone' })
    expect((await throughline.health()).sessions.live).toEqual([])
    await throughline.live.start({ agent: 'scripted', workdir, sessionId: ID })
    expect((await throughline.health()).sessions.live.map(({ id }) => id)).toEqual([ID])
    await throughline.live.end(ID)
    await eventually(async () => expect((await throughline.get(ID)).live).toBeUndefined())
  } finally {
    await throughline.close()
  }
  for (const index of [true, false]) {
    const later = await open(index)
    try {
      await eventually(async () => expect((await later.get(ID)).live).toBeUndefined())
      expect((await later.health()).sessions.live).toEqual([])
    } finally {
      await later.close()
    }
  }
})
