import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createGeminiSource } from '#sources'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { outlinesOf } from './transcribed-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures/gemini')

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

describe('real sessions of Gemini CLI 0.61.0, as golden files that were read against their logs', () => {
  test.each(readdirSync(fixtures))('[GEM1] %s reads as it was', async (scenario) => {
    const outlines = await outlinesOf(createGeminiSource(join(fixtures, scenario), join(temp.path, 'gemini')))
    await expect(outlines).toMatchFileSnapshot(join(import.meta.dirname, 'golden/gemini', `${scenario}.txt`))
  })
})
