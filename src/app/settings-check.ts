import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { field, findNearest, isObject, parseJson, ThroughlineError, type JsonObject } from '#base'
import type { Notice } from '#wire'
import { findJsonBreak } from './json-place.ts'
import { SETTINGS, type Setting, type SettingKind } from './settings-keys.ts'

/** What is wrong in `config.json`. Never with a value in it: one of them has a password. */
export interface SettingProblem {
  readonly message: string
  /** A key that is unknown: everything else holds. What is wrong otherwise makes the whole file unusable. */
  readonly isUnknown: boolean
}

const SETTINGS_HINT = 'Correct it, or move it away. docs/reference/config.md says what can stand in it.'

/** The settings as they stand in the file, and what is wrong with them. */
export interface ReadSettings {
  readonly path: string
  readonly value: JsonObject
  readonly problems: readonly SettingProblem[]
}

/** Reads `config.json` of the home. A file that is not there has nothing in it. */
export async function readSettingsFile(home: string): Promise<ReadSettings> {
  const path = join(home, 'config.json')
  const wrong = (message: string): ReadSettings => ({
    path,
    value: {},
    problems: [{ message, isUnknown: false }],
  })
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    // A home that is no folder has no settings, and is told of where it is opened.
    if (['ENOENT', 'ENOTDIR'].includes(String(field(error, 'code')))) return { path, value: {}, problems: [] }
    return wrong('it cannot be read')
  }
  const value = parseJson(text)
  if (isObject(value)) return { path, value, problems: findSettingProblems(value) }
  const place = findJsonBreak(text)
  if (place === undefined) return wrong('it is no JSON object')
  return wrong(`it is not valid JSON: line ${place.line}, column ${place.column}`)
}

/** Everything that is wrong in `config.json` of a home, in sentences for people. */
export async function findSettingTroubles(
  home: string,
): Promise<readonly (SettingProblem & Pick<Notice, 'hint'>)[]> {
  const { path, problems } = await readSettingsFile(home)
  return problems.map(({ message, isUnknown }) => ({
    message: isUnknown ? `${path}: ${message}` : toUnusable(path, message),
    hint: SETTINGS_HINT,
    isUnknown,
  }))
}

/** Throws `config-invalid` for the first thing that makes the settings unusable. */
export function refuseWrong({ path, problems }: ReadSettings): void {
  const wrong = problems.find(({ isUnknown }) => !isUnknown)
  if (wrong === undefined) return
  throw new ThroughlineError('config-invalid', toUnusable(path, wrong.message), { hint: SETTINGS_HINT })
}

function toUnusable(path: string, message: string): string {
  return `${path} cannot be used: ${message}`
}

/** Everything that is wrong, in the order of the file. */
export function findSettingProblems(value: JsonObject): readonly SettingProblem[] {
  const problems: SettingProblem[] = []

  function visit(object: JsonObject, path: readonly string[]): void {
    for (const [name, one] of Object.entries(object)) {
      const here = [...path, name]
      const fitting = SETTINGS.filter(({ key }) => isOn(here, key.split('.')))
      const leaf = fitting.find(({ key }) => key.split('.').length === here.length)
      if (fitting.length === 0) unknown(here)
      else if (one === null) continue
      else if (leaf !== undefined) check(leaf, one, here)
      else if (isObject(one)) visit(one, here)
      else wrong(`${toKey(here)} is no object`)
    }
  }

  function check({ kind }: Setting, one: unknown, path: readonly string[]): void {
    const why = whyNot(kind, one)
    if (why !== undefined) wrong(`${toKey(path)} ${why}`)
  }

  function wrong(message: string): void {
    problems.push({ message, isUnknown: false })
  }

  function unknown(path: readonly string[]): void {
    const meant = findMeant(path)
    const question = meant === undefined ? '' : `; did you mean ${meant}?`
    problems.push({ message: `${toKey(path)} is no setting, and is ignored${question}`, isUnknown: true })
  }

  visit(value, [])
  return problems
}

/** Whether a path leads to a key, or to a group that it is in. */
function isOn(path: readonly string[], key: readonly string[]): boolean {
  return path.length <= key.length && path.every((name, at) => key[at] === '*' || key[at] === name)
}

/** The key that was probably meant: one of this name in another group, or one of this group with a similar name. */
function findMeant(path: readonly string[]): string | undefined {
  const group = path.slice(0, -1)
  const name = path.at(-1) ?? ''
  const keys = SETTINGS.map(({ key }) => key.split('.'))
  const elsewhere = keys.find((key) => key.at(-1) === name)
  if (elsewhere !== undefined) return elsewhere.join('.')
  const beside = keys
    .filter((key) => key.length > group.length && isOn(group, key))
    .flatMap((key) => key[group.length] ?? [])
    .filter((one) => one !== '*')
  const near = findNearest(
    name,
    beside.map((one) => one.toLowerCase()),
  )
  const meant = beside.find((one) => one.toLowerCase() === near)
  return meant === undefined ? undefined : toKey([...group, meant])
}

/** A name that was made up by whoever wrote the file may be anything. */
function toKey(path: readonly string[]): string {
  return path
    .map((name, at) => {
      if (/^[\w-]{1,60}$/.test(name)) return at === 0 ? name : `.${name}`
      return `[${JSON.stringify(name.slice(0, 60))}]`
    })
    .join('')
}

function whyNot(kind: SettingKind, value: unknown): string | undefined {
  if (typeof kind === 'object') {
    if (typeof value === 'string' && kind.includes(value)) return undefined
    return kind.length === 2 ? `is neither ${kind.join(' nor ')}` : `is none of ${kind.join(', ')}`
  }
  const isTextList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? undefined : 'is no text'
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'is neither true nor false'
    case 'minutes':
      return typeof value === 'number' && value > 0 ? undefined : 'is not a number of minutes'
    case 'tokens':
      return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'is no number of tokens'
    case 'folder':
      return isFolder(value) ? undefined : 'is no whole path'
    case 'folders':
      return Array.isArray(value) && value.every(isFolder) ? undefined : 'is no list of whole paths'
    case 'names':
      return isTextList ? undefined : 'is no list of names'
    case 'texts':
      return isTextList ? undefined : 'is no list of texts'
  }
}

function isFolder(folder: unknown): boolean {
  return typeof folder === 'string' && isAbsolute(folder)
}
