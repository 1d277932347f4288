import { join } from 'node:path'
import * as fc from 'fast-check'
import { createLines, openTempDir, runs, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Finding, Throughline } from '#wire'
import { openThroughline } from './open-throughline.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const say = (text: string): object[] => [{ type: 'text', text }]

async function open(): Promise<Throughline> {
  return openThroughline({ env: { CLAUDE_CONFIG_DIR: dir.path } })
}

describe('check', () => {
  async function findings(content: string): Promise<readonly Finding[]> {
    await writeTranscript(dir.path, content)
    const throughline = await open()
    const report = await throughline.check(await throughline.get(SESSION))
    for (const { message, hint, path } of report.findings) {
      expect(message).not.toBe('')
      expect(hint).toMatch(/\.$/)
      expect(path).toContain(SESSION)
    }
    return report.findings
  }

  test('[READ21] every finding has a place, a reason and a next step', async () => {
    const lines = createLines({ cwd: dir.path })
    const [prompt, called] = [
      lines.prompt('x'),
      lines.reply([{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }]),
    ]
    const dangling = lines.prompt('y', { parentUuid: 'never-written' })
    const orphan = lines.result('t9', 'whose?')
    const text = toJsonl([prompt, called, dangling, orphan, { type: 'from-2027', n: 1 }])
    const found = await findings(`${text}garbage here\n\0\0\0\n${JSON.stringify(prompt).slice(0, 60)}`)
    expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'error garbage',
      'error nul-run',
      'error torn',
      'warning dangling-parent',
      'warning unanswered-call',
      'warning orphan-result',
      'note unknown-type',
    ])
    expect(found[0]).toMatchObject({ offset: Buffer.byteLength(text), length: 12 })
  })

  test('[READ21] what is missing is found wherever it stands: beside the path, before a compaction, in the first line', async () => {
    const lines = createLines({ cwd: dir.path })
    const call = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: {} })
    const made = [
      lines.prompt('goes on', { parentUuid: 'in-another-file' }),
      // A call and a malformed block before the compaction.
      lines.reply([call('before'), { type: 'tool_use', name: 'Read' }]),
      lines.prompt('on'),
      // A hook whose answer was never written, and records that hang from it.
      lines.attachment('hook_success', { parentUuid: 'lost-answer' }),
      lines.attachment('hook_success'),
      lines.result('nobody', 'whose?', { parentUuid: 'lost-too' }),
      lines.system('compact_boundary', {
        parentUuid: null,
        content: 'Conversation compacted',
        compactMetadata: { trigger: 'manual', preTokens: 1 },
      }),
      lines.prompt('what was said', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      lines.prompt('and now?'),
      lines.reply(say('so')),
    ]
    const text = toJsonl(made)
    const found = await findings(text)
    expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'warning beginning-missing',
      'note dangling-parent',
      'warning dangling-parent',
      'warning unanswered-call',
      'warning orphan-result',
      'note block-malformed',
    ])
    for (const { entryId, offset = -1, length = 0 } of found) {
      const line: unknown = JSON.parse(
        Buffer.from(text)
          .subarray(offset, offset + length)
          .toString('utf8'),
      )
      expect(line).toMatchObject({ uuid: entryId })
    }
    // What is not in the window any more fails nothing: but the session is not called whole.
    expect(found.map(({ hint }) => hint).join()).not.toContain('whole')
  })

  test('[READ21] every parent that was never written is one finding, however many lines name it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(19), { maxLength: 8 }), async (lost) => {
        const lines = createLines({ cwd: dir.path })
        const made = Array.from({ length: 20 }, (_none, at) =>
          at % 2 === 0 ? lines.prompt(`p${at}`) : lines.reply(say(`r${at}`)),
        )
        const kept = made.filter((_line, at) => !lost.includes(at))
        const ids = new Set(kept.map(({ uuid }) => uuid))
        const missing = new Set(
          kept.flatMap(({ parentUuid }) => (parentUuid === null || ids.has(parentUuid) ? [] : [parentUuid])),
        )
        const found = await findings(toJsonl(kept))
        const told = found.filter(({ code }) => code === 'dangling-parent' || code === 'beginning-missing')
        expect(told).toHaveLength(missing.size)
      }),
      runs(15),
    )
  })

  test('[D04] [READ21] a working directory that is gone is a note, and a whole session has no other', async () => {
    const lines = createLines({ cwd: join(dir.path, 'deleted') })
    expect(await findings(toJsonl([lines.prompt('x'), lines.reply(say('y'))]))).toMatchObject([
      { code: 'workdir-gone', severity: 'note' },
    ])
  })

  test('[READ21] a block of garbage is one finding, and a large file of it takes no more than its time', async () => {
    const garbage = 'no record, and no brace either\n'.repeat(200_000)
    const found = await findings(
      `${garbage}${toJsonl([createLines({ cwd: dir.path }).prompt('x')])}${garbage}`,
    )
    expect(found).toMatchObject([
      { code: 'garbage', offset: 0, length: garbage.length - 1 },
      { code: 'garbage' },
    ])
    const throughline = await open()
    const session = await throughline.get(SESSION)
    const kinds: string[] = []
    for await (const passages of throughline.passages(session))
      kinds.push(...passages.map(({ kind }) => kind))
    expect(kinds.filter((kind) => kind !== 'damage')).toEqual(['prompt'])
    expect(await throughline.conversation(session)).toHaveLength(1)
  })

  test('[T14] [READ21] an empty session is a note', async () => {
    expect(await findings('')).toMatchObject([{ code: 'empty', severity: 'note' }])
  })
})
