import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openTempDir } from '#testing'
import { describe, expect, test } from 'vitest'
import config from '../../vitest.config.ts'
import { expectNone } from './expect-none.ts'
import { emptyNames, loose, overBudget, ownLimits, worldly } from './habits.ts'
import { nodeInBrowserRooms, strayImports, thickDoors, unplannedWays, wrongReferences } from './rooms.ts'
import { readFiles, root, type SourceFile } from './source-file.ts'

const house: readonly SourceFile[] = [
  ...readFiles(['src', 'bench', 'test'], /\.tsx?$|^tsconfig\.json$/),
  ...(await Promise.all(
    ['package.json', 'tsconfig.json'].map(async (path) => ({
      path,
      text: await readFile(join(root, path), 'utf8'),
    })),
  )),
]

/** A house of made-up files, to show that a rule sees its crime. */
function houseOf(files: Readonly<Record<string, string>>): readonly SourceFile[] {
  return Object.entries(files).map(([path, text]) => ({ path, text }))
}

describe('rooms and doors', () => {
  test('[ARCH1] a room is left and entered only through doors', () => {
    expectNone(strayImports(house))
  })

  test('[ARCH1] an import through a wall, past a door or back into the same room is seen', () => {
    const crimes = strayImports(
      houseOf({
        'src/model/entry.ts': "import { a } from '../sources/secret.ts'\nimport { b } from './block.ts'\n",
        'src/app/open.ts': "import type { a } from '#sources/secret'\nexport { b } from '#app'\n",
        'src/cli/ls.ts': "const late = await import('../app/open.ts')\nlet a: typeof import('#app/open').b\n",
        'test/e2e.test.ts': "import { a } from '../src/model/entry.ts'\nimport { b } from './fake.ts'\n",
      }),
    )
    expect(crimes).toEqual([
      'src/model/entry.ts:1 goes through a wall: ../sources/secret.ts',
      'src/app/open.ts:1 goes past a door: #sources/secret',
      'src/app/open.ts:2 leaves its room to enter it again: #app',
      'src/cli/ls.ts:1 goes through a wall: ../app/open.ts',
      'src/cli/ls.ts:2 goes past a door: #app/open',
      'test/e2e.test.ts:1 goes through a wall: ../src/model/entry.ts',
    ])
  })

  test('[ARCH2] the references of a tsconfig are the doors that are entered, no more and no fewer', () => {
    expectNone(wrongReferences(house))
  })

  test('[ARCH2] a permission that nobody uses and one that is missing are seen', () => {
    const crimes = wrongReferences(
      houseOf({
        'src/model/tsconfig.json': '{ "references": [{ "path": "../base" }, { "path": "../journal" }] }',
        'src/model/entry.ts': "import type { Id } from '#base'\nimport { a } from '#sources'\n",
        'src/model/entry.test.ts': "import { b } from '#testing'\n",
      }),
    )
    expect(crimes).toEqual([
      'src/model/tsconfig.json does not list sources, which is entered',
      'src/model/tsconfig.json lists journal, which nobody enters',
    ])
  })

  test('[ARCH3] rooms enter only the rooms the plan lets them enter, and are set up as rooms', () => {
    expectNone(unplannedWays(house))
  })

  test('[ARCH3] a way up, a way into testing, an unknown room and a room without a door are seen', () => {
    const files = {
      'src/base/index.ts': "export { a } from '#model'\n",
      'src/base/tsconfig.json': '{}',
      'src/model/entry.ts': "import { b } from '#testing'\n",
      'src/cellar/wine.ts': '',
      'package.json': '{ "imports": { "#base": { "default": "./dist/base/index.js" } } }',
      'tsconfig.json': '{ "references": [{ "path": "src/base" }] }',
    }
    expect(unplannedWays(houseOf(files), { base: { enters: [] }, model: { enters: ['base'] } })).toEqual([
      'src/base enters #model, which the plan does not allow',
      'src/model enters #testing, which the plan does not allow',
      'src/cellar is not in the plan (test/house/plan.ts)',
      'src/model has no door (index.ts)',
      'src/model has no tsconfig.json',
      'package.json has no door #model',
      'tsconfig.json does not build src/model',
    ])
  })

  test('[ARCH4] rooms that run in a browser know nothing of Node', () => {
    expectNone(nodeInBrowserRooms(house))
  })

  test('[ARCH4] a Node module and the types of Node are seen', () => {
    const crimes = nodeInBrowserRooms(
      houseOf({
        'src/model/entry.ts': "import { join } from 'node:path'\nimport { open } from 'fs'\n",
        'src/model/tsconfig.json': '{ "extends": "../../tsconfig.node.json" }',
        'src/base/tsconfig.json':
          '{ "extends": "../../tsconfig.base.json", "compilerOptions": { "types": ["node"] } }',
        'src/journal/file.ts': "import { open } from 'node:fs'\n",
      }),
    )
    expect(crimes).toEqual([
      'src/model/entry.ts:1 imports node:path, and must run in a browser',
      'src/model/entry.ts:2 imports fs, and must run in a browser',
      'src/model/tsconfig.json must extend tsconfig.base.json and name no types: the room must run in a browser',
      'src/base/tsconfig.json must extend tsconfig.base.json and name no types: the room must run in a browser',
    ])
  })

  test('[ARCH5] doors only pass names on', () => {
    expectNone(thickDoors(house))
  })

  test('[ARCH5] a star, a declaration and an import in a door are seen', () => {
    const door =
      "import { a } from './a.ts'\nexport * from './b.ts'\nexport const c = a\nexport { d } from './d.ts'\n"
    expect(thickDoors(houseOf({ 'src/model/index.ts': door }))).toEqual([
      'src/model/index.ts holds more than names that are passed on: ImportDeclaration',
      'src/model/index.ts holds more than names that are passed on: ExportAllDeclaration',
      'src/model/index.ts holds more than names that are passed on: ExportNamedDeclaration',
    ])
  })
})

describe('habits', () => {
  test('[ARCH6] files are short, and every longer one has a reason that still holds', () => {
    expectNone(overBudget(house))
  })

  test('[ARCH6] a long file, a long test and an exception that is not needed are seen', () => {
    const lines = (count: number): string => 'a\n'.repeat(count)
    const crimes = overBudget(
      houseOf({
        'src/model/long.ts': lines(301),
        'src/model/long.test.ts': lines(451),
        'src/model/fine.ts': lines(300),
        'src/model/fine.test.ts': lines(450),
        'src/model/known.ts': lines(310),
        'src/model/grown.ts': lines(321),
      }),
      {
        'src/model/known.ts': { lines: 320, reason: 'a table' },
        'src/model/grown.ts': { lines: 320, reason: 'a table' },
        'src/model/fine.ts': { lines: 320, reason: 'was longer once' },
        'src/model/gone.ts': { lines: 320, reason: 'was there once' },
      },
    )
    expect(crimes).toEqual([
      'src/model/long.ts has 301 lines, 300 are allowed',
      'src/model/long.test.ts has 451 lines, 450 are allowed',
      'src/model/grown.ts has 321 lines, 320 are allowed',
      'src/model/fine.ts has 300 lines; remove its exception',
      'src/model/gone.ts is not there; remove its exception',
    ])
  })

  test('[ARCH7] names say what a thing is', () => {
    expectNone(emptyNames(house))
  })

  test('[ARCH7] names that say nothing are seen', () => {
    const crimes = emptyNames(
      houseOf({
        'src/model/utils.ts': '',
        'src/model/types.ts': '',
        'src/model/readLine.ts': '',
        'src/model/commons.ts': 'export interface Implement {}\n',
        'src/app/session.ts': 'export class SessionManager {}\nexport const storeImpl: number = 1\n',
      }),
    )
    expect(crimes).toEqual([
      'src/model/utils.ts needs a kebab-case noun for a name',
      'src/model/types.ts needs a kebab-case noun for a name',
      'src/model/readLine.ts needs a kebab-case noun for a name',
      'src/app/session.ts exports SessionManager, a name that says nothing',
      'src/app/session.ts exports storeImpl, a name that says nothing',
    ])
  })

  test('[ARCH8] only app and cli ask for the environment, the time and the home folder', () => {
    expectNone(worldly(house))
  })

  test('[ARCH8] asking the world is seen, being told is not', () => {
    const text = [
      "import { homedir } from 'node:os'",
      "const a = process.env['HOME']",
      'const { env } = process',
      'const b = Date.now()',
      'const c = new Date()',
      'const d = new Date(0)',
      "const e = 'new Date()'",
    ].join('\n')
    expect(
      worldly(houseOf({ 'src/sources/a.ts': text, 'src/cli/a.ts': text, 'src/sources/a.test.ts': text })),
    ).toEqual([
      'src/sources/a.ts:1 asks for the home folder itself',
      'src/sources/a.ts:2 asks for the environment itself',
      'src/sources/a.ts:3 asks for the environment itself',
      'src/sources/a.ts:4 asks for the time itself',
      'src/sources/a.ts:5 asks for the time itself',
    ])
  })

  test('[ARCH9] nothing goes around the type checker, and no work is left lying about', () => {
    expectNone(loose(house))
  })

  test('[ARCH9] any, silenced errors and notes to self are seen', () => {
    const text =
      "const a = 'TODO' as any\n// @ts-ignore\nconst b: number = ''\n/* TODO: later */\n// To do it well.\n"
    expect(loose(houseOf({ 'src/app/a.ts': text }))).toEqual([
      'src/app/a.ts:1 says any',
      'src/app/a.ts:2 says @ts-ignore',
      'src/app/a.ts:4 says TODO',
    ])
  })

  test('[ARCH11] no test fails for being slow beside other work', () => {
    expectNone(ownLimits(house, config.test?.testTimeout ?? 0))
  })

  test('[ARCH11] time limits of single tests are seen, in each of their forms', () => {
    const text =
      "test('a', { timeout: 9_000 }, run)\ntest('b', run, 120_000)\ndescribe('c', () => {}, HANG_MS * 2)\nafterAll(end, 300_000)\ntest('d', run)\n"
    expect(ownLimits(houseOf({ 'src/app/a.test.ts': text }), 300_000)).toEqual([
      'src/app/a.test.ts:1 has a time limit of its own: 9_000',
      'src/app/a.test.ts:2 has a time limit of its own: 120_000',
      'src/app/a.test.ts:3 has a time limit of its own: HANG_MS * 2',
    ])
  })
})

test('[ARCH10] the compiler refuses an import that a room has no permission for', async () => {
  const temp = await openTempDir()
  try {
    const copied = ['package.json', 'tsconfig.base.json', 'tsconfig.node.json']
    const rooms = ['base', 'model', 'sources'].map((room) => `src/${room}/tsconfig.json`)
    for (const path of [...copied, ...rooms]) {
      await mkdir(dirname(join(temp.path, path)), { recursive: true })
      await cp(join(root, path), join(temp.path, path))
    }
    await writeFile(join(temp.path, 'src/base/index.ts'), "export const ground: string = 'ground'\n")
    await writeFile(join(temp.path, 'src/sources/index.ts'), "export const upstairs: string = 'upstairs'\n")
    const compile = async (code: string): Promise<string> => {
      await writeFile(join(temp.path, 'src/model/index.ts'), code)
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      return promisify(execFile)(process.execPath, [tsc, '-b', join(temp.path, 'src/model')]).then(
        () => 'compiles',
        (error: unknown) =>
          error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error),
      )
    }

    expect(await compile("export { ground } from '#base'\n")).toBe('compiles')
    expect(await compile("export { upstairs } from '#sources'\n")).toMatch(/error TS(?:6307|2307)/)
    expect(await compile('export const bytes: unknown = Buffer\n')).toMatch(/error TS(?:2591|2580)/)
  } finally {
    await temp.remove()
  }
})
