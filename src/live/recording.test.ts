import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { parseJson, field } from '#base'
import { readJournal } from '#journal'
import { readBlocks, type Block, type MessageFact } from '#model'
import { createHandDriver, runs } from '#testing'
import { openRecording } from './recording.ts'
import { toRecordedDriver } from './recorded-driver.ts'

const folders: string[] = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'recording-'))
  folders.push(made)
  return made
}
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true })
})

async function linesOf(root: string): Promise<readonly unknown[]> {
  const [project = ''] = readdirSync(root)
  const [name = ''] = readdirSync(join(root, project)).filter((each) => each.endsWith('.jsonl'))
  const lines: unknown[] = []
  for await (const item of readJournal(join(root, project, name))) {
    if (item.kind === 'line') lines.push(item.value)
  }
  return lines
}

const text = fc.string({ unit: 'binary', maxLength: 40 })
const inner: fc.Arbitrary<Block> = fc.oneof(
  text.map((words): Block => ({ kind: 'text', text: words })),
  fc.tuple(text, text).map(([mediaType, data]): Block => ({
    kind: 'image',
    source: { kind: 'base64', mediaType, data },
  })),
)
const block: fc.Arbitrary<Block> = fc.oneof(
  inner,
  text.map((thinking): Block => ({ kind: 'thinking', thinking })),
  fc.tuple(text, text, fc.jsonValue()).map(([id, name, input]): Block => ({
    kind: 'tool-use',
    id,
    name,
    input: parseJson(JSON.stringify(input)),
  })),
  fc
    .tuple(text, fc.array(inner, { maxLength: 3 }), fc.boolean())
    .map(([toolUseId, content, isError]): Block => ({
      kind: 'tool-result',
      toolUseId,
      content,
      isError,
    })),
  text.map((data): Block => ({
    kind: 'document',
    source: { kind: 'text', mediaType: 'text/plain', text: data },
  })),
)

describe('recordings of agents that leave no transcript', () => {
  test('[LVS50] every message is written as it was said, each hanging from the one before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(block, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        async (said) => {
          const root = folder()
          const open = (): ReturnType<typeof openRecording> =>
            openRecording({
              folder: root,
              agent: 'codex',
              sessionId: 's1',
              workdir: '/work/shop',
              now: Date.now,
            })
          let recording = await open()
          for (const [index, blocks] of said.entries()) {
            // Gone on with by another host in the middle.
            if (index === 2) {
              await recording.close()
              recording = await open()
            }
            const role = index % 2 === 0 ? 'person' : 'agent'
            await recording.add({ kind: 'message', id: `id-${index}`, role, blocks })
          }
          await recording.close()
          const lines = await linesOf(root)
          expect(lines.map((line) => field(line, 'parentUuid'))).toEqual(
            said.map((_, index) => (index === 0 ? null : `id-${index - 1}`)),
          )
          const read = lines.map((line) => plain(readBlocks(field(field(line, 'message'), 'content'))))
          expect(read).toEqual(said.map(plain))
        },
      ),
      runs(30),
    )
  })

  test('[LVS51] messages are told under the ids that they have on disk', async () => {
    const root = folder()
    const hand = createHandDriver()
    const told: MessageFact[] = []
    let minted = 0
    const driver = toRecordedDriver(hand.driver, {
      folder: root,
      now: Date.now,
      mintId: () => `minted-${++minted}`,
      onTrouble: (message) => expect.unreachable(message),
    })
    expect(driver.can.writesTranscript).toBe(true)
    const agent = await driver.start({
      sessionId: 's1',
      workdir: '/work/shop',
      mode: 'default',
      trusted: false,
      env: {},
      onFact: (fact) => void (fact.kind === 'message' && told.push(fact)),
      ask: () => Promise.reject(new Error('nobody is here')),
    })
    hand.tell({ kind: 'message', id: 'p1', role: 'person', blocks: [{ kind: 'text', text: 'hello' }] })
    hand.tell({ kind: 'message', role: 'agent', blocks: [{ kind: 'text', text: 'hi' }] })
    await agent.close()
    const lines = await linesOf(root)
    expect(told.map(({ id }) => id)).toEqual(['p1', 'minted-1'])
    expect(lines.map((line) => field(line, 'uuid'))).toEqual(['p1', 'minted-1'])
  })
})

/** Without fields that are not there, as JSON has it. */
function plain(blocks: readonly Block[]): unknown {
  return parseJson(JSON.stringify(blocks))
}
