import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { field, object, parseJson, string, ThroughlineError } from '#base'
import { ENTRY_NAME, toMcpEntry } from './mcp-entry.ts'
import type { Site } from './site.ts'

/** A file of the plugin, as it is to be. */
interface PluginFile {
  readonly path: string
  readonly content: string
}

/** The plugin for Claude Code: a folder of ours among the person's skills, which is loaded because it is there. */
export interface ClaudePlugin {
  readonly folder: string
  /** The last one is what makes it a plugin. */
  readonly files: readonly PluginFile[]
}

/** `other`: ours, but of another version, place or home. `foreign`: somebody else's, or something else. */
export type PluginState = 'absent' | 'current' | 'other' | 'foreign' | 'unreadable'

/** What Claude Code calls a plugin that lies there. */
export const PLUGIN_ID = 'throughline@skills-dir'

const NAME = 'throughline'
const AUTHOR = 'Throughline'
/** A dialog may be open for as long as a person is away. */
const DIALOG_S = 7 * 24 * 60 * 60
/** A session does not wait longer for what earlier ones knew. */
const WAKING_S = 15

/** The plugin of this home and this program. Looks at nothing. */
export function toClaudePlugin(
  site: Pick<Site, 'claudeDir' | 'env' | 'home' | 'program' | 'version'>,
): ClaudePlugin {
  const [interpreter, main] = site.program
  const folder = join(site.claudeDir, 'skills', NAME)
  const command = toCommand(interpreter, join(dirname(main), 'hook.js'), site.home)
  const hooks = {
    description:
      'Answer permission dialogs of this machine from any device. Tell new sessions what earlier ones knew.',
    hooks: {
      PermissionRequest: [{ matcher: '*', hooks: [{ type: 'command', command, timeout: DIALOG_S }] }],
      SessionStart: [{ hooks: [{ type: 'command', command, timeout: WAKING_S }] }],
    },
  }
  const manifest = {
    name: NAME,
    version: site.version,
    description: 'Answer what Claude Code asks in a terminal from any device. Made by `throughline connect`.',
    author: { name: AUTHOR },
  }
  return {
    folder,
    files: [
      { path: join(folder, 'hooks', 'hooks.json'), content: toText(hooks) },
      {
        path: join(folder, '.mcp.json'),
        content: toText({ mcpServers: { [ENTRY_NAME]: toMcpEntry(site) } }),
      },
      { path: join(folder, '.claude-plugin', 'plugin.json'), content: toText(manifest) },
    ],
  }
}

/** A program that was moved or removed must not fail in somebody's terminal. */
function toCommand(interpreter: string, hook: string, home: string): string {
  const [node, file, folder] = [quote(interpreter), quote(hook), quote(home)]
  return `if [ -x ${node} ] && [ -r ${file} ]; then exec ${node} ${file} ${folder}; fi`
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function toText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** How what lies there compares with the plugin. Reads only. */
export function readPluginState({ folder, files }: ClaudePlugin): PluginState {
  const found = findEntry(folder)
  if (found === 'unreadable' || found === undefined) return found ?? 'absent'
  if (!found.isDirectory()) return 'foreign'
  if (files.every(({ path, content }) => readText(path) === content)) return 'current'
  return isOurs(folder) ? 'other' : 'foreign'
}

function findEntry(folder: string): Stats | 'unreadable' | undefined {
  try {
    return lstatSync(folder, { throwIfNoEntry: false })
  } catch {
    return 'unreadable'
  }
}

function isOurs(folder: string): boolean {
  const manifest = parseJson(readText(join(folder, '.claude-plugin', 'plugin.json')) ?? '')
  if (string(manifest, 'name') === NAME) return string(object(manifest, 'author'), 'name') === AUTHOR
  // A connect or disconnect that was cut off leaves folders and our hook, and nothing that makes them a plugin.
  return (
    manifest === undefined &&
    namesIn(folder).every((name) => ['hooks', '.claude-plugin', '.mcp.json'].includes(name))
  )
}

/** Puts the plugin where it belongs. Each file is there whole or not at all, and the last one makes it count. */
export function writePlugin(plugin: ClaudePlugin): void {
  expectOurs(plugin)
  for (const { path, content } of plugin.files) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
      writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
      chmodSync(temporary, 0o600)
      renameSync(temporary, path)
    } catch (cause) {
      throw new ThroughlineError('output-unwritable', `${path} could not be written`, {
        hint: `See who may write there: ls -ld ${dirname(plugin.folder)}`,
        cause,
      })
    }
  }
}

/** Takes the plugin away, and the folders that are empty without it. What else lies there stays. */
export function removePlugin(plugin: ClaudePlugin): void {
  expectOurs(plugin)
  for (const { path } of plugin.files.toReversed()) {
    rmSync(path, { force: true })
    removeEmpty(dirname(path))
  }
  removeEmpty(plugin.folder)
  removeEmpty(dirname(plugin.folder))
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(String(field(error, 'code')))) throw error
  }
}

/** Throws `output-exists` when somebody else's things lie where the plugin belongs. */
export function expectOurs(plugin: ClaudePlugin): void {
  if (readPluginState(plugin) !== 'foreign') return
  throw new ThroughlineError('output-exists', `${plugin.folder} is there, and is not ours`, {
    hint: 'Nothing was changed. Give it another name, then try again.',
  })
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
