import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRollout, openTempDir, ROLLOUT, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

test.each([false, true])(
  '[READ33] a call that the provider runs itself counts as a call, with an index: %s',
  async (index) => {
    const rollout = createRollout()
    const folder = join(dir.path, 'codex/sessions/2026/11/15')
    await mkdir(folder, { recursive: true })
    const lines = [
      rollout.meta(),
      rollout.prompt('look it up'),
      rollout.item({
        type: 'web_search_call',
        id: 'ws',
        status: 'completed',
        action: { type: 'search', query: 'q' },
      }),
      rollout.item({ type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' }),
      rollout.output('c1', 'done'),
    ]
    await writeFile(join(folder, `rollout-2026-11-15T07-25-13-${ROLLOUT}.jsonl`), lines.join(''))
    const throughline = await openThroughline({
      index,
      restMs: 20,
      env: {
        CODEX_HOME: join(dir.path, 'codex'),
        THROUGHLINE_HOME: join(dir.path, 'home'),
        CLAUDE_CONFIG_DIR: dir.path,
      },
    })
    if (index) await expect.poll(async () => (await throughline.health()).index.state).toBe('complete')
    const session = await throughline.get(ROLLOUT)
    const { facts } = await throughline.survey(session)
    expect(facts?.toolCalls).toBe(2)
    if (index) expect(session.counts?.toolCalls).toBe(2)
    const { outline } = await throughline.digest(session)
    expect(outline[0]).toMatchObject({ kind: 'prompt', toolCalls: 2 })
    await throughline.close()
  },
)
