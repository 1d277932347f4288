import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { field, list, object, parseJson, string } from '#base'
import { PLAN, type Room } from './plan.ts'
import { importsOf, isTest, parse, roomOf, type SourceFile } from './source-file.ts'

type Files = readonly SourceFile[]
type Plan = Readonly<Record<string, Room>>

/** [ARCH1] Imports that leave a room, or enter one, other than through a door. */
export function strayImports(files: Files): readonly string[] {
  return sources(files).flatMap((file) => {
    const home = roomOf(file.path)
    return importsOf(file).flatMap(({ specifier, line }) => {
      const crime = (what: string): readonly string[] => [`${file.path}:${line} ${what}: ${specifier}`]
      if (specifier.startsWith('#')) {
        if (specifier.includes('/')) return crime('goes past a door')
        return specifier === `#${home}` ? crime('leaves its room to enter it again') : []
      }
      if (!specifier.startsWith('.')) return []
      const target = posix.join(posix.dirname(file.path), specifier)
      const into = roomOf(target)
      return (home === undefined ? into !== undefined : into !== home) ? crime('goes through a wall') : []
    })
  })
}

/** [ARCH2] Permissions in a tsconfig that nobody uses, and doors that are entered without one. */
export function wrongReferences(files: Files): readonly string[] {
  return configs(files).flatMap(({ path, text }) => {
    const folder = posix.dirname(path)
    const allowed = new Set(
      list(parseJson(text), 'references')?.map((entry) => posix.basename(string(entry, 'path') ?? '')),
    )
    const entered = doorsEntered(
      files.filter((file) => file.path.startsWith(`${folder}/`) && !isTest(file.path)),
    )
    return [
      ...[...entered]
        .filter((room) => !allowed.has(room))
        .map((room) => `${path} does not list ${room}, which is entered`),
      ...[...allowed]
        .filter((room) => !entered.has(room))
        .map((room) => `${path} lists ${room}, which nobody enters`),
    ]
  })
}

/** [ARCH3] Ways between rooms that are not in the plan, and rooms that are not set up as rooms. */
export function unplannedWays(files: Files, plan: Plan = PLAN): readonly string[] {
  const rooms = new Set(files.flatMap(({ path }) => roomOf(path) ?? []))
  const ways = [...rooms].flatMap((room) => {
    const may = plan[room]
    if (may === undefined) return [`src/${room} is not in the plan (test/house/plan.ts)`]
    const own = files.filter(({ path }) => roomOf(path) === room && !isTest(path))
    return [...doorsEntered(own)]
      .filter((other) => !may.enters.includes(other))
      .map((other) => `src/${room} enters #${other}, which the plan does not allow`)
  })
  return [...ways, ...Object.keys(plan).flatMap((room) => missingParts(files, room))]
}

function missingParts(files: Files, room: string): readonly string[] {
  const has = (path: string): SourceFile | undefined => files.find((file) => file.path === path)
  const doors = object(parseJson(has('package.json')?.text ?? ''), 'imports')
  const projects = list(parseJson(has('tsconfig.json')?.text ?? ''), 'references') ?? []
  return [
    ...(has(`src/${room}/index.ts`) ? [] : [`src/${room} has no door (index.ts)`]),
    ...(has(`src/${room}/tsconfig.json`) ? [] : [`src/${room} has no tsconfig.json`]),
    ...(string(field(doors, `#${room}`), 'default') === `./dist/${room}/index.js`
      ? []
      : [`package.json has no door #${room}`]),
    ...(projects.some((entry) => string(entry, 'path') === `src/${room}`)
      ? []
      : [`tsconfig.json does not build src/${room}`]),
  ]
}

/** [ARCH4] Node in rooms that must run in a browser. */
export function nodeInBrowserRooms(files: Files, plan: Plan = PLAN): readonly string[] {
  const safe = Object.keys(plan).filter((room) => plan[room]?.browserSafe)
  const imports = sources(files)
    .filter(({ path }) => safe.includes(roomOf(path) ?? '') && !isTest(path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('node:') || builtinModules.includes(specifier))
        .map(({ specifier, line }) => `${file.path}:${line} imports ${specifier}, and must run in a browser`),
    )
  const types = configs(files)
    .filter(({ path }) => safe.includes(roomOf(path) ?? ''))
    .filter(
      ({ text }) =>
        string(parseJson(text), 'extends') !== '../../tsconfig.base.json' || text.includes('"types"'),
    )
    .map(
      ({ path }) =>
        `${path} must extend tsconfig.base.json and name no types: the room must run in a browser`,
    )
  return [...imports, ...types]
}

/** [ARCH5] Doors that hold more than names that are passed on. */
export function thickDoors(files: Files): readonly string[] {
  return files
    .filter(({ path }) => /^src\/[^/]+\/index\.ts$/.test(path))
    .flatMap((file) =>
      parse(file)
        .program.body.filter((node) => node.type !== 'ExportNamedDeclaration' || node.source === null)
        .map((node) => `${file.path} holds more than names that are passed on: ${node.type}`),
    )
}

function doorsEntered(files: Files): ReadonlySet<string> {
  const specifiers = sources(files).flatMap((file) => importsOf(file).map(({ specifier }) => specifier))
  return new Set(
    specifiers.filter((specifier) => specifier.startsWith('#')).map((specifier) => specifier.slice(1)),
  )
}

function sources(files: Files): Files {
  return files.filter(({ path }) => path.endsWith('.ts'))
}

/** The projects that hold code: every room, and the benchmark. */
function configs(files: Files): Files {
  return files.filter(({ path }) => /^(?:src\/[^/]+|bench)\/tsconfig\.json$/.test(path))
}
