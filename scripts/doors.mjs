import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * The street doors: what package.json `exports` lets the world import, with every name behind each of them, sorted.
 * Read from the sources, so that nothing needs to be built.
 */
export function readDoors() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([subpath, target]) => {
      const door = target.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')
      return { specifier: posix.join(name, subpath), room: door.split('/')[1], names: namesOf(door) }
    })
}

function namesOf(path) {
  return parse(path)
    .module.staticExports.flatMap(({ entries }) => entries)
    .map(({ exportName: { name }, isType }) => {
      const declared = declarationOf(path, name)
      // A class that is passed on as a type can be named, not made.
      return { name, ...declared, ...(isType ? { kind: 'type', shape: name } : {}) }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** What is declared under an exported name, followed through the files that only pass it on. */
function declarationOf(path, name) {
  const { text, program, comments, module } = parse(path)
  const entry = module.staticExports
    .flatMap(({ entries }) => entries)
    .find(({ exportName }) => exportName.name === name)
  if (entry?.moduleRequest) {
    return declarationOf(pathOf(path, entry.moduleRequest.value), entry.importName.name)
  }
  for (const statement of program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : undefined
    if (!declaration) continue
    const told = { says: firstSentence(commentBefore(statement.start, text, comments)) }
    if (declaration.type === 'VariableDeclaration') {
      const variable = declaration.declarations.find(({ id }) => id.name === name)
      if (variable)
        return { kind: 'value', shape: oneLine(text.slice(variable.id.start, variable.id.end)), ...told }
    } else if (declaration.id?.name === name) {
      return { ...shapeOf(declaration, text), ...told }
    }
  }
  throw new Error(`${path} does not declare ${name}`)
}

function shapeOf(declaration, text) {
  const { id } = declaration
  switch (declaration.type) {
    case 'FunctionDeclaration':
      return { kind: 'value', shape: oneLine(text.slice(id.start, declaration.returnType?.end ?? id.end)) }
    case 'ClassDeclaration':
      return { kind: 'value', shape: `class ${id.name}` }
    default:
      return { kind: 'type', shape: id.name }
  }
}

function pathOf(from, specifier) {
  const path = specifier.startsWith('#')
    ? `src/${specifier.slice(1)}/index.ts`
    : posix.join(posix.dirname(from), specifier)
  if (!existsSync(join(root, path))) throw new Error(`${from} passes on ${specifier}, which is not there`)
  return path
}

function parse(path) {
  const text = readFileSync(join(root, path), 'utf8')
  return { text, ...pick(parseSync(path, text)) }
}

/** The parts of a parse result are getters, which a spread does not see. */
function pick({ program, comments, module }) {
  return { program, comments, module }
}

function commentBefore(offset, text, comments) {
  const comment = comments.findLast(
    ({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= offset,
  )
  return comment && text.slice(comment.end, offset).trim() === '' ? comment.value : ''
}

/** Up to the first full stop that ends a word and stands in no code. */
function firstSentence(comment) {
  const text = oneLine(comment.replace(/^\s*\*+/gm, ''))
  return /^(?:`[^`]*`|[^`])*?\.(?= |$)/.exec(text)?.[0] ?? text
}

function oneLine(text) {
  return text
    .replace(/\s+/g, ' ')
    .replace(/([([]) /g, '$1')
    .replace(/,? ([)\]])/g, '$1')
    .trim()
}
