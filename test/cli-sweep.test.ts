import { afterAll, beforeAll, expect, test } from 'vitest'
import { commands } from '#cli'
import { openUserPlace, type UserPlace } from './user-place.ts'

let place: UserPlace
beforeAll(async () => {
  place = await openUserPlace()
})
afterAll(() => place.remove())

/** They serve, begin something or wait for it: they are only asked what they refuse at once. */
const LASTING: ReadonlySet<string> = new Set([
  'serve',
  'start',
  'run',
  'demo',
  'mcp',
  'record',
  'open',
  'service',
])
const NONSENSE = 'nothere/\u2603'

/** Ways to ask for what cannot be: nothing at all, an option nobody has, a name nobody has, each option with nonsense. */
const refused: readonly (readonly string[])[] = commands.flatMap(({ name, options }) => [
  [name, '--nothere'],
  ...(LASTING.has(name)
    ? []
    : [
        [name],
        [name, NONSENSE],
        [name, NONSENSE, NONSENSE],
        ...options
          .filter(({ value }) => value !== undefined)
          .map((option) => [name, NONSENSE, `--${option.name}`, NONSENSE]),
      ]),
])

const OTHERS: readonly (readonly string[])[] = [
  ['handoff', 'import', 'nothere'],
  ['handoff', 'import', '.'],
  ['handoff', 'import', 'nothere', '--in', 'codex'],
  ['serve', '--port', '99999'],
  ['record', '--serve', '--port', '99999'],
  ['import', 'fireproof', 'nothere'],
  ['documents', 'import', 'nothere'],
  ['documents', 'import', '.'],
  ['export', 'nothere', '--out', 'nothere/x.md'],
  ['ls', '--nothere=1'],
  ['nothere'],
  ['--nothere'],
  [''],
]

test('[CLI50] whatever is asked of a command, it answers in sentences: no stack, no report of a bug', async () => {
  const all = [...refused, ...OTHERS]
  const raw: (readonly [args: readonly string[], err: string])[] = []
  const next = all.values()
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (const args of next) {
        const { err } = await place.run(args, {}, { timeout: 20_000 })
        if (/unexpected|\n\s+at |node:|Unhandled|failed that/.test(err)) raw.push([args, err])
      }
    }),
  )
  expect(raw).toEqual([])
  expect(all.length).toBeGreaterThan(150)
})
