import { join } from 'node:path'
import { factsToCounts, textOf, type SessionSummary } from '#model'
import { toTerminal } from '#render'
import {
  createLines,
  joinPieces,
  openTempDir,
  SESSION,
  toJsonl,
  writeTranscript,
  type LineMaker,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import { exportSession } from './session-export.ts'
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

const queue = (operation: string, content?: unknown): object => ({
  type: 'queue-operation',
  operation,
  timestamp: '2026-11-15T08:00:30.000Z',
  sessionId: SESSION,
  ...(content === undefined ? {} : { content }),
})

/** A turn in which `kumquat` is typed while a tool runs, as clients of some version write it. */
function turn(lines: LineMaker, meanwhile: (words: string) => readonly object[]): readonly object[] {
  return [
    lines.prompt('begin'),
    lines.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }]),
    queue('enqueue', 'look at the kumquat'),
    lines.result('toolu_1', 'done'),
    ...meanwhile('look at the kumquat'),
    lines.reply([{ type: 'text', text: 'ok' }]),
  ]
}

const VERSIONS: readonly (readonly [string, (lines: LineMaker, words: string) => readonly object[]])[] = [
  ['2.0.50, absorbed by the turn', () => []],
  ['2.0.64, absorbed by the turn', () => [queue('remove')]],
  ['2.1.20, when the turn is over', (lines, words) => [queue('dequeue'), lines.prompt(words)]],
  [
    '2.1.133, absorbed by the turn',
    (lines, words) => [
      queue('remove'),
      lines.attachment('queued_command', { attachment: { type: 'queued_command', prompt: words } }),
    ],
  ],
  [
    '2.1.280, absorbed by the turn',
    (lines, words) => [
      lines.attachment('queued_command', {
        attachment: { type: 'queued_command', prompt: [{ type: 'text', text: words }], source_uuid: 'q1' },
      }),
      { ...queue('remove', words), reason: 'absorbed_mid_turn', commandUuid: 'q1' },
    ],
  ],
]

async function open(index: boolean): Promise<SessionSummary> {
  throughline = await openThroughline({
    index,
    restMs: 20,
    env: {
      CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
      THROUGHLINE_HOME: join(dir.path, 'home'),
      THROUGHLINE_ARCHIVE: 'off',
    },
  })
  if (index) await expect.poll(async () => (await throughline.health()).index.state).toBe('complete')
  return await throughline.get(SESSION)
}

/** How often a word is said on each way out. */
async function timesSaid(session: SessionSummary, word: string): Promise<Readonly<Record<string, number>>> {
  const count = (text: string): number => text.split(word).length - 1
  const { hits, total } = await throughline.search({ q: word })
  const { outline } = await throughline.digest(session)
  const passages = throughline.passages(session)
  const look = { width: 200, colour: false, full: true }
  const { messages } = await throughline.restoring.restore(SESSION, 'anthropic')
  const conversation = await throughline.conversation(session)
  const { text: wakeUp } = await throughline.memory.wakeUp({ workdir: '/home/user/work/made' })
  const html = await joinPieces(exportSession(throughline, session, { format: 'html' }))
  const md = await joinPieces(exportSession(throughline, session, { format: 'md' }))
  return {
    hits: hits.length,
    total: total.count,
    outline: outline.filter((point) => point.kind === 'prompt' && point.text.includes(word)).length,
    terminal: count(await joinPieces(toTerminal({ session, passages }, look))),
    // The outline of the page, and the prompt itself.
    html: count(html) - count(/<nav[\s\S]*?<\/nav>/.exec(html)?.[0] ?? ''),
    // The heading of the prompt, and the prompt itself.
    md: count(md) - 1,
    restored: count(JSON.stringify(messages)),
    conversation: conversation.filter(
      (entry) => entry.kind === 'prompt' && textOf(entry.blocks).includes(word),
    ).length,
    wakeUp: count(wakeUp),
  }
}

describe.each([false, true])('[READ22] with an index: %s', (index) => {
  test.each(VERSIONS)(
    'what was typed mid-turn is said once on every way out: %s',
    async (_version, write) => {
      const lines = createLines()
      const made = turn(lines, (words) => write(lines, words))
      await writeTranscript(join(dir.path, 'claude'), toJsonl(made))
      const session = await open(index)
      const times = await timesSaid(session, 'kumquat')
      expect(times).toEqual(Object.fromEntries(Object.keys(times).map((way) => [way, 1])))
      const { facts } = await throughline.survey(session)
      const counts = session.counts ?? (facts && factsToCounts(facts))
      expect(counts?.prompts).toBe(2)
      const { hits } = await throughline.search({ q: 'kumquat kind:prompt in:said' })
      expect(hits).toHaveLength(1)
    },
  )

  test('a prompt that was never delivered, because the process died, is said as well', async () => {
    const lines = createLines()
    const made = [
      lines.prompt('begin'),
      lines.reply([{ type: 'text', text: 'on it' }]),
      lines.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }]),
      queue('enqueue', 'look at the kumquat'),
    ]
    await writeTranscript(join(dir.path, 'claude'), toJsonl(made))
    const session = await open(index)
    const times = await timesSaid(session, 'kumquat')
    expect(times).toEqual(Object.fromEntries(Object.keys(times).map((way) => [way, 1])))
  })
})
