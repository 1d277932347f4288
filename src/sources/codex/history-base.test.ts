import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf, type Entry, type Reading } from '#model'
import { createRollout, openTempDir, readAll, runs, writeRollout, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConversation } from '../conversation.ts'
import { createFollower } from '../follower.ts'
import { readPageAfter, readPageBefore } from '../pages.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'
import { codexFormat } from './read-line.ts'
import { createCodexSource } from './source.ts'

let dir: TempDir
let home: string
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'codex')
  mkdirSync(home)
})
afterEach(() => dir.remove())

const PARENT = '01a1de1c-0000-7550-bb1c-000000000001'
const CHILD = '01a1de1c-0000-7550-bb1c-000000000002'
const GRANDCHILD = '01a1de1c-0000-7550-bb1c-000000000003'

function saidIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'prompt' ? [textOf(entry.blocks)] : []))
}

async function promptsOf(path: string): Promise<readonly string[]> {
  const readings = await readAll(path)
  return saidIn(readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : [])))
}

interface Written {
  readonly path: string
  readonly own: string
  readonly whole: string
}

/** A file that goes on from the first `lines` lines of another one. */
function writeChild(
  id: string,
  base: { readonly id: string; readonly file: string; readonly before: string; readonly lines: number },
  prompts: readonly string[],
): Written {
  const kept = base.file.split('\n').slice(0, base.lines).join('\n') + (base.lines > 0 ? '\n' : '')
  const ordinal = Number(/"ordinal":(\d+)/u.exec(base.file)?.[1] ?? 0) + base.lines
  const rollout = createRollout({ id, ordinal })
  const history_base = {
    thread_id: base.id,
    end_ordinal_exclusive: ordinal,
    end_byte_offset: Buffer.byteLength(kept),
  }
  const own = rollout.meta({ history_base }) + prompts.map((text) => rollout.prompt(text)).join('')
  return { path: writeRollout(home, own, { name: id }), own, whole: base.before + kept + own }
}

function writeParent(prompts: readonly string[]): Written {
  const rollout = createRollout({ id: PARENT })
  const own = rollout.meta() + prompts.map((text) => rollout.prompt(text)).join('')
  return { path: writeRollout(home, own, { name: PARENT }), own, whole: own }
}

const words = fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 8 })

async function pagesOf(path: string, limit: number): Promise<readonly (readonly Reading[])[]> {
  const file = openTranscript(path)
  try {
    const forward: Reading[] = []
    for (let at = 0; at < file.size;) {
      const page = await readPageAfter(file, codexFormat, { after: at, limit })
      forward.push(...page.readings)
      at = page.end
    }
    let backward: Reading[] = []
    for (let before = file.size; before > 0;) {
      const page = await readPageBefore(file, codexFormat, { before, limit })
      backward = [...page.readings, ...backward]
      before = page.start
    }
    return [forward, backward]
  } finally {
    file.close()
  }
}

test('[CDX17] [READ6] a fork of a fork reads as one file, whatever was forked where and however it is read', async () => {
  await fc.assert(
    fc.asyncProperty(
      words,
      words,
      words,
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 400 }),
      async (a, b, c, cut, cut2, chunk) => {
        const parent = writeParent(a)
        const child = writeChild(
          CHILD,
          { id: PARENT, file: parent.own, before: '', lines: 1 + (cut % (a.length + 1)) },
          b,
        )
        const before = child.whole.slice(0, child.whole.length - child.own.length)
        const base = { id: CHILD, file: child.own, before, lines: 1 + (cut2 % (b.length + 1)) }
        const grandchild = writeChild(GRANDCHILD, base, c)
        const file = openTranscript(grandchild.path)
        const bytes = Buffer.alloc(file.size)
        for (let at = 0; at < file.size; at += chunk) await file.read(bytes.subarray(at), chunk, at)
        file.close()
        expect(bytes.toString()).toBe(grandchild.whole)
        const all = await readAll(grandchild.path, { chunk })
        expect(await pagesOf(grandchild.path, 1 + (chunk % 5))).toEqual([all, all])
      },
    ),
    runs(30),
  )
})

test('[CDX17] a fork is listed with its own id and time, and with the first prompt of what it came from', async () => {
  const parent = writeParent(['one', 'two', 'three'])
  const child = writeChild(CHILD, { id: PARENT, file: parent.own, before: '', lines: 3 }, ['four'])
  const { sessions, problems } = await createCodexSource(home).list()
  expect(problems).toEqual([])
  expect(sessions.find(({ id }) => id === CHILD)).toMatchObject({
    firstPrompt: 'one',
    createdAt: '2026-11-15T00:00:03.000Z',
    size: Buffer.byteLength(child.whole),
  })
  expect(await promptsOf(child.path)).toEqual(['one', 'two', 'four'])
  const file = openTranscript(child.path)
  expect(saidIn((await readConversation(file, codexFormat)).entries)).toEqual(['one', 'two', 'four'])
  file.close()
})

/** A thread that was reverted some times: its files, every line of them, and the prompts that are left. */
interface Reverted {
  readonly paths: readonly string[]
  readonly text: string
  readonly all: readonly string[]
  readonly left: readonly string[]
}

/** Each round reverts to some line of what is left, and says something. A folder for each, as on different days. */
function writeReverted(
  rounds: readonly { readonly cut: number; readonly prompts: readonly string[] }[],
): Reverted {
  /** Lines that are left: their prompt, if they are one, and which file they end in. */
  let left: {
    readonly prompt?: string
    readonly file: string
    readonly end: number
    readonly ordinal: number
  }[] = []
  const paths: string[] = []
  const all: string[] = []
  let text = ''
  for (const [index, { cut, prompts }] of rounds.entries()) {
    const isFirst = index === 0
    const kept = isFirst ? [] : left.slice(0, cut % (left.length + 1))
    const last = kept.at(-1)
    const ordinal = last === undefined ? 0 : last.ordinal + 1
    const rollout = createRollout({ id: PARENT, ordinal })
    const history_base = last && {
      thread_id: last.file,
      end_ordinal_exclusive: ordinal,
      end_byte_offset: last.end,
    }
    const segment = `01a1de1c-0000-7550-bb1c-0000000001${String(index).padStart(2, '0')}`
    const file = isFirst ? PARENT : segment
    const name = isFirst ? PARENT : `${PARENT}_${segment}`
    const lines = [
      rollout.meta(history_base && { history_base }),
      ...prompts.map((each) => rollout.prompt(each)),
    ]
    left = [...kept]
    let end = 0
    for (const [at, line] of lines.entries()) {
      end += Buffer.byteLength(line)
      const prompt = at === 0 ? undefined : prompts[at - 1]
      left.push({ ...(prompt !== undefined && { prompt }), file, end, ordinal: ordinal + at })
    }
    paths.push(writeRollout(home, lines.join(''), { name, folder: `sessions/2026/11/${10 + index}` }))
    all.push(...prompts)
    text += lines.join('')
  }
  return { paths, text, all, left: left.flatMap(({ prompt }) => prompt ?? []) }
}

const rounds = fc.array(
  fc.record({
    cut: fc.nat(),
    prompts: fc.array(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 5 },
)

test('[CDX18] after any reverts every line of a thread is there once, and the model sees what was left', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (given) => {
      rmSync(home, { recursive: true, force: true })
      const { paths, text, all, left } = writeReverted(
        given.map((one, n) => (n === 0 ? { ...one, prompts: ['first', ...one.prompts] } : one)),
      )
      const { sessions, problems } = await createCodexSource(home).list()
      expect(problems).toEqual([])
      expect(sessions).toMatchObject([
        { id: PARENT, path: paths.at(-1), createdAt: '2026-11-15T00:00:00.000Z' },
      ])
      const files = await createCodexSource(home).find()
      expect(new Set(files.sessions[0]?.history)).toEqual(new Set(paths.slice(0, -1)))
      const file = openTranscript(paths.at(-1) ?? '')
      try {
        const bytes = Buffer.alloc(file.size)
        expect(await file.read(bytes, file.size, 0)).toBe(file.size)
        expect(bytes.toString()).toBe(text)
        expect(saidIn((await readConversation(file, codexFormat)).entries)).toEqual(left)
      } finally {
        file.close()
      }
      expect(await promptsOf(paths.at(-1) ?? '')).toEqual(all)
    }),
    runs(40),
  )
})

test('[CDX17] [CDX18] a fork of a reverted thread has what came before it, and not what the thread took back', async () => {
  const { paths } = writeReverted([
    { cut: 0, prompts: ['one', 'two'] },
    { cut: 2, prompts: ['three', 'four'] },
  ])
  const reverted = readFileSync(paths[1] ?? '', 'utf8')
  const base = { id: '01a1de1c-0000-7550-bb1c-000000000101', file: reverted, before: '', lines: 2 }
  const fork = writeChild(CHILD, base, ['five'])
  expect(await promptsOf(fork.path)).toEqual(['one', 'three', 'five'])
})

test('[CDX18] a file of a reverted thread may be moved to the archive, and the last one grows at its end', async () => {
  const { paths } = writeReverted([
    { cut: 0, prompts: ['one', 'two'] },
    { cut: 2, prompts: ['three'] },
  ])
  const [first = '', last = ''] = paths
  const follower = createFollower(last, codexFormat)
  const told: string[] = []
  const poll = async (): Promise<void> => {
    for (const event of await follower.poll()) {
      if (event.kind === 'reset') told.push('reset')
      if (event.kind === 'readings')
        told.push(...saidIn(event.readings.flatMap((each) => (each.kind === 'entry' ? [each.entry] : []))))
    }
  }
  await poll()
  mkdirSync(join(home, 'archived_sessions'))
  renameSync(first, join(home, 'archived_sessions', first.split('/').at(-1) ?? ''))
  appendFileSync(last, createRollout({ ordinal: 4 }).prompt('four'))
  await poll()
  expect(told).toEqual(['one', 'two', 'three', 'four'])
})

test('[CDX18] files of a reverted thread that arrive after its last one are read with it, in whatever order', async () => {
  const { paths, text } = writeReverted([
    { cut: 0, prompts: ['one', 'two'] },
    { cut: 2, prompts: ['three'] },
    { cut: 3, prompts: ['four'] },
  ])
  const [first = '', second = '', last = ''] = paths
  const aside = (path: string): string => `${path}.aside`
  const sizeNow = (): number => {
    const file = openTranscript(last)
    file.close()
    return file.size
  }
  for (const path of [first, second]) renameSync(path, aside(path))
  const alone = sizeNow()
  renameSync(aside(first), first)
  expect(sizeNow()).toBeGreaterThan(alone)
  renameSync(aside(second), second)
  expect(sizeNow()).toBe(Buffer.byteLength(text))
})

test('[CDX19] an offset is believed only where its line begins; else the ordinal says how much comes first', async () => {
  const parent = writeParent(['one', 'two', 'three'])
  const child = writeChild(CHILD, { id: PARENT, file: parent.own, before: '', lines: 3 }, ['four'])
  // Written anew, with another key in every line.
  writeFileSync(parent.path, readFileSync(parent.path, 'utf8').replaceAll('"ordinal"', '"new":1,"ordinal"'))
  expect(await promptsOf(child.path)).toEqual(['one', 'two', 'four'])
})

test('[CDX19] what a fork came from may lie in the archive or be gone: then that is said, and the rest is read', async () => {
  const parent = writeParent(['one', 'two'])
  const child = writeChild(CHILD, { id: PARENT, file: parent.own, before: '', lines: 2 }, ['three'])
  mkdirSync(join(home, 'archived_sessions'))
  const archived = join(home, 'archived_sessions', parent.path.split('/').at(-1) ?? '')
  renameSync(parent.path, archived)
  expect(await promptsOf(child.path)).toEqual(['one', 'three'])
  rmSync(archived)
  expect(await promptsOf(child.path)).toEqual(['three'])
  const { sessions, problems } = await createCodexSource(home).list()
  expect(sessions).toMatchObject([{ id: CHILD, state: 'ok' }])
  expect(problems).toMatchObject([{ path: child.path, message: expect.stringContaining(PARENT) }])
  // A file that names itself, or somebody's path, comes first before nobody.
  const rollout = createRollout({ id: CHILD })
  for (const thread_id of [CHILD, '../../../etc/passwd'])
    writeRollout(home, rollout.meta({ history_base: { thread_id } }) + rollout.prompt('alone'), {
      name: CHILD,
    })
  expect(await promptsOf(child.path)).toEqual(['alone'])
})

test('[CDX20] [READ8] a fork is followed as it grows, each line once', async () => {
  const parent = writeParent(['one', 'two'])
  const child = writeChild(CHILD, { id: PARENT, file: parent.own, before: '', lines: 2 }, ['three'])
  const follower = createFollower(child.path, codexFormat)
  const told: string[] = []
  const poll = async (): Promise<void> => {
    for (const event of await follower.poll()) {
      if (event.kind === 'reset') told.length = 0
      if (event.kind !== 'readings') continue
      told.push(
        ...saidIn(event.readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))),
      )
    }
  }
  await poll()
  const next = createRollout({ ordinal: 4 }).prompt('four')
  appendFileSync(child.path, next.slice(0, 50))
  await poll()
  expect(told).toEqual(['one', 'three'])
  appendFileSync(child.path, next.slice(50))
  // What the parent says after the fork is not the fork's.
  appendFileSync(parent.path, createRollout({ ordinal: 3 }).prompt('elsewhere'))
  await poll()
  expect(told).toEqual(['one', 'three', 'four'])
})

test('[CDX21] [READ8] a rollout that Codex writes anew in place is told as such, and then whole', async () => {
  const rollout = createRollout()
  const lines = [rollout.meta(), rollout.prompt('one'), rollout.prompt('two')]
  const path = writeRollout(home, lines.join('').replaceAll(/"ordinal":\d+,/gu, ''))
  const follower = createFollower(path, codexFormat)
  await follower.poll()
  writeFileSync(path, lines.join(''))
  const events = await follower.poll()
  expect(events.map(({ kind }) => kind)).toEqual(['reset', 'readings'])
  expect(createCodexSource(home).rewritesInPlace).toBe(true)
  expect(await promptsOf(path)).toEqual(['one', 'two'])
})

test('[CDX28] [READ7] a page of a large rollout costs about as many bytes as it has, and so does a list', async () => {
  const rollout = createRollout()
  const lines = [rollout.meta({ base_instructions: { text: 'x'.repeat(20_000) } }), rollout.prompt('first')]
  for (let index = 0; index < 6000; index++) lines.push(rollout.reply(`${index} ${'y'.repeat(1500)}`))
  const parent = writeRollout(home, lines.join(''))
  const meter: Meter = { bytesRead: 0 }
  const source = createCodexSource(home, { meter })
  const [session] = (await source.list()).sessions
  expect(session).toMatchObject({ firstPrompt: 'first', workdirsComplete: false })
  expect(meter.bytesRead).toBeLessThan(300_000)
  meter.bytesRead = 0
  const file = openTranscript(parent, meter)
  const page = await readPageBefore(file, codexFormat, { limit: 10 })
  file.close()
  expect(page.readings).toHaveLength(10)
  expect(meter.bytesRead).toBeLessThan(200_000)
})
