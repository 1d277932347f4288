import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { parseSync, Visitor, type ParseResult } from 'vite'

export const root: string = join(import.meta.dirname, '../..')

/** A file of the project, or one a test has made up. Its path is relative to the project, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

interface Import {
  readonly specifier: string
  readonly line: number
}

/** The files below some folders whose names end as asked, sorted. What was built or installed or is test data is left out. */
export function readFiles(folders: readonly string[], ends: RegExp): readonly SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && ends.test(entry.name))
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(root.length + 1)
          .replaceAll(sep, '/'),
      )
      .filter((path) => !/(?:^|\/)(?:dist|fixtures|node_modules)\//.test(path))
      .toSorted()
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  )
}

const parsed = new WeakMap<SourceFile, ParseResult>()

export function parse(file: SourceFile): ParseResult {
  const known = parsed.get(file) ?? parseSync(file.path, file.text)
  if (known.errors.length > 0) throw new Error(`${file.path} does not parse: ${known.errors[0]?.message}`)
  parsed.set(file, known)
  return known
}

/** Everything a file imports or passes on, types included. */
export function importsOf(file: SourceFile): readonly Import[] {
  const { module } = parse(file)
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      value: file.text.slice(start + 1, end - 1),
      start,
    })),
    ...typeImportsOf(file),
  ]
  const found = new Map<string, Import>()
  for (const request of requests) {
    if (request === null) continue
    const line = lineOf(file, request.start)
    found.set(`${line} ${request.value}`, { specifier: request.value, line })
  }
  return [...found.values()].toSorted((a, b) => a.line - b.line)
}

/** `import('#room').Type` is no import to the module record, and one to the compiler. */
function typeImportsOf(file: SourceFile): readonly { readonly value: string; readonly start: number }[] {
  const found: { value: string; start: number }[] = []
  new Visitor({
    TSImportType: ({ source }) => found.push({ value: source.value, start: source.start }),
  }).visit(parse(file).program)
  return found
}

export function lineOf(file: SourceFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

/** The room a file lives in; absent when it lives in none. */
export function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}
