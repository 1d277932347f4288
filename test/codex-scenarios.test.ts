import { appendFileSync, cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCodexSource } from '#sources'
import { createRollout, openTempDir, outlineOf } from '#testing'
import { describe, expect, test } from 'vitest'
import { createSourceReader } from './source-reader.ts'

const fixtures = join(import.meta.dirname, 'fixtures/codex')

describe('real sessions of Codex 0.166.0, as golden files that were read against their rollouts', () => {
  test.each(readdirSync(fixtures))('[CDX1] %s reads as it was', async (scenario) => {
    const source = createCodexSource(join(fixtures, scenario))
    const reader = createSourceReader(source)
    const outlines: string[] = []
    for (const session of await reader.list()) outlines.push(await outlineOf(reader, session))
    expect((await source.list()).problems).toEqual([])
    await expect(outlines.join('\n')).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden/codex', `${scenario}.txt`),
    )
  })

  test('[CDX7] [E4.1] a turn that was killed is billed, and a resumed session goes on from there', async () => {
    const dir = await openTempDir()
    cpSync(join(fixtures, 'killed-midtool'), dir.path, { recursive: true })
    const reader = createSourceReader(createCodexSource(dir.path))
    const [killed] = await reader.list()
    const next = createRollout({ ordinal: 13 })
    const usage = { input_tokens: 1080, cached_input_tokens: 800, output_tokens: 20 }
    appendFileSync(killed?.path ?? '', next.reply('Back again') + next.bill('resp_fake_000065', usage))
    const [session] = await reader.list()
    await dir.remove()
    const { input = 0, cacheRead = 0 } = session?.facts?.usage ?? {}
    // What Codex itself sums up forgets the killed turn, and says 1080.
    expect(input + cacheRead).toBe(2120)
  })

  test('[CDX7] [READ16] a fork is billed for its own responses; the rest it inherited', async () => {
    const reader = createSourceReader(
      createCodexSource(join(fixtures, 'app-server-inject-compact-interrupt-fork')),
    )
    const [, fork] = await reader.list()
    const sum = ({ input = 0, cacheRead = 0, output = 0 } = {}): number => input + cacheRead + output
    // As Codex sums it up itself: its total begins with that of the session it was forked from.
    expect(sum(fork?.facts?.usage)).toBe(5630)
    expect(sum(fork?.facts?.inherited)).toBe(4500)
  })
})
