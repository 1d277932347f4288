import { appendFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { factsToCounts, renderDirective } from '#model'
import {
  createLines,
  idsOf,
  listen,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline

beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

async function open(index: boolean): Promise<void> {
  throughline = await openThroughline({
    index,
    restMs: 50,
    sweepMs: 100,
    env: {
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
}

async function told(): Promise<object> {
  const [session] = (await throughline.list()).sessions
  if (session === undefined) throw new Error('there is a session')
  const { facts } = await throughline.survey(session)
  const { hits, total } = await throughline.search({ q: 'quokkaberry' })
  const { total: spent } = await throughline.usage({ by: 'session' })
  return {
    counts: session.counts ?? (facts && factsToCounts(facts)),
    hits: hits.map(({ entry }) => entry.id),
    count: total.count,
    spent: spent.usage,
  }
}

test('[ING17] [AGT1] the last record of a file that ends without a newline is said alike with an index and without one', async () => {
  const lines = createLines()
  const asked = renderDirective('remember', { content: 'The port is 4321.' })
  const answer = lines.reply([{ type: 'text', text: `The quokkaberry answer is 4711. ${asked} Done.` }])
  const text = toJsonl([lines.prompt('What is it?'), answer])
  const path = await writeTranscript(join(dir.path, 'claude'), text.slice(0, -1))
  utimesSync(path, 1_700_000_000, 1_700_000_000)
  await open(false)
  const without = await told()
  expect(without).toMatchObject({ hits: [answer.uuid], spent: { input: 10, output: 5 } })
  await throughline.close()

  await open(true)
  await expect.poll(async () => (await throughline.health()).index.state).toBe('complete')
  expect(await told()).toEqual(without)
  // What the agent asked there to be remembered is.
  const remembered = async (): Promise<readonly string[]> =>
    (await throughline.memory.query({ type: 'learning' })).map(({ content }) => content)
  await expect.poll(remembered).toEqual(['The port is 4321.'])
  const listening = listen(throughline, { kind: 'session', id: SESSION })
  await listening.until((events) => idsOf(events).includes(answer.uuid))
  // Its newline comes, and more: nothing is told, found or billed twice.
  const more = lines.prompt('And now?')
  appendFileSync(path, `\n${toJsonl([more]).slice(0, -1)}`)
  await listening.until((events) => idsOf(events).includes(more.uuid))
  await throughline.settled()
  expect(idsOf(listening.events).filter((id) => id === answer.uuid)).toHaveLength(1)
  expect(await told()).toMatchObject({ hits: [answer.uuid], count: 1, spent: { input: 10, output: 5 } })
  expect(await told()).toMatchObject({ counts: { prompts: 2, replies: 1, entries: 3 } })
  expect(await remembered()).toHaveLength(1)
})
