import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createGeminiSource, createOpencodeSource, type Source } from '#sources'
import { expect, test } from 'vitest'
import { openNativePlace } from './native-place.ts'
import { hasOpencode } from './opencode-program.ts'
import { outlinesOf } from './transcribed-place.ts'

const SCRIPT =
  '[[think hm]] [[say one moment]] [[tool Bash {"command":"echo from-the-tool"}]] [[with Bash {"command":"exit 3"}]] [[say all done]]'

/** Looks again and again while something runs. Gives everything that was seen of the first session. */
async function watch(source: Source, run: Promise<unknown>): Promise<readonly string[]> {
  const states: string[] = []
  let isOver = false
  const over = run.finally(() => {
    isOver = true
  })
  for (let isLast = false; !isLast;) {
    isLast = isOver
    const { sessions, problems } = await source.find()
    expect(problems).toEqual([])
    const [path] = sessions.map((files) => files.path)
    const text = path === undefined ? '' : readFileSync(path, 'utf8')
    if (text !== states.at(-1)) states.push(text)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await over
  return states
}

/** What was told stays told: each state begins with the one before. */
function expectGrowth(states: readonly string[]): void {
  expect(states.length).toBeGreaterThan(2)
  for (const [index, state] of states.entries()) {
    const before = states[index - 1] ?? ''
    expect(state.slice(0, before.length)).toBe(before)
  }
}

const PROMPT = /> person: text .*one moment/u

test.concurrent('[GEM10] [TRS4] a session of the real Gemini CLI is listed and read, and grows while it runs', async () => {
  const place = await openNativePlace()
  try {
    const dir = join(place.workdir, '../transcribed')
    const source = createGeminiSource(place.roots.gemini, dir)
    const options = ['-m', 'gemini-2.5-flash', '--skip-trust', '--yolo']
    expectGrowth(await watch(source, place.run('gemini', [...options, '-p', SCRIPT])))
    const outline = await outlinesOf(source)
    expect(outline).toMatch(PROMPT)
    expect(outline).toContain('< thinking "**Thinking** hm" + text "one moment" + tool-use + tool-use')
    expect(outline).toMatch(/run_shell_command .*echo from-the-tool.* -> done: .*Output: from-the-tool/u)
    expect(outline).toContain('< text "all done" [end_turn]')
    expect(outline).toContain('1 prompts, 2 replies, 2 calls, 1 turns, 0 compactions, 0 branches')
  } finally {
    await place.close()
  }
})

test
  .skipIf(!hasOpencode)
  .concurrent(
    '[OPC10] [TRS4] a session of the real opencode is listed and read, and grows while it runs',
    async () => {
      const place = await openNativePlace()
      try {
        const dir = join(place.workdir, '../transcribed')
        const dataDir = join(dirname(place.roots.gemini), '.local/share/opencode')
        const source = createOpencodeSource(dataDir, dir)
        expectGrowth(
          await watch(source, place.run('opencode', ['run', '-m', 'scripted/scripted-model', SCRIPT])),
        )
        const outline = await outlinesOf(source)
        expect(outline).toMatch(PROMPT)
        expect(outline).toContain('< thinking "hm" + text "one moment" + tool-use + tool-use')
        expect(outline).toMatch(/bash .*echo from-the-tool.* -> done: text "from-the-tool/u)
        expect(outline).toContain('< text "all done" [end_turn]')
        expect(outline).toContain('1 prompts, 2 replies, 2 calls, 1 turns, 0 compactions, 0 branches')
        expect(outline).toContain('"A scripted aside" from agent')
      } finally {
        await place.close()
      }
    },
  )
