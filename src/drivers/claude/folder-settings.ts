import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { FolderSettings, SettingsEffect } from '#model'
import { byWeight, toServerEffects, toSettingsEffects, toTextEffects } from './folder-effects.ts'
import { createFileFinder, FOLDER_LIMITS, sha256 } from './folder-files.ts'
import type { FileFinder, FolderLimits, FoundFile } from './folder-files.ts'
import { findPlaces } from './folder-places.ts'
import type { FolderPlace } from './folder-places.ts'

export interface FolderSettingsOptions {
  /** A person's own folder of settings, as `~/.claude`: nothing in it comes with a project. */
  readonly userDir?: string | undefined
  readonly limits?: Partial<FolderLimits> | undefined
}

/**
 * What Claude Code would load in a folder once it is trusted: its settings, servers and instructions, those of the
 * folders above it that are read too, and the files in the folder that they name. Reads only, never throws on content,
 * and never waits for anything that is no file.
 *
 * The hash is of the names and bytes of all of it: when anything is changed, added or taken away, it is another one.
 */
export async function readFolderSettings(
  workdir: string,
  { userDir, limits }: FolderSettingsOptions = {},
): Promise<FolderSettings> {
  const real = await realpath(workdir)
  const finder = createFileFinder(real, { ...FOLDER_LIMITS, ...limits })
  const found: FoundFile[] = []
  for (const place of await findPlaces(real, userDir)) found.push(...(await finder.find(place)))
  const effects = found.flatMap(toEffects)
  found.push(...(await findNamed(found, effects, { workdir: real, finder })))
  const rest = finder.rest()
  const files = [...found, ...(rest ? [rest] : [])]
    .map(({ file }) => file)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return {
    workdir: real,
    hash: sha256(files.map(({ path, hash }) => `${JSON.stringify(path)} ${hash}\n`).join('')),
    files,
    effects: byWeight([...effects, ...found.flatMap(toProblems), ...(rest ? toProblems(rest) : [])]),
  }
}

function toEffects({ file, kind, text }: FoundFile): readonly SettingsEffect[] {
  if (text === undefined) return []
  const inFile = (effects: readonly Omit<SettingsEffect, 'file'>[]): readonly SettingsEffect[] =>
    effects.map((effect) => ({ ...effect, file: file.path }))
  switch (kind) {
    case 'settings':
      return inFile(toSettingsEffects(text))
    case 'servers':
      return inFile(toServerEffects(text))
    case 'text':
      return inFile(toTextEffects(file.path, text))
    case 'config':
      return inFile([{ kind: 'command', name: 'settings of another agent', what: text }])
    case 'script':
      return []
  }
}

function toProblems({ file }: FoundFile): readonly SettingsEffect[] {
  return file.problem === undefined
    ? []
    : [{ kind: 'other', name: file.path, what: file.problem, file: file.path }]
}

const DEEPEST = 5

/**
 * The files that what was found names: scripts that are run, texts that are imported. Another content of them is
 * another thing that runs, whatever the settings still say.
 */
async function findNamed(
  found: readonly FoundFile[],
  effects: readonly SettingsEffect[],
  { workdir, finder }: { readonly workdir: string; readonly finder: FileFinder },
): Promise<readonly FoundFile[]> {
  const runs = effects.filter(({ kind }) => kind === 'hook' || kind === 'mcp-server' || kind === 'command')
  const named: FoundFile[] = []
  const look = async (path: string, kind: FolderPlace['kind']): Promise<readonly FoundFile[]> =>
    // A folder may be named too, as `.` is by many commands; what is meant then is not to load it.
    path.startsWith(`${workdir}/`) && (await isFile(path))
      ? await finder.find({ path, kind, inside: workdir })
      : []
  for (const { what } of runs) {
    for (const path of wordsOf(what, workdir)) named.push(...(await look(path, 'script')))
  }
  let texts = found.filter(({ kind }) => kind === 'text')
  for (let depth = 0; depth < DEEPEST && texts.length > 0; depth++) {
    const imported: FoundFile[] = []
    for (const { path, text = '' } of texts) {
      for (const name of importsOf(text)) {
        imported.push(...(await look(isAbsolute(name) ? name : join(dirname(path), name), 'text')))
      }
    }
    named.push(...imported)
    texts = imported
  }
  return named
}

/** What may be the name of a file in a command, as a path. */
function wordsOf(command: string, workdir: string): readonly string[] {
  const plain = command.replaceAll(/\$\{?CLAUDE_PROJECT_DIR\}?/g, workdir)
  // `"$CLAUDE_PROJECT_DIR"/x.sh` is one word; what stands in quotes may be a command itself.
  const words = [...plain.replaceAll(/["'`]/g, '').split(BETWEEN), ...plain.split(BETWEEN_OR_QUOTE)]
  return words
    .filter((word) => /[./]/.test(word) && !word.startsWith('-'))
    .slice(0, 200)
    .map((word) => (isAbsolute(word) ? word : join(workdir, word)))
}

const BETWEEN = /[\s;|&()<>=,]+/
const BETWEEN_OR_QUOTE = /["'`\s;|&()<>=,]+/

/** `@docs/rules.md` in a text is read along with it. */
function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|\s)@((?:\\ |[^\s@])+)/g)]
    .map(([, name = '']) => name.replaceAll('\\ ', ' ').replace(/[.,;:)]+$/, ''))
    .filter((name) => !name.startsWith('~'))
    .slice(0, 200)
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (at) => at.isFile(),
    () => false,
  )
}
