import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClaudeSource, type Source } from '#sources'
import { openTempDir, runs, type TempDir } from '#testing'
import { openArchive, type Archive } from './archive.ts'

/** What happens to one file of an agent, and to the archive. */
type Step =
  | { readonly kind: 'append' | 'replace' | 'extend-by-replacing' | 'overwrite'; readonly text: string }
  | { readonly kind: 'truncate'; readonly to: number }
  | { readonly kind: 'delete' | 'keep' | 'reopen' | 'prune' }

const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 6 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('replace' as const, 'extend-by-replacing' as const, 'overwrite' as const),
      text,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate' as const), to: fc.nat(8) }) },
  { weight: 6, arbitrary: fc.constantFrom({ kind: 'keep' as const }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { kind: 'delete' as const },
      { kind: 'reopen' as const },
      // With an original in its place nothing goes, and without one nothing is older than that.
      { kind: 'prune' as const },
    ),
  },
)

let temp: TempDir
let n = 0
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

/** What was kept, and as long as it shares its bytes with the original, the number of the file it shares them with. */
interface Snapshot {
  bytes: string
  file: number | undefined
}

function createWorld(mode: Mode) {
  const home = join(temp.path, String(n++))
  const dir = join(home, 'claude/projects/-w')
  const path = join(dir, 'session.jsonl')
  mkdirSync(dir, { recursive: true })
  const claude = createClaudeSource(join(home, 'claude'))
  const source: Source = mode === 'rewrites' ? { ...claude, rewritesInPlace: true } : claude
  let archive = open()
  /** A new number for each new file of the agent. */
  let file = 0
  /** What each of them held last, and which one the archive has its link to. */
  const held = new Map<number, string>()
  let linked = 0
  let content: string | undefined
  const snapshots: Snapshot[] = []

  function open(): Archive {
    return openArchive({
      dir: join(home, 'archive'),
      sources: [source],
      enabled: true,
      now: Date.now,
      onProblem() {},
      ...(mode === 'links' ? {} : { link: noLinks }),
    })
  }

  /** What happens to a file in place happens to what is linked to it. */
  function rewrite(to: string): void {
    const before = content ?? ''
    content = to
    let same = 0
    while (same < before.length && same < to.length && before[same] === to[same]) same++
    for (const snapshot of snapshots) {
      if (snapshot.file === file) snapshot.bytes = snapshot.bytes.slice(0, same)
    }
  }

  function rebind(from: number, to: number): void {
    for (const snapshot of snapshots) if (snapshot.file === from) snapshot.file = to
  }

  async function apply(what: Step): Promise<void> {
    await change(what)
    if (content !== undefined) held.set(file, content)
  }

  async function change(what: Step): Promise<void> {
    switch (what.kind) {
      case 'append':
        if (content === undefined) file++
        appendFileSync(path, what.text)
        content = (content ?? '') + what.text
        return
      case 'replace':
      case 'extend-by-replacing':
        content = what.kind === 'replace' ? what.text : (content ?? '') + what.text
        file++
        writeFileSync(`${path}.new`, content)
        renameSync(`${path}.new`, path)
        return
      case 'overwrite':
        if (content === undefined) file++
        writeFileSync(path, what.text)
        rewrite(what.text)
        return
      case 'truncate':
        if (content === undefined || what.to >= content.length) return
        truncateSync(path, what.to)
        rewrite(content.slice(0, what.to))
        return
      case 'delete':
        rmSync(path, { force: true })
        content = undefined
        return
      case 'keep': {
        const outcome = await archive.keep(path, source)
        expect(['refused', 'failed', 'off']).not.toContain(outcome)
        expect(outcome === 'gone').toBe(content === undefined)
        if (content === undefined) return
        // A file that begins with what was kept takes its place, and shares its fate from now on.
        if (content.startsWith(held.get(linked) ?? '')) rebind(linked, file)
        linked = file
        snapshots.push({ bytes: content, file: mode === 'links' ? file : undefined })
        return
      }
      case 'reopen':
        archive = open()
        return
      case 'prune':
        await archive.prune({ olderThanMs: 3_600_000 })
    }
  }

  function everythingKept(): readonly string[] {
    const replaced = join(home, 'archive/claude/replaced/projects/-w')
    const current = join(home, 'archive/claude/projects/-w/session.jsonl')
    const versions = existsSync(replaced) ? readdirSync(replaced).map((name) => join(replaced, name)) : []
    return [current, ...versions].filter((name) => existsSync(name)).map((name) => readFileSync(name, 'utf8'))
  }

  return {
    apply,
    check(): void {
      const kept = everythingKept()
      for (const { bytes } of snapshots) {
        expect(kept.some((one) => one.startsWith(bytes))).toBe(true)
      }
      expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(content)
    },
  }
}

type Mode = 'links' | 'copies' | 'rewrites'

function noLinks(): never {
  throw Object.assign(new Error('no links here'), { code: 'EXDEV' })
}

describe('after any sequence of changes', () => {
  test.each<[Mode, string]>([
    ['links', 'what was kept and not cut or overwritten in place can be read'],
    ['copies', 'everything that was ever kept can be read, where links are impossible'],
    ['rewrites', 'everything that was ever kept can be read, of an agent that rewrites in place'],
  ])('[ARC1] [ARC3] [ARC4] %s: %s, and the original is as its agent left it', async (mode) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const world = createWorld(mode)
        for (const one of steps) {
          await world.apply(one)
          world.check()
        }
      }),
      runs(120),
    )
  })
})
