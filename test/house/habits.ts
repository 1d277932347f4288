import { posix } from 'node:path'
import { Visitor } from 'vite'
import { ASKS_THE_WORLD, EXCEPTIONS, SOURCE_LINES, TEST_LINES, type Exception } from './plan.ts'
import { isTest, lineOf, parse, roomOf, type SourceFile } from './source-file.ts'

type Files = readonly SourceFile[]

/** [ARCH6] Files that are too long, and exceptions that nobody needs any more. */
export function overBudget(
  files: Files,
  exceptions: Readonly<Record<string, Exception>> = EXCEPTIONS,
): readonly string[] {
  const sizes = new Map(code(files).map(({ path, text }) => [path, text.trimEnd().split('\n').length]))
  const tooLong = [...sizes].flatMap(([path, size]) => {
    const budget = exceptions[path]?.lines ?? budgetOf(path)
    return size > budget ? [`${path} has ${size} lines, ${budget} are allowed`] : []
  })
  const idle = Object.keys(exceptions).flatMap((path) => {
    const size = sizes.get(path)
    if (size === undefined) return [`${path} is not there; remove its exception`]
    return size <= budgetOf(path) ? [`${path} has ${size} lines; remove its exception`] : []
  })
  return [...tooLong, ...idle]
}

function budgetOf(path: string): number {
  return isTest(path) ? TEST_LINES : SOURCE_LINES
}

/** [ARCH7] Names that say nothing. */
export function emptyNames(files: Files): readonly string[] {
  const paths = code(files)
    .filter(
      ({ path }) =>
        /^(?:utils?|helpers?|common|types|misc)\b/.test(posix.basename(path)) || /[A-Z_]/.test(path),
    )
    .map(({ path }) => `${path} needs a kebab-case noun for a name`)
  const exported = code(files).flatMap((file) =>
    parse(file)
      .module.staticExports.flatMap(({ entries }) => entries.map(({ exportName }) => exportName.name ?? ''))
      .filter((name) => /Manager|Service|Impl(?![a-z])|V2/.test(name))
      .map((name) => `${file.path} exports ${name}, a name that says nothing`),
  )
  return [...paths, ...exported]
}

/** [ARCH8] Rooms that ask for the environment, the time or the home folder instead of being told. */
export function worldly(files: Files): readonly string[] {
  return code(files)
    .filter(
      ({ path }) =>
        roomOf(path) !== undefined &&
        !ASKS_THE_WORLD.includes(roomOf(path) ?? '') &&
        !ASKS_THE_WORLD.includes(path) &&
        !isTest(path),
    )
    .flatMap((file) =>
      questions(file).map(([what, start]) => `${file.path}:${lineOf(file, start)} asks for ${what} itself`),
    )
}

const ASKED: Readonly<Record<string, string>> = {
  'process.env': 'the environment',
  'Date.now': 'the time',
  'os.homedir': 'the home folder',
}

function questions(file: SourceFile): readonly (readonly [what: string, start: number])[] {
  const found: [string, number][] = []
  new Visitor({
    MemberExpression(node) {
      if (node.object.type !== 'Identifier') return
      const { property } = node
      const name =
        property.type === 'Literal' ? property.value : property.type === 'Identifier' ? property.name : ''
      const what = ASKED[`${node.object.name}.${String(name)}`]
      if (what !== undefined) found.push([what, node.start])
    },
    VariableDeclarator(node) {
      if (node.init?.type !== 'Identifier' || node.init.name !== 'process') return
      if (/\benv\b/.test(file.text.slice(node.id.start, node.id.end)))
        found.push(['the environment', node.start])
    },
    NewExpression(node) {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return
      if (node.arguments.length === 0) found.push(['the time', node.start])
    },
    ImportSpecifier(node) {
      const name = node.imported.type === 'Identifier' ? node.imported.name : ''
      if (name === 'homedir') found.push(['the home folder', node.start])
      if (name === 'env') found.push(['the environment', node.start])
    },
  }).visit(parse(file).program)
  return found.toSorted(([, a], [, b]) => a - b)
}

/** [ARCH9] Ways around the type checker, and work left lying about. */
export function loose(files: Files): readonly string[] {
  return code(files).flatMap((file) => {
    const found: string[] = []
    const { program, comments } = parse(file)
    new Visitor({
      TSAnyKeyword: (node) => found.push(`${file.path}:${lineOf(file, node.start)} says any`),
    }).visit(program)
    for (const { value, start } of comments) {
      const said = /@ts-(?:ignore|nocheck|expect-error)|\b(?:TODO|FIXME)\b/.exec(value)
      if (said) found.push(`${file.path}:${lineOf(file, start)} says ${said[0]}`)
    }
    return found
  })
}

function code(files: Files): Files {
  return files.filter(({ path }) => path.endsWith('.ts'))
}

/** [ARCH11] Tests with a time limit of their own that is shorter than the one that ends what hangs. */
export function ownLimits(files: Files, hangMs: number): readonly string[] {
  return files
    .filter(({ path }) => isTest(path))
    .flatMap((file) => {
      const found: string[] = []
      new Visitor({
        CallExpression({ callee, arguments: given }) {
          if (!RUNS_A_TEST.test(textOf(file, callee))) return
          for (const argument of given) {
            const limit = LIMIT.exec(textOf(file, argument))?.groups?.['limit']
            if (limit === undefined || Number(limit.replaceAll('_', '')) >= hangMs) continue
            found.push(`${file.path}:${lineOf(file, argument.start)} has a time limit of its own: ${limit}`)
          }
        },
      }).visit(parse(file).program)
      return found
    })
}

const RUNS_A_TEST = /^(?:describe|test|it|beforeAll|beforeEach|afterAll|afterEach)\b/
const LIMIT = /^(?:\{ timeout: )?(?<limit>[\d_]+|(?:[A-Z]+_)+MS\b[^=}]*?)(?: \})?$/

function textOf(file: SourceFile, { start, end }: { readonly start: number; readonly end: number }): string {
  return file.text.slice(start, end)
}
