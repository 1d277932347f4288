import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { list, parseJson, string } from '#base'

export interface OpencodeModelOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. */
  readonly homeDir: string
  /** Where opencode is to work. */
  readonly workdir: string
}

/**
 * The model that opencode would begin a new session with, as `provider/model`: the one in its settings, else the one
 * that was used last. Nothing when it says neither. Only read, and never where it keeps its keys.
 */
export function findOpencodeModel({ env, homeDir, workdir }: OpencodeModelOptions): string | undefined {
  const settings = join(env['XDG_CONFIG_HOME'] || join(homeDir, '.config'), 'opencode')
  const state = join(env['XDG_STATE_HOME'] || join(homeDir, '.local', 'state'), 'opencode')
  const given = env['OPENCODE_CONFIG_CONTENT'] ?? ''
  const files = [
    ...foldersUp(workdir).flatMap((folder) => [
      join(folder, 'opencode.jsonc'),
      join(folder, 'opencode.json'),
    ]),
    ...(env['OPENCODE_CONFIG'] ? [env['OPENCODE_CONFIG']] : []),
    ...['opencode.jsonc', 'opencode.json', 'config.json'].map((name) => join(settings, name)),
  ]
  for (const text of [given, ...files.map(readText)]) {
    const model = string(parseJson(withoutComments(text)), 'model')
    if (model !== undefined && NAMED.test(model)) return model
  }
  const [last] = list(parseJson(readText(join(state, 'model.json'))), 'recent')
  const model = `${string(last, 'providerID') ?? ''}/${string(last, 'modelID') ?? ''}`
  return NAMED.test(model) ? model : undefined
}

const NAMED = /^[^/\s]+\/\S+$/u

/** A folder and those above it, up to the top of its repository; without one, the folder alone. */
function foldersUp(workdir: string): readonly string[] {
  const folders: string[] = []
  for (let at = workdir; ; at = dirname(at)) {
    folders.push(at)
    if (existsSync(join(at, '.git'))) return folders
    if (at === dirname(at)) return [workdir]
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Its settings are JSON in which comments and commas before a bracket may stand. Texts are left as they are. */
function withoutComments(text: string): string {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu, (piece) =>
    piece.startsWith('"') ? piece : ' ',
  )
  return bare.replaceAll(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/gu, (piece) => (piece === ',' ? '' : piece))
}
