import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline } from '#app'
import { outlineOf } from '#testing'
import { describe, expect, test } from 'vitest'

const fixtures = join(import.meta.dirname, 'fixtures/claude')
const scenarios = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, 'config/projects')))

describe('real sessions of Claude Code 2.1.325, as golden files that were read against their transcripts', () => {
  test.each(scenarios)('[READ1] %s reads as it was', async (scenario) => {
    const throughline = await openThroughline({
      env: { CLAUDE_CONFIG_DIR: join(fixtures, scenario, 'config') },
    })
    const { sessions, usage, problems } = await throughline.list({ full: true })
    const outlines: string[] = []
    for (const session of sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      outlines.push(await outlineOf(throughline, session))
    }
    outlines.push(`in all ${JSON.stringify(usage)}\n`)
    expect(problems).toEqual([])
    await expect(outlines.join('\n')).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden', `${scenario}.txt`),
    )
  })
})
