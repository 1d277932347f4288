import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { claudeFormat, openTranscript, readConversation } from '#sources'
import {
  anyQueuedSession,
  createLines,
  openTempDir,
  readAll,
  runs,
  toJsonl,
  type QueuedSession,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from './block.ts'
import { createChain } from './chain.ts'
import { createTally, tallyEntry } from './counts.ts'
import { createDigestFold } from './digest-fold.ts'
import type { Entry } from './entry.ts'
import type { Passage } from './message.ts'
import { createPassageFold, toPassages } from './passages.ts'
import { createQueueTracker, findDelivered } from './queue.ts'
import { createSurvey } from './survey.ts'

let dir: TempDir
let path = ''
beforeAll(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'transcript.jsonl')
})
afterAll(() => dir.remove())

async function entriesOf(lines: readonly object[]): Promise<readonly Entry[]> {
  writeFileSync(path, toJsonl(lines))
  return (await readAll(path)).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

/** What a person said, as it is shown. */
function saidIn(passages: readonly Passage[]): readonly string[] {
  return passages.flatMap((passage) => {
    if (passage.kind === 'prompt') return [textOf(passage.blocks)]
    return passage.kind === 'command' ? [`${passage.command} ${passage.args}`] : []
  })
}

/** How often each of the typed texts is among these. */
function timesOf({ typed }: QueuedSession, said: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(typed.map((words) => [words, said.filter((one) => one.includes(words)).length]))
}

const once = ({ typed }: QueuedSession, less: readonly string[] = []): Readonly<Record<string, number>> =>
  Object.fromEntries(typed.map((words) => [words, less.includes(words) ? 0 : 1]))

test('[READ22] whatever a client writes of prompts that were typed while a turn ran, each is said once', async () => {
  await fc.assert(
    fc.asyncProperty(anyQueuedSession(), async (session) => {
      const entries = await entriesOf(session.lines)
      const readings = entries.map((entry) => ({ kind: 'entry', entry }) as const)
      const chain = createChain()
      const survey = createSurvey('s')
      const digest = createDigestFold('s')
      const queue = createQueueTracker()
      const tally = createTally()
      for (const entry of entries) {
        chain.add(entry)
        survey.addEntry(entry)
        digest.add({ kind: 'entry', entry })
        tallyEntry(tally, entry, { step: undefined, delivered: queue.add(entry) })
      }
      const way = chain.finish()
      // All of it at once, with and without knowing the rest of the session; and turn by turn.
      const whole = toPassages(readings, way)
      expect(timesOf(session, saidIn(whole))).toEqual(once(session))
      expect(saidIn(toPassages(readings, undefined))).toEqual(saidIn(whole))
      const fold = createPassageFold(way)
      const told = readings.flatMap((reading) => fold.add(reading) ?? [])
      expect(saidIn([...told, ...(fold.finish() ?? [])])).toEqual(saidIn(whole))
      expect(whole.some((passage) => passage.kind !== 'damage' && passage.offPath === true)).toBe(false)
      // Counted, and in the outline.
      const prompts = whole.filter(({ kind }) => kind === 'prompt').length
      expect([survey.finish().facts.prompts, tally.prompts]).toEqual([prompts, prompts])
      const { outline } = digest.finish()
      expect(outline.map((point) => (point.kind === 'prompt' ? point.text.split('\n')[0] : ''))).toEqual(
        whole.flatMap((passage) =>
          passage.kind === 'prompt' ? [textOf(passage.blocks).split('\n')[0]] : [],
        ),
      )
    }),
    runs(150),
  )
})

test('[READ22] what a conversation goes on with has each of them once, and none between a call and its result', async () => {
  await fc.assert(
    fc.asyncProperty(anyQueuedSession(), async (session) => {
      await entriesOf(session.lines)
      const file = openTranscript(path)
      const { entries } = await readConversation(file, claudeFormat)
      file.close()
      const said = entries.flatMap((entry) => {
        if (entry.kind === 'prompt') return [textOf(entry.blocks)]
        return entry.kind === 'command' ? [`${entry.command} ${entry.args}`] : []
      })
      expect(timesOf(session, said)).toEqual(once(session, session.unsent))
      for (const [nth, entry] of entries.entries()) {
        if (entry.kind !== 'result') continue
        expect(entries[nth - 1]?.kind).toBe('reply')
      }
    }),
    runs(100),
  )
})

describe('[READ22] queued words', () => {
  const lines = createLines()
  const queued = (content: string): object => ({ type: 'queue-operation', operation: 'enqueue', content })
  const withdrawn = (content?: string): object => ({ type: 'queue-operation', operation: 'popAll', content })
  const deliveredIn = async (...made: readonly object[]): Promise<number> =>
    findDelivered(await entriesOf(made)).size

  test('are delivered as they are, several of them together, as a command, or as a shell command', async () => {
    expect(await deliveredIn(queued(' a '), lines.prompt('a'))).toBe(1)
    expect(await deliveredIn(queued('a'), queued('b'), lines.prompt('a\nb'))).toBe(2)
    expect(
      await deliveredIn(
        queued('/do it'),
        lines.prompt('<command-name>/do</command-name><command-args>it</command-args>'),
      ),
    ).toBe(1)
    expect(await deliveredIn(queued('ls'), lines.prompt('<bash-input>ls</bash-input>'))).toBe(1)
    expect(await deliveredIn(queued('note'), lines.prompt('note', { isMeta: true }))).toBe(1)
  })

  test('are delivered once each: the same words typed twice are two prompts', async () => {
    expect(await deliveredIn(queued('yes'), queued('yes'), lines.prompt('yes'))).toBe(1)
    expect(await deliveredIn(queued('yes'), lines.prompt('yes'), queued('yes'))).toBe(1)
    expect(await deliveredIn(lines.prompt('yes'), queued('yes'))).toBe(0)
  })

  test('that were taken back and sent in the same words are one prompt', async () => {
    expect(await deliveredIn(queued('yes'), withdrawn('yes'), queued('yes'), lines.prompt('yes'))).toBe(2)
    expect(await deliveredIn(queued('yes'), withdrawn(), lines.prompt('yes, please'))).toBe(0)
  })

  test('of any length are told apart', async () => {
    const long = 'x'.repeat(5000)
    const other = `${long.slice(0, 2500)}y${long.slice(2501)}`
    expect(await deliveredIn(queued(long), lines.prompt(other))).toBe(0)
    expect(await deliveredIn(queued(long), lines.prompt(long))).toBe(1)
  })
})

test('[READ22] words that were queued on a branch are on that branch', async () => {
  const lines = createLines()
  const first = lines.prompt('one')
  const start = lines.reply([{ type: 'text', text: 'two' }])
  const left = [lines.prompt('left'), lines.reply([{ type: 'text', text: 'left too' }])]
  const queued = { type: 'queue-operation', operation: 'enqueue', content: 'queued on the branch' }
  const back = lines.prompt('back', { parentUuid: start.uuid })
  const chain = createChain()
  const entries = await entriesOf([
    first,
    start,
    ...left,
    queued,
    back,
    lines.reply([{ type: 'text', text: 'on' }]),
  ])
  for (const entry of entries) chain.add(entry)
  const way = chain.finish()
  const id = entries.find(({ type }) => type === 'queue-operation/enqueue')?.id ?? ''
  expect([way.path.includes(id), way.spine.has(id)]).toEqual([false, false])
  expect(way.ownOf(way.branches[0]?.leafId ?? '')).toEqual([...left.map(({ uuid }) => uuid), id])
})
