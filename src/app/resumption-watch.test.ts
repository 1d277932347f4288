import { appendFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClaudeSource } from '#sources'
import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { createResumptionWatch } from './resumption-watch.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

/** Goes on with a session by this line. Gives what somebody is told of it after each of two answers. */
async function goOn(write: (path: string) => void): Promise<readonly string[]> {
  const lines = createLines()
  const path = await writeTranscript(temp.path, toJsonl([lines.prompt('one'), lines.reply([])]))
  const [session] = (await createClaudeSource(temp.path).list()).sessions
  if (session === undefined) throw new Error('there is no session')
  const told: string[] = []
  const watch = createResumptionWatch((id, trouble) => void told.push(`${id} ${trouble}`))
  watch.resumed(session)
  await watch.answered({ sessionId: SESSION })
  write(path)
  await watch.answered({ sessionId: SESSION })
  await watch.answered({ sessionId: SESSION })
  return told
}

test('[P14] a resumed session whose next prompt hangs from nothing is said to have forgotten all before it', async () => {
  const told = await goOn((path) => appendFileSync(path, toJsonl([createLines().prompt('two')])))
  expect(told).toEqual([expect.stringContaining(`${SESSION} It went on without what was said before`)])
})

test('[P14] one whose next prompt hangs from what was there is not', async () => {
  const told = await goOn((path) => {
    const lines = createLines()
    lines.prompt('one')
    appendFileSync(path, toJsonl([lines.prompt('two')]))
  })
  expect(told).toEqual([])
})

test.each([
  ['go on', [expect.stringContaining('It went on as another session, other')]],
  ['/clear', []],
])(
  '[P14] one that goes on under another id is said to, unless that was asked for: %s',
  async (words, expected) => {
    const path = await writeTranscript(temp.path, toJsonl([createLines().prompt('one')]))
    const [session] = (await createClaudeSource(temp.path).list()).sessions
    if (session === undefined) throw new Error(`there is no session in ${path}`)
    const told: string[] = []
    const watch = createResumptionWatch((_id, trouble) => void told.push(trouble))
    watch.resumed(session)
    const prompt = { kind: 'message', role: 'person', blocks: [{ kind: 'text', text: words }] } as const
    const turn = { startedAt: '', messages: [prompt], dropped: 0, streaming: [] }
    await watch.answered({ sessionId: SESSION, agentSessionId: 'other', turn })
    await watch.answered({ sessionId: SESSION, agentSessionId: 'other', turn })
    expect(told).toEqual(expected)
  },
)
