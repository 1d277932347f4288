import { createHash } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { field, list, number, parseJson, string } from '#base'
import { LINE_KINDS, lineKindOf } from './corpus-line-kinds.ts'
import { generateCorpus } from './corpus.ts'
import type { CorpusFacts } from './corpus.ts'

let home: string
let facts: CorpusFacts
let lines: readonly CorpusLine[]

interface CorpusLine {
  readonly path: string
  readonly offset: number
  readonly length: number
  readonly text: string
  readonly value: unknown
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'corpus-'))
  facts = await generateCorpus({ dir: join(home, 'one'), seed: 1, size: 'xs' })
  lines = await readLines(join(home, 'one'))
})

afterAll(() => rm(home, { recursive: true }))

describe('a corpus', () => {
  test('is the same bytes in the same files for the same seed, and others for another', async () => {
    await generateCorpus({ dir: join(home, 'two'), seed: 1, size: 'xs' })
    await generateCorpus({ dir: join(home, 'three'), seed: 2, size: 'xs' })

    const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((dir) => hashOf(join(home, dir))))

    expect(two).toBe(one)
    expect(three).not.toBe(one)
  })

  test('has every kind of line, as many of each as the facts say', () => {
    const counts: Record<string, number> = {}
    for (const { value } of lines) {
      const kind = value === undefined ? 'damaged' : lineKindOf(value)
      counts[kind] = (counts[kind] ?? 0) + 1
    }

    expect(counts).toEqual(facts.lineKinds)
    expect(LINE_KINDS.filter((kind) => counts[kind] === undefined)).toEqual([])
    expect(LINE_KINDS).toHaveLength(61)
  })

  test('is JSON but for the damage the facts name', () => {
    const damaged = lines.filter((line) => line.value === undefined)

    expect(damaged.map(({ path, offset, length }) => ({ path, offset, length })).toSorted(byPlace)).toEqual(
      facts.damage.map(({ path, offset, length }) => ({ path, offset, length })).toSorted(byPlace),
    )
    expect(new Set(facts.damage.map((damage) => damage.kind)).size).toBe(4)
  })

  test('adds up: files, lines, bytes', () => {
    expect({
      files: new Set(lines.map((line) => line.path)).size,
      lines: lines.length,
      bytes: lines.reduce((sum, line) => sum + line.length + (line.text.endsWith('\n') ? 1 : 0), 0),
    }).toEqual({ files: facts.files, lines: facts.lines, bytes: facts.bytes })
  })

  test('spends the tokens the facts say, the last line of a message counting', () => {
    const messages = new Map<string, unknown>()
    for (const { value } of lines) {
      const id = string(field(value, 'message'), 'id')
      const synthetic = string(field(value, 'message'), 'model') === '<synthetic>'
      if (id !== undefined && !synthetic) messages.set(id, field(field(value, 'message'), 'usage'))
    }
    const sum = (key: string): number =>
      [...messages.values()].reduce<number>((total, usage) => total + (number(usage, key) ?? 0), 0)

    expect({
      messages: messages.size,
      inputTokens: sum('input_tokens'),
      outputTokens: sum('output_tokens'),
      cacheCreationTokens: sum('cache_creation_input_tokens'),
      cacheReadTokens: sum('cache_read_input_tokens'),
    }).toEqual(facts.usage)
  })

  test('hides each needle in one message of one file', () => {
    for (const needle of facts.needles) {
      const found = lines.filter((line) => line.text.includes(needle.text))
      expect(new Set(found.map((line) => line.path))).toEqual(new Set([needle.path]))
      expect(found.filter((line) => string(line.value, 'uuid') !== undefined)).toHaveLength(1)
    }
    expect(facts.needles).toHaveLength(8)
  })

  test('hangs every line from one before it in its file', () => {
    const known = new Set<string>()
    const orphans = lines.filter(({ path, value }) => {
      const uuid = string(value, 'uuid')
      const parent = string(value, 'parentUuid')
      if (uuid !== undefined) known.add(`${path} ${uuid}`)
      return parent !== undefined && !known.has(`${path} ${parent}`)
    })

    expect(orphans).toEqual([])
  })

  test('hangs a tool result from its own tool call', () => {
    const callers = new Map<string, string | undefined>()
    const strays = lines.filter(({ path, value }) => {
      const block = list(field(value, 'message'), 'content')[0]
      const called = string(block, 'id')
      if (called !== undefined) callers.set(`${path} ${called}`, string(value, 'uuid'))
      const answered = string(block, 'tool_use_id')
      return answered !== undefined && callers.get(`${path} ${answered}`) !== string(value, 'parentUuid')
    })

    expect(strays.filter(({ value }) => string(value, 'uuid') !== undefined)).toEqual([])
  })

  test('has forks, rewinds, compactions and a session of several folders', () => {
    const cwds = new Map<string, Set<string>>()
    for (const { path, value } of lines) {
      const cwd = string(value, 'cwd')
      if (cwd !== undefined) cwds.set(path, (cwds.get(path) ?? new Set()).add(cwd))
    }

    expect(facts.sessions.some((session) => session.forkOf !== undefined)).toBe(true)
    expect(facts.sessions.some((session) => session.rewinds > 0)).toBe(true)
    expect(facts.compacted.compactions).toBeGreaterThan(1)
    expect([...cwds.values()].some((each) => each.size > 1)).toBe(true)
  })
})

function byPlace(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1
}

async function filesOf(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true })
  return names
    .filter((name) => name.isFile())
    .map((name) => join(name.parentPath, name.name).slice(dir.length + 1))
    .toSorted()
}

async function hashOf(dir: string): Promise<string> {
  const hash = createHash('sha256')
  for (const path of await filesOf(dir)) hash.update(path).update(await readFile(join(dir, path)))
  return hash.digest('hex')
}

async function readLines(dir: string): Promise<readonly CorpusLine[]> {
  const found: CorpusLine[] = []
  for (const path of (await filesOf(dir)).filter((name) => name.endsWith('.jsonl'))) {
    const bytes = await readFile(join(dir, path))
    for (let offset = 0; offset < bytes.length;) {
      const newline = bytes.indexOf(0x0a, offset)
      const end = newline === -1 ? bytes.length : newline
      const text = bytes.toString('utf8', offset, newline === -1 ? end : end + 1)
      found.push({ path, offset, length: end - offset, text, value: parseJson(text) })
      offset = end + 1
    }
  }
  return found
}
