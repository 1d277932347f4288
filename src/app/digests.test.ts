import { appendFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Digest, SessionSummary } from '#model'
import {
  createLines,
  generateCorpus,
  openTempDir,
  runs,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDigests } from './digests.ts'
import { openThroughline } from './open-throughline.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const summary = (path: string, subagents: SessionSummary['subagents'] = []): SessionSummary => ({
  id: 's',
  agent: 'claude',
  path,
  size: 0,
  workdirs: [],
  workdirsComplete: true,
  subagents,
  toolResults: [],
  archived: false,
  state: 'ok',
})

const fresh = (session: SessionSummary): Promise<Digest> => createDigests().read(session)

describe('a digest', () => {
  test('[DIG5] has the facts of a survey, for every kind of session', async () => {
    const claudeDir = join(dir.path, 'claude')
    await generateCorpus({ dir: claudeDir, seed: 7, size: 'xs' })
    const throughline = await openThroughline({
      env: { THROUGHLINE_HOME: join(dir.path, 'home'), CLAUDE_CONFIG_DIR: claudeDir },
    })
    const { sessions } = await throughline.list()
    expect(sessions.length).toBeGreaterThan(10)
    for (const session of sessions) {
      if (session.state === 'unreadable') continue
      const { facts, outline, tools } = await throughline.digest(session)
      expect(facts).toEqual((await throughline.survey(session)).facts)
      expect(outline.filter(({ kind }) => kind === 'damage')).toHaveLength(facts.damage.length)
      expect(outline.filter(({ kind }) => kind === 'compaction')).toHaveLength(facts.compactions)
      expect(tools.reduce((sum, { calls }) => sum + calls, 0)).toBe(facts.toolCalls)
      const offsets = outline.map(({ offset }) => offset)
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b))
    }
    await throughline.close()
  })

  test('[DIG9] grown in pieces of any length, it is what a fresh read gives', async () => {
    const lines = createLines()
    const sub = createLines({ sessionId: 'sub' })
    const made = [
      lines.prompt('one'),
      lines.reply([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }]),
      lines.result('t1', 'ok ünïcode'),
      lines.prompt('two'),
      lines.system('compact_boundary', {
        parentUuid: null,
        compactMetadata: { trigger: 'auto', preTokens: 9 },
      }),
      lines.prompt('three'),
      lines.reply([{ type: 'text', text: 'done' }]),
    ]
    const whole = Buffer.from(
      toJsonl(made.slice(0, 3)) + '{"type":"user","uuid":"x"\n\n' + toJsonl(made.slice(3)),
    )
    const beside = Buffer.from(toJsonl([sub.prompt('a'), sub.reply([]), sub.reply([])]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 12 }),
        fc.nat(),
        async (cuts, at) => {
          const [path, other] = [join(dir.path, 'a.jsonl'), join(dir.path, 'b.jsonl')]
          await writeFile(path, '')
          await writeFile(other, '')
          const session = summary(path, [{ id: 'sub', path: other, size: 0 }])
          const digests = createDigests()
          let done = 0
          for (const cut of [...cuts, whole.length]) {
            await appendFile(path, whole.subarray(done, done + cut))
            done += cut
            if (done > at % whole.length) await writeFile(other, beside.subarray(0, 200 + (done % 900)))
            expect(await digests.read(session)).toEqual(await fresh(session))
          }
        },
      ),
      runs(60),
    )
  })

  test('[DIG9] an appended line costs a line, and nothing new costs nothing', async () => {
    const lines = createLines()
    const many = Array.from({ length: 3000 }, (_, n) => lines.prompt(`${n} ${'x'.repeat(600)}`))
    const path = await writeTranscript(dir.path, toJsonl(many))
    const meter = { bytesRead: 0 }
    const digests = createDigests(meter)
    const cost = async (): Promise<number> => {
      meter.bytesRead = 0
      await digests.read(summary(path))
      return meter.bytesRead
    }
    expect(await cost()).toBeGreaterThan(3_000_000)
    expect(await cost()).toBeLessThan(10_000)
    await appendFile(path, toJsonl([lines.prompt('one more')]))
    expect(await cost()).toBeLessThan(20_000)
    expect((await digests.read(summary(path))).facts.prompts).toBe(3001)
  })

  test('[DIG9] a file that was written anew, in place or under its name, is read anew', async () => {
    const digests = createDigests()
    const path = join(dir.path, 'a.jsonl')
    const texts = async (): Promise<readonly string[]> =>
      (await digests.read(summary(path))).outline.map((point) => (point.kind === 'prompt' ? point.text : ''))
    await writeFile(path, toJsonl([createLines().prompt('one'), createLines().prompt('two')]))
    await texts()
    await writeFile(
      path,
      toJsonl([createLines().prompt('another one'), createLines().prompt('one longer than two')]),
    )
    expect(await texts()).toEqual(['one longer than two'])
    await writeFile(`${path}.new`, toJsonl([createLines().prompt('three')]))
    await rename(`${path}.new`, path)
    expect(await texts()).toEqual(['three'])
  })

  test('[DIG9] only the last few sessions are kept', async () => {
    const meter = { bytesRead: 0 }
    const digests = createDigests(meter)
    const sessions = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const path = join(dir.path, `${n}.jsonl`)
        await writeFile(path, toJsonl([createLines().prompt('x'.repeat(100_000))]))
        return summary(path)
      }),
    )
    for (const session of sessions) await digests.read(session)
    const costs: number[] = []
    for (const session of sessions.toReversed()) {
      meter.bytesRead = 0
      await digests.read(session)
      costs.push(meter.bytesRead)
    }
    expect(costs.map((bytes) => bytes > 90_000)).toEqual([false, false, false, false, true, true])
  })

  test('[DIG9] many who ask at once are told the same, and it is read once', async () => {
    const path = await writeTranscript(dir.path, toJsonl([createLines().prompt('x'.repeat(500_000))]))
    const meter = { bytesRead: 0 }
    const digests = createDigests(meter)
    const all = await Promise.all(Array.from({ length: 8 }, () => digests.read(summary(path))))
    expect(new Set(all.map((digest) => JSON.stringify(digest))).size).toBe(1)
    expect(meter.bytesRead).toBeLessThan(1_300_000)
  })

  test('[DIG10] others get their turn while a large session is read', async () => {
    const lines = createLines()
    const many = Array.from({ length: 30_000 }, (_, n) => lines.prompt(`${n} ${'x'.repeat(500)}`))
    const path = await writeTranscript(dir.path, toJsonl(many))
    const delay = monitorEventLoopDelay({ resolution: 1 })
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    delay.enable()
    await fresh(summary(path))
    await new Promise((resolve) => setTimeout(resolve, 5))
    delay.disable()
    clearInterval(ticking)
    expect(turns).toBeGreaterThan(20)
    // A guard against one long step, with room for a slow machine.
    expect(delay.max / 1e6).toBeLessThan(500)
  })

  test('a transcript that is not there any more says so', async () => {
    const gone = summary(join(dir.path, 'nowhere.jsonl'))
    await expect(fresh(gone)).rejects.toMatchObject({ code: 'transcript-gone' })
  })
})
