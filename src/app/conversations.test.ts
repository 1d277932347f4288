import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, SessionSummary } from '#model'
import { formatOf } from '#sources'
import { createLines, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createConversations } from './conversations.ts'
import { openThroughline } from './open-throughline.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

const fixtures = join(import.meta.dirname, '../../test/fixtures/claude')

async function listIn(configDir: string): Promise<readonly SessionSummary[]> {
  const throughline = await openThroughline({
    env: { CLAUDE_CONFIG_DIR: configDir, THROUGHLINE_HOME: dir.path },
  })
  const { sessions } = await throughline.list()
  await throughline.close()
  return sessions
}

async function collect(parts: AsyncIterable<readonly Entry[]>): Promise<readonly (readonly Entry[])[]> {
  const all: (readonly Entry[])[] = []
  for await (const part of parts) all.push(part)
  return all
}

test.each(readdirSync(fixtures).filter((name) => name !== 'README.md'))(
  '[SRV24] in parts the conversation of %s is what it is whole',
  async (name) => {
    const whole = createConversations()
    const inParts = createConversations({ large: 0 })
    for (const session of await listIn(join(fixtures, name, 'config'))) {
      expect(formatOf(session.path).settle).toBeUndefined()
      const parts = await collect(inParts.conversationParts(session))
      expect(parts.flat()).toEqual(await whole.conversation(session))
    }
  },
)

test('[SRV24] [S09] a long conversation is read twice and never held: no part is larger than a piece of the file', async () => {
  const lines = createLines()
  const said = Array.from({ length: 4000 }, (_, n) =>
    n % 2 === 0 ? lines.prompt(`Question ${n}`) : lines.reply([{ type: 'text', text: 'word '.repeat(100) }]),
  )
  const config = join(dir.path, 'long')
  await writeTranscript(config, toJsonl(said))
  const [session] = await listIn(config)
  if (session === undefined) throw new Error('it is not listed')
  const meter = { bytesRead: 0 }
  const large = 256 * 1024
  const parts = await collect(createConversations({ meter, large }).conversationParts(session))
  expect(parts[0]).toEqual([])
  expect(parts.flat()).toHaveLength(4000)
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(800)
  expect(meter.bytesRead).toBeLessThan(session.size * 2.1)
})
