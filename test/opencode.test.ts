import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createOpencodeSource } from '#sources'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { outlinesOf, writeOpencode } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures/opencode')

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

describe('real sessions of opencode 1.18.33, as golden files that were read against their rows', () => {
  test.each(readdirSync(fixtures))('[OPC1] %s reads as it was', async (scenario) => {
    const fixture = join(fixtures, scenario)
    const isTree = existsSync(join(fixture, 'storage'))
    const dataDir = isTree ? fixture : join(temp.path, 'data')
    if (!isTree) writeOpencode(dataDir, fixture)
    const outlines = await outlinesOf(createOpencodeSource(dataDir, join(temp.path, 'opencode')))
    await expect(outlines).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden/opencode', `${scenario}.txt`),
    )
  })
})
