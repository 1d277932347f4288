import { mkdir, readFile, rename, writeFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject, object, parseJson, ThroughlineError } from '#base'
import type { NativeAgent } from '#model'
import type { NativeFile, NativeSession } from './session.ts'
import { toProjectName } from './gemini.ts'

/**
 * The folders in which agents keep their sessions: `$CLAUDE_CONFIG_DIR`, `$CODEX_HOME`, `~/.gemini`; for opencode, which
 * is handed a file, any folder.
 */
export type NativeRoots = Readonly<Partial<Record<NativeAgent, string>>>

export interface WrittenNative {
  /** `same`: it was there before, byte for byte. */
  readonly state: 'written' | 'same'
  readonly path: string
  /** The command that has to be run in the workdir before the session can be resumed. */
  readonly takeIn?: readonly string[] | undefined
}

/**
 * Puts a session where its agent looks for it, whole or not at all, for nobody else to read. A session of that id that
 * is there with other bytes is never touched: it throws `output-exists`.
 */
export async function writeNative(session: NativeSession, roots: NativeRoots): Promise<WrittenNative> {
  const root = roots[session.agent]
  if (root === undefined)
    throw new ThroughlineError('request-invalid', `no folder is known for sessions of ${session.agent}`, {
      hint: 'Name the folder in which the agent keeps its own.',
    })
  const [file] = session.files
  if (file === undefined)
    throw new ThroughlineError('internal', 'a native session has no file', { hint: 'Please report it.' })
  const path = join(root, session.agent === 'gemini' ? await placeInProject(file, session, root) : file.path)
  const state = await writeOnce(path, file.text, session)
  const takeIn = session.takeIn === undefined ? undefined : [...session.takeIn, path]
  return { state, path, takeIn }
}

async function writeOnce(path: string, text: string, session: NativeSession): Promise<'written' | 'same'> {
  const there = await findText(path)
  if (there === text) return 'same'
  if (there !== undefined) {
    const isGrown = there.startsWith(text)
    throw new ThroughlineError(
      'output-exists',
      isGrown
        ? `the session ${session.id} of ${session.agent} is there and has gone on since it was made`
        : `a session ${session.id} of ${session.agent} is there, and it is another one`,
      {
        hint: isGrown
          ? `Go on with it: ${session.resume.join(' ')}`
          : 'Make a new copy under another id; what is there stays.',
      },
    )
  }
  await replace(path, text)
  return 'written'
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.throughline-${String(process.pid)}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(draft, text, { mode: 0o600, flush: true })
    await rename(draft, path)
  } catch (cause) {
    throw new ThroughlineError('output-unwritable', `${path} could not be written`, {
      hint: 'Check free space and permissions of the folder.',
      cause,
    })
  }
}

/** Gemini CLI finds sessions by project: the project is made known to it, under the name that it has or would get. */
async function placeInProject(file: NativeFile, session: NativeSession, root: string): Promise<string> {
  const registry = join(root, 'projects.json')
  const known = parseJson((await findText(registry)) ?? '')
  const projects = object(known, 'projects') ?? {}
  const names = new Map(
    Object.entries(projects).flatMap(([at, name]) => (typeof name === 'string' ? [[at, name]] : [])),
  )
  const wanted = toProjectName(session.workdir)
  const name = names.get(session.workdir) ?? (await freeName(wanted, session.workdir, { root, names }))
  await replaceIfOther(join(root, 'tmp', name, '.project_root'), session.workdir)
  if (!names.has(session.workdir)) {
    const now = { ...(isObject(known) ? known : {}), projects: { ...projects, [session.workdir]: name } }
    await replace(registry, JSON.stringify(now, null, 2))
  }
  return file.path.replace(`tmp/${wanted}/`, `tmp/${name}/`)
}

async function freeName(
  wanted: string,
  workdir: string,
  { root, names }: { readonly root: string; readonly names: ReadonlyMap<string, string> },
): Promise<string> {
  const taken = new Set(names.values())
  const folders = await readdir(join(root, 'tmp')).catch(() => [])
  for (const folder of folders) {
    const owner = (await findText(join(root, 'tmp', folder, '.project_root')))?.trim()
    if (owner === workdir) return folder
    taken.add(folder)
  }
  let name = wanted
  for (let count = 1; taken.has(name); count++) name = `${wanted}-${String(count)}`
  return name
}

async function replaceIfOther(path: string, text: string): Promise<void> {
  if ((await findText(path))?.trim() !== text) await replace(path, text)
}

async function findText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
