import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createLines,
  openTempDir,
  readAll,
  runs,
  SESSION,
  toJsonl,
  type LineMaker,
  type TempDir,
} from '#testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toMessages } from './assemble.ts'
import type { Entry } from './entry.ts'
import type { Message } from './message.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

async function read(lines: readonly object[]): Promise<readonly Entry[]> {
  const path = join(dir.path, `${SESSION}.jsonl`)
  await writeFile(path, toJsonl(lines))
  return (await readAll(path)).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
}

const CALLS = ['toolu_a', 'toolu_b', 'toolu_c', 'toolu_d']

/** A line of a subagent: the call that it worked for, what it says, and a call that it may make itself. */
interface Work {
  readonly for: string | undefined
  readonly makes: string | undefined
}

function toLine(lines: LineMaker, work: Work, n: number): object {
  const use = { type: 'tool_use', id: work.makes, name: 'Task', input: {} }
  const content = [{ type: 'text', text: `said ${n}.` }, ...(work.makes === undefined ? [] : [use])]
  const message = { type: 'assistant', message: { id: `sub_${n}`, role: 'assistant', content } }
  return lines.attachment('', {
    type: 'progress',
    attachment: undefined,
    parentToolUseID: work.for,
    data: { type: 'agent_progress', agentId: 'a1', message },
  })
}

/** Every text, with the call of the session that it stands under. */
function textsOf(messages: readonly Message[], under = ''): readonly string[] {
  return messages.flatMap((message) => {
    if (message.kind !== 'reply') return []
    const own = message.blocks.flatMap((block) => (block.kind === 'text' ? [`${under} ${block.text}`] : []))
    return [...own, ...message.calls.flatMap(({ use, work }) => textsOf(work ?? [], under || use.id))]
  })
}

const id = fc.option(fc.constantFrom(...CALLS), { nil: undefined })

test('[READ30] every line of a subagent is in one place, under its call where that is known, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ for: id, makes: id }), { maxLength: 12 }),
      fc.nat(12),
      async (works, at) => {
        const lines = createLines()
        const call = (): object => lines.reply([{ type: 'tool_use', id: 'toolu_a', name: 'Task', input: {} }])
        const made = works.flatMap((work, n) => [...(n === at ? [call()] : []), toLine(lines, work, n)])
        if (at >= works.length) made.push(call())
        const found = textsOf(toMessages(await read(made)))
        expect(found.map((text) => text.split(' ').slice(1).join(' ')).toSorted()).toEqual(
          works.map((_, n) => `said ${n}.`).toSorted(),
        )
        for (const [n, work] of works.entries())
          if (work.for === 'toolu_a' && n >= at) expect(found).toContain(`toolu_a said ${n}.`)
      },
    ),
    runs(200),
  )
})

test('[READ30] lines of parallel subagents that stand among those of the session go to the call with their prompt', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(2), { minLength: 1, maxLength: 14 }),
      fc.boolean(),
      async (order, isSame) => {
        const lines = createLines()
        const promptOf = (which: number): string => (isSame ? 'look around' : `look around ${which}`)
        const calls = CALLS.slice(0, 3).map((call, which) =>
          lines.reply([{ type: 'tool_use', id: call, name: 'Task', input: { prompt: promptOf(which) } }]),
        )
        const last = new Map<number, string>()
        const own = order.map((which, n): object => {
          const parentUuid = last.get(which) ?? null
          const said = { parentUuid, isSidechain: true }
          const line =
            parentUuid === null
              ? lines.prompt(promptOf(which), said)
              : lines.reply([{ type: 'text', text: `${which} said ${n}.` }], said)
          last.set(which, line.uuid)
          return line
        })
        const found = await read([...calls, ...own].map((line) => ({ ...line, version: '1.0.64' })))
        const texts = textsOf(toMessages(found))
        // Equal prompts are told apart by their order.
        const callOf = (which: number): string | undefined =>
          isSame ? CALLS[[...last.keys()].indexOf(which)] : CALLS[which]
        const begun = new Set<number>()
        const expected = order.flatMap((which, n) => {
          const isFirst = !begun.has(which)
          begun.add(which)
          return isFirst ? [] : [`${callOf(which)} ${which} said ${n}.`]
        })
        expect(texts.toSorted()).toEqual(expected.toSorted())
      },
    ),
    runs(200),
  )
})
