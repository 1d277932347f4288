import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, toJsonl, type ChainLine, type TempDir } from '#testing'
import { claudeFormat, openTranscript, readConversation } from '#sources'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChain, type Chain } from './chain.ts'

let dir: TempDir
let path: string
beforeAll(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'transcript.jsonl')
})
afterAll(() => dir.remove())

async function chainOf(lines: readonly object[]): Promise<Chain> {
  await writeFile(path, toJsonl(lines))
  const chain = createChain()
  for (const reading of await readAll(path)) if (reading.kind === 'entry') chain.add(reading.entry)
  return chain.finish()
}

function ids(lines: readonly ChainLine[]): string[] {
  return lines.map(({ uuid }) => uuid)
}

const call = (id: string): object => ({ type: 'tool_use', id, name: 'Bash', input: {} })
const say = (text: string): object[] => [{ type: 'text', text }]

describe('a chain that is broken', () => {
  test('[G01] [READ13] an entry whose parent was never written is joined to the one before it, and all are reached', async () => {
    const lines = createLines()
    const before = [lines.prompt('one'), lines.reply(say('two'))]
    lines.attachment('lost on the way to the disk')
    const after = [lines.prompt('three'), lines.reply(say('four'))]
    const chain = await chainOf([...before, ...after])
    expect(chain.path).toEqual(ids([...before, ...after]))
    expect(chain.bridges).toEqual([
      {
        id: after[0]?.uuid,
        reason: 'missing-parent',
        parentId: after[0]?.parentUuid,
        joinedTo: before[1]?.uuid,
      },
    ])
  })

  test('[G05] [READ13] cycles of one, two and many end, and everything before them is reached', async () => {
    for (const size of [1, 2, 5]) {
      const lines = createLines()
      const before = [lines.prompt('one'), lines.reply(say('two'))]
      const round = Array.from({ length: size }, (_, index) => lines.prompt(`round ${index}`))
      const [first, ...rest] = round
      if (first === undefined) throw new Error('a round has a first')
      const cyclic = [{ ...first, parentUuid: round.at(-1)?.uuid ?? first.uuid }, ...rest]
      const chain = await chainOf([...before, ...cyclic])
      expect(new Set(chain.path)).toEqual(new Set(ids([...before, ...round])))
      expect(chain.bridges).toMatchObject([{ reason: 'cycle' }])
    }
  })

  test('[READ13] with several roots every prompt is on the path or on a branch', async () => {
    const lines = createLines()
    const first = [lines.prompt('one'), lines.reply(say('two'))]
    const second = [lines.prompt('again from nothing', { parentUuid: null }), lines.reply(say('fresh'))]
    const chain = await chainOf([...first, ...second])
    expect(chain.path).toEqual(ids(second))
    expect(chain.branches).toEqual([{ leafId: first[1]?.uuid, size: 2 }])
  })
})

describe('the active end', () => {
  test('[G02] [READ13] a hook or progress line that hangs from an older entry does not become the end', async () => {
    const lines = createLines()
    const said = [
      lines.prompt('one'),
      lines.reply(say('two')),
      lines.prompt('three'),
      lines.reply(say('four')),
    ]
    const late = [
      lines.system('stop_hook_summary', { parentUuid: said[0]?.uuid }),
      lines.attachment('hook_success', { parentUuid: said[1]?.uuid }),
      lines.prompt('progress', { type: 'progress', parentUuid: said[1]?.uuid }),
    ]
    const chain = await chainOf([...said, ...late])
    expect(chain.path).toEqual(ids(said))
    expect(chain.branches).toEqual([])
  })

  test('[G03] [READ13] two children of one parent are both kept: one on the path, one as a branch', async () => {
    const lines = createLines()
    const prompt = lines.prompt('one')
    const delivered = lines.reply(say('delivered'))
    const hook = lines.system('stop_hook_summary', { parentUuid: prompt.uuid })
    const next = lines.prompt('next')
    const chain = await chainOf([prompt, delivered, hook, next])
    expect(chain.path).toEqual(ids([prompt, hook, next]))
    expect(chain.branches).toEqual([{ leafId: delivered.uuid, forkId: prompt.uuid, size: 1 }])
  })

  test('[READ13] after a rewind the new branch is active and the old one is kept', async () => {
    const lines = createLines()
    const root = [lines.prompt('one'), lines.reply(say('two'))]
    const rewound = [lines.prompt('wrong way'), lines.reply(say('so be it'))]
    const kept = [lines.prompt('other way', { parentUuid: root[1]?.uuid }), lines.reply(say('better'))]
    const chain = await chainOf([...root, ...rewound, ...kept])
    expect(chain.path).toEqual(ids([...root, ...kept]))
    expect(chain.branches).toEqual([{ leafId: rewound[1]?.uuid, forkId: root[1]?.uuid, size: 2 }])
  })

  test('[G12] [READ13] a fork that copied a rewound timeline keeps it apart from the path', async () => {
    const lines = createLines()
    const root = [lines.prompt('one'), lines.reply(say('two'))]
    const rewound = [lines.prompt('wrong'), lines.reply([call('toolu_never')])]
    const kept = [lines.prompt('right', { parentUuid: root[1]?.uuid }), lines.reply(say('done'))]
    await writeFile(path, toJsonl([...root, ...rewound, ...kept]))
    const file = openTranscript(path)
    const { entries } = await readConversation(file, claudeFormat)
    file.close()
    expect(entries.map(({ id }) => id)).toEqual(ids([...root, ...kept]))
  })

  test('[G09] [READ13] a session flagged as a sidechain from end to end is followed by its lineage', async () => {
    const lines = createLines()
    const all = [
      lines.prompt('one', { isSidechain: true }),
      lines.reply([call('toolu_1')], { isSidechain: true }),
      lines.result('toolu_1', 'ok', { isSidechain: true }),
      lines.reply(say('two'), { isSidechain: true }),
    ]
    expect((await chainOf(all)).path).toEqual(ids(all))
  })

  test('[G07] [READ13] a snapshot whose messageId is the uuid of a message takes nothing from it', async () => {
    const lines = createLines()
    const prompt = lines.prompt('one')
    const reply = lines.reply(say('two'))
    const snapshot = {
      type: 'file-history-snapshot',
      messageId: reply.uuid,
      snapshot: { messageId: reply.uuid },
    }
    expect((await chainOf([prompt, snapshot, reply])).path).toEqual(ids([prompt, reply]))
  })
})

describe('messages on the path', () => {
  test('[G08] [READ10] five parallel calls keep all their results, in order', async () => {
    const lines = createLines()
    const prompt = lines.prompt('five at once')
    const message = { id: 'msg_many', model: 'm', stop_reason: 'tool_use' }
    const calls = [1, 2, 3, 4, 5].map((n) =>
      lines.reply([], { message: { ...message, content: [call(`toolu_${n}`)] } }),
    )
    const results = calls.map((line, index) =>
      lines.result(`toolu_${index + 1}`, `result ${index + 1}`, { parentUuid: line.uuid }),
    )
    const end = lines.reply(say('all five'))
    const chain = await chainOf([prompt, ...calls, ...results, end])
    expect(new Set(chain.path)).toEqual(new Set(ids([prompt, ...calls, ...results, end])))
    expect(chain.path.slice(-6, -1).toSorted()).toEqual(ids(results).toSorted())
    expect(chain.path.at(-1)).toBe(end.uuid)
    expect(chain.branches).toEqual([])
  })
})

describe('compaction', () => {
  test('[G04] [READ14] an entry whose parent the compaction removed is joined behind the boundary, not before it', async () => {
    const lines = createLines()
    const old = [lines.prompt('old'), lines.reply(say('older'))]
    const boundary = lines.system('compact_boundary', {
      parentUuid: null,
      logicalParentUuid: old[1]?.uuid,
      compactMetadata: { trigger: 'auto' },
    })
    const summary = lines.prompt('summary', { isCompactSummary: true })
    const after = [lines.prompt('new', { parentUuid: 'gone-with-the-compaction' }), lines.reply(say('newer'))]
    const chain = await chainOf([...old, boundary, summary, ...after])
    expect(chain.path).toEqual(ids([boundary, summary, ...after]))
    expect(new Set(chain.spine)).toEqual(new Set(ids([...old, boundary, summary, ...after])))
    expect(chain.branches).toEqual([])
  })

  test('[READ14] what a compaction preserved stands between its summary and what came after', async () => {
    const lines = createLines()
    const old = [lines.prompt('old'), lines.reply(say('older'))]
    const kept = [lines.prompt('kept prompt'), lines.reply(say('kept reply'))]
    const uuids = ids(kept)
    const boundary = lines.system('compact_boundary', { parentUuid: null, logicalParentUuid: kept[1]?.uuid })
    const summary = lines.prompt('summary', { isCompactSummary: true })
    const after = lines.prompt('after')
    const withMetadata = (metadata: object): object[] => [
      ...old,
      ...kept,
      { ...boundary, compactMetadata: metadata },
      summary,
      after,
    ]
    const expected = ids([boundary, summary, ...kept, after])
    const byIds = { trigger: 'manual', preservedMessages: { anchorUuid: summary.uuid, uuids } }
    expect((await chainOf(withMetadata(byIds))).path).toEqual(expected)
    const bySegment = {
      preservedSegment: { anchorUuid: summary.uuid, headUuid: uuids[0], tailUuid: uuids[1] },
    }
    expect((await chainOf(withMetadata(bySegment))).path).toEqual(expected)
    expect((await chainOf(withMetadata(byIds))).spine.size).toBe(7)
  })

  test('[READ14] a writer that went on from before a compaction sees what stood there', async () => {
    const lines = createLines()
    const old = [lines.prompt('old'), lines.reply(say('older'))]
    const boundary = lines.system('compact_boundary', {
      parentUuid: null,
      compactMetadata: { trigger: 'auto' },
    })
    const summary = lines.prompt('summary', { isCompactSummary: true })
    const unaware = lines.prompt('what compaction?', { parentUuid: old[1]?.uuid })
    await writeFile(path, toJsonl([...old, boundary, summary, unaware]))
    const file = openTranscript(path)
    const { entries, bridges } = await readConversation(file, claudeFormat)
    file.close()
    expect(entries.map(({ id }) => id)).toEqual(ids([...old, unaware]))
    expect(bridges).toEqual([])
  })

  test('[READ14] a session of a thousand compactions costs time in proportion', async () => {
    const lines = createLines()
    const all: ChainLine[] = []
    for (let round = 0; round < 1000; round++) {
      const last = all.at(-1)?.uuid
      if (last !== undefined)
        all.push(lines.system('compact_boundary', { parentUuid: null, logicalParentUuid: last }))
      for (let turn = 0; turn < 10; turn++) all.push(lines.prompt('x'), lines.reply(say('y')))
    }
    const chain = await chainOf(all)
    expect(chain.spine.size).toBe(all.length)
    expect(chain.branches).toEqual([])
  })

  test('[READ13] a chain of 50,000 entries costs time in proportion, and no stack', async () => {
    const lines = createLines()
    const many = Array.from({ length: 50_000 }, (_, index) => lines.prompt(`${index}`))
    expect((await chainOf(many)).path).toHaveLength(50_000)
  })
})
