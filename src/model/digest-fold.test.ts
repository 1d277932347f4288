import type { Reading } from './reading.ts'
import { createLines, openTempDir, readAll, runs, toJsonl, type ChainLine, type TempDir } from '#testing'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDigestFold } from './digest-fold.ts'
import { DIGEST_COMMANDS, type Digest } from './digest.ts'
import { countDiff, countLineDiff, toLineDiff } from './line-diff.ts'
import { createSurvey } from './survey.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

async function read(content: string): Promise<readonly Reading[]> {
  const path = join(dir.path, 'transcript.jsonl')
  await writeFile(path, content)
  return await readAll(path)
}

async function digestOf(lines: readonly object[]): Promise<Digest> {
  return toDigest(await read(toJsonl(lines)))
}

function toDigest(readings: readonly Reading[]): Digest {
  const fold = createDigestFold('s')
  for (const reading of readings) fold.add(reading)
  return fold.finish()
}

let calls = 0
const call = (
  name: string,
  input: object,
  id = `toolu_${calls++}`,
): { type: 'tool_use'; id: string; name: string; input: object } => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const failure = { is_error: true }
const answer = (id: string, more: object = {}): object => ({
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x', ...more }] },
})

describe('the outline', () => {
  test('[DIG6] has prompts with what their turns cost, in file order', async () => {
    const lines = createLines()
    const first = lines.prompt('  \n Fix   the checkout \nplease')
    const bash = call('Bash', { command: 'ls' })
    const replies = [lines.reply([{ type: 'text', text: 'a' }, bash]), lines.result(bash.id, 'ok')]
    const second = lines.prompt('And then?')
    const last = lines.reply([{ type: 'text', text: 'b' }])
    const { outline } = await digestOf([first, ...replies, second, last, { ...last, uuid: 'again' }])
    expect(outline).toMatchObject([
      { kind: 'prompt', id: first.uuid, offset: 0, text: 'Fix the checkout', tokens: 15, toolCalls: 1 },
      { kind: 'prompt', id: second.uuid, text: 'And then?', tokens: 15, toolCalls: 0, contextTokens: 15 },
    ])
    expect(outline.every((point) => !('offPath' in point))).toBe(true)
  })

  test('[DIG6] has compactions and damage where they stand, and no reports of programs', async () => {
    const lines = createLines()
    const report = lines.prompt('<task-notification>done</task-notification>')
    const boundary = lines.system('compact_boundary', {
      parentUuid: null,
      compactMetadata: { trigger: 'auto', preTokens: 900, postTokens: 100 },
    })
    const all = [lines.prompt('one'), report, boundary, lines.prompt('two')]
    const texts = all.map((line) => `${JSON.stringify(line)}\n`)
    texts.splice(1, 0, '{"torn":\n')
    const { outline } = toDigest(await read(texts.join('')))
    expect(outline).toMatchObject([
      { kind: 'prompt', text: 'one' },
      { kind: 'damage', offset: texts[0]?.length, length: 8 },
      { kind: 'compaction', trigger: 'auto', tokensBefore: 900, tokensAfter: 100 },
      { kind: 'prompt', text: 'two' },
    ])
  })

  test('[DIG6] a long first line is cut, and keeps nothing of the rest', async () => {
    const { outline } = await digestOf([createLines().prompt(`${'word '.repeat(50_000)}end`)])
    const [point] = outline
    expect(point?.kind === 'prompt' ? point.text : '').toMatch(/^word word .{140,160}…$/)
  })
})

describe('branches', () => {
  test('[DIG7] know what was asked, where they left, and which bytes are theirs', async () => {
    const lines = createLines()
    const root = [lines.prompt('root'), lines.reply([{ type: 'text', text: 'ok' }])]
    const [one, two] = [call('Read', { file_path: '/a' }), call('Read', { file_path: '/b' })]
    const parallel = lines.reply([one, two])
    const rewound = [
      lines.prompt('Another way', { parentUuid: root[1]?.uuid }),
      { ...parallel, parentUuid: 'set below' },
      lines.result(one.id, '1', { parentUuid: parallel.uuid }),
      lines.result(two.id, '2', { parentUuid: parallel.uuid }),
    ] as const
    const chained = [rewound[0], { ...rewound[1], parentUuid: rewound[0].uuid }, rewound[2], rewound[3]]
    const kept = [
      lines.prompt('Go on', { parentUuid: root[1]?.uuid }),
      lines.reply([{ type: 'text', text: 'done' }]),
    ]
    const all: ChainLine[] = [...root, chained[0], ...chained.slice(1), ...kept].flatMap((line) => line ?? [])
    const starts = offsets(all)
    const { branches, outline } = await digestOf(all)
    expect(branches).toEqual([
      {
        leafId: rewound[3].uuid,
        at: rewound[3]['timestamp'],
        text: 'Another way',
        size: 3,
        forkOffset: starts[1],
        own: [[starts[2], (starts[6] ?? 0) - 1]],
      },
    ])
    expect(outline.map((point) => point.kind === 'prompt' && point.offPath === true)).toEqual([
      false,
      true,
      false,
    ])
  })

  test('[DIG7] without a prompt of their own they are known by their last words', async () => {
    const lines = createLines()
    const prompt = lines.prompt('root')
    const lost = lines.reply([{ type: 'text', text: 'First answer' }])
    const kept = lines.reply([{ type: 'text', text: 'Second answer' }], { parentUuid: prompt.uuid })
    const { branches } = await digestOf([prompt, lost, kept])
    expect(branches).toMatchObject([{ leafId: lost.uuid, text: 'First answer', size: 1 }])
  })
})

describe('tools', () => {
  test('[DIG8] files are counted by what was done to them; a failed call did nothing', async () => {
    const lines = createLines({ cwd: '/w' })
    const edit = { file_path: '/w/src/a.ts', old_string: 'a\nb\nc', new_string: 'a\nB\nc\nd' }
    const done = [
      call('Read', { file_path: '/w/src/a.ts' }),
      call('Edit', edit),
      call('MultiEdit', { file_path: '/w/src/a.ts', edits: [edit, { old_string: 'x', new_string: '' }] }),
      call('Write', { file_path: '/elsewhere/b.ts', content: 'one\ntwo\n' }),
      call('NotebookEdit', { notebook_path: '/w/n.ipynb', new_source: 'x' }),
    ]
    const failed = [call('Edit', edit), call('Read', { file_path: '/w/nowhere' })]
    const all = [lines.prompt('x')]
    for (const one of [...done, ...failed]) {
      all.push(
        lines.reply([one]),
        lines.result(one.id, '', failed.includes(one) ? answer(one.id, failure) : {}),
      )
    }
    const twice = lines.reply([done[0] ?? {}])
    const { files, tools } = await digestOf([...all, twice])
    const touched = (path: string, of: object): object => ({
      path,
      entryId: expect.any(String),
      reads: 0,
      ...of,
    })
    expect(files).toEqual([
      touched('src/a.ts', { reads: 1, changes: 2, added: 4, removed: 3 }),
      touched('/elsewhere/b.ts', { changes: 1, added: 2, removed: 0 }),
      touched('n.ipynb', { changes: 1, added: 1, removed: 0 }),
    ])
    expect(tools).toEqual([
      { name: 'Edit', calls: 2, failed: 1, denied: 0 },
      { name: 'Read', calls: 2, failed: 1, denied: 0 },
      { name: 'MultiEdit', calls: 1, failed: 0, denied: 0 },
      { name: 'NotebookEdit', calls: 1, failed: 0, denied: 0 },
      { name: 'Write', calls: 1, failed: 0, denied: 0 },
    ])
  })

  test('[DIG8] what a person or a rule did not allow is counted as denied, not as failed, and touched nothing', async () => {
    const lines = createLines()
    const [edit, bash, ask] = [
      call('Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }),
      call('Bash', { command: 'rm -rf build' }),
      call('AskUserQuestion', { questions: [] }),
    ]
    const words = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    const denied = (id: string): object => lines.result(id, words, answer(id, { ...failure, content: words }))
    const { files, tools, commands } = await digestOf([
      lines.prompt('x'),
      lines.reply([edit, bash, ask]),
      ...[edit, bash, ask].map(({ id }) => denied(id)),
    ])
    expect(files).toEqual([])
    expect(tools.map(({ failed, denied: count }) => [failed, count])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ])
    expect(commands).toMatchObject([{ command: 'rm -rf build', failed: false, denied: true }])
  })

  test('[DIG8] the last 500 commands, in order, and whether they failed', async () => {
    const lines = createLines()
    const all = [lines.prompt('x')]
    for (let n = 0; n < DIGEST_COMMANDS + 20; n++) {
      const one = call('Bash', { command: `step ${n}\nmore` })
      all.push(lines.reply([one]), lines.result(one.id, '', n % 2 === 1 ? answer(one.id, failure) : {}))
    }
    const { commands, tools } = await digestOf(all)
    expect(commands).toHaveLength(DIGEST_COMMANDS)
    expect(commands[0]).toMatchObject({ command: 'step 20', failed: false })
    expect(commands.at(-1)).toMatchObject({ command: 'step 519', failed: true })
    expect(tools).toEqual([
      { name: 'Bash', calls: DIGEST_COMMANDS + 20, failed: DIGEST_COMMANDS / 2 + 10, denied: 0 },
    ])
  })

  test('[DIG8] files and commands of other agents are counted, each file of a patch too', async () => {
    const lines = createLines()
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n-old\n+new\n+more\n*** Delete File: b.ts\n*** End Patch'
    const made = [
      call('exec_command', { cmd: 'npm test\nls' }),
      call('run_shell_command', { command: 'npm run lint' }),
      call('apply_patch', { input: patch }),
      call('edit', { filePath: '/c.ts', oldString: 'a', newString: 'b' }),
      call('read_file', { absolute_path: '/c.ts' }),
    ]
    const { files, commands } = await digestOf([lines.prompt('x'), lines.reply(made)])
    expect(commands.map(({ command }) => command)).toEqual(['npm test', 'npm run lint'])
    expect(files).toMatchObject([
      { path: '/c.ts', reads: 1, changes: 1, added: 1, removed: 1 },
      { path: 'a.ts', reads: 0, changes: 1, added: 2, removed: 1 },
      { path: 'b.ts', changes: 1 },
    ])
  })

  test('[DIG8] lines are counted as the diff that is shown has them', () => {
    const text = fc
      .array(fc.constantFrom('', 'a', 'b', 'c', 'd'), { maxLength: 12 })
      .map((all) => all.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(countLineDiff(before, after)).toEqual(countDiff(toLineDiff(before, after)))
      }),
      runs(500),
    )
    const long = (seed: string): string => Array.from({ length: 700 }, (_, n) => `${seed}${n}`).join('\n')
    expect(countLineDiff(long('a'), long('b'))).toEqual(countDiff(toLineDiff(long('a'), long('b'))))
  })
})

test('[DIG10] put together in steps, with other work between, it is the same', async () => {
  const lines = createLines()
  const all = Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? lines.prompt(`p${n}`) : lines.reply([])))
  const readings = await read(toJsonl(all))
  const fold = createDigestFold('s')
  const survey = createSurvey('s')
  for (const reading of readings) {
    fold.add(reading)
    if (reading.kind === 'entry') survey.addEntry(reading.entry)
  }
  const steps = fold.finishing()
  let count = 0
  for (;;) {
    const { done, value } = steps.next()
    count++
    if (done !== true) continue
    expect(value).toEqual(fold.finish())
    expect(value.facts).toEqual(survey.finish().facts)
    break
  }
  expect(count).toBeGreaterThan(5)
})

function offsets(lines: readonly object[]): readonly number[] {
  const starts = [0]
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(JSON.stringify(line)) + 1)
  return starts
}
