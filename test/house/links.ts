import { posix } from 'node:path'
import { lineOf, type SourceFile } from './source-file.ts'

interface Link {
  readonly target: string
  readonly line: number
}

/** [DOCS3] Links and images that lead nowhere. `exists` tells whether a path of the project is there. */
export function brokenLinks(
  pages: readonly SourceFile[],
  exists: (path: string) => boolean,
): readonly string[] {
  return pages.flatMap((page) =>
    linksOf(page).flatMap(({ target, line }) => {
      if (/^[a-z][a-z+.-]*:/i.test(target)) return []
      const [path = '', anchor] = decodeURI(target).split('#')
      const file = path === '' ? page.path : posix.join(posix.dirname(page.path), path)
      if (!exists(file)) return [`${page.path}:${line} leads to ${target}, and ${file} is not there`]
      const other = pages.find((candidate) => candidate.path === file)
      if (anchor === undefined || other === undefined || anchorsOf(other).has(anchor)) return []
      return [`${page.path}:${line} leads to ${target}, and ${file} has no such heading`]
    }),
  )
}

function linksOf(page: SourceFile): readonly Link[] {
  const prose = withoutCode(page.text)
  const patterns = [
    /\[(?:[^[\]]|\[[^\]]*\])*\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g,
    /^\[[^\]]+\]:\s*<?([^\s>]+)>?/gm,
    /<(?:img|source|a)\b[^>]*?\s(?:src|srcset|href)="([^"]+)"/g,
  ]
  return patterns.flatMap((pattern) =>
    [...prose.matchAll(pattern)].flatMap(({ 0: whole, 1: target = '', index }) => [
      { target, line: lineOf(page, index) },
      // A picture that is a link: `[![alt](picture)](target)`.
      ...[...whole.slice(1).matchAll(/!\[[^\]]*\]\(([^\s)]+)\)/g)].map((inner) => ({
        target: inner[1] ?? '',
        line: lineOf(page, index),
      })),
    ]),
  )
}

/** The anchors GitHub gives to the headings of a page, and those it sets itself. */
function anchorsOf(page: SourceFile): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const headings = [...withoutFences(page.text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(
    ({ 1: heading = '' }) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
        .replaceAll(' ', '-')
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    },
  )
  const own = [...page.text.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)].map(({ 1: id = '' }) => id)
  return new Set([...headings, ...own])
}

/** [DOCS4] `npm run x` for an x that package.json does not have. */
export function unknownScripts(pages: readonly SourceFile[], scripts: readonly string[]): readonly string[] {
  return pages.flatMap((page) =>
    [...page.text.matchAll(/\bnpm (?:run (?:--?[\w-]+ )*([\w:-]+)|(test|start)\b)/g)].flatMap((match) => {
      const script = match[1] ?? match[2] ?? ''
      if (scripts.includes(script)) return []
      return [
        `${page.path}:${lineOf(page, match.index)} says npm run ${script}, which package.json does not have`,
      ]
    }),
  )
}

interface KnownCommand {
  readonly name: string
  readonly options: readonly string[]
}

/** [DOCS5] Lines to type that the command line would not understand. */
export function unknownCommands(
  pages: readonly SourceFile[],
  commands: readonly KnownCommand[],
): readonly string[] {
  return pages.flatMap((page) =>
    typedLines(page).flatMap(({ target: typed, line }) => {
      const [name = '', ...words] = typed.split(/\s+/)
      const command = commands.find((candidate) => candidate.name === name)
      if (!command && /^[a-z]/.test(name))
        return [`${page.path}:${line} says throughline ${name}, which is no command`]
      return words
        .flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? [])
        .filter((option) => command && !command.options.includes(option))
        .map((option) => `${page.path}:${line} says throughline ${name} --${option}, which is no option`)
    }),
  )
}

/** What follows `throughline` in code, up to the next command of the line. */
function typedLines(page: SourceFile): readonly Link[] {
  return [...page.text.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```|`(throughline [^`\n]+)`/gm)].flatMap(
    (code) =>
      [...code[0].matchAll(/(?:^|[`$|&] ?|-- )throughline ([^|&;`#\n]+)/gm)].map((match) => ({
        target: (match[1] ?? '').trim(),
        line: lineOf(page, code.index + match.index),
      })),
  )
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/g, blank)
}

function withoutFences(text: string): string {
  return text.replace(/^(\s*)(```+|~~~+)[\s\S]*?^\s*\2/gm, blank)
}

/** Spaces in place of text, so that lines keep their numbers. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}
