import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative } from 'node:path'

/**
 * A program that a person installed: the first of this name on their search path. A folder of the project is passed
 * over, for what lies there was not necessarily put there by them; so is a path that depends on where one stands.
 */
export function findProgram(
  name: string,
  where: { readonly searchPath: string; readonly workdir: string },
): string | undefined {
  for (const folder of where.searchPath.split(delimiter)) {
    if (!isAbsolute(folder) || isInside(folder, where.workdir)) continue
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name)
    if (isProgram(path)) return path
  }
  return undefined
}

/** Whether this is a file that may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
