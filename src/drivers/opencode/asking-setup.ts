import { execFile } from 'node:child_process'
import { isObject, object, parseJson, ThroughlineError, type JsonObject } from '#base'
import type { AskingSetup, RunPlace } from '../acp/known-agents.ts'
import { toAskingConfig } from './permission-rules.ts'

/** With it opencode takes configuration from the environment, behind that of all files but an organisation's. */
const CONTENT = 'OPENCODE_CONFIG_CONTENT'
const CONFIG_MS = 30_000
const CONFIG_BYTES = 16 * 1024 * 1024

/**
 * opencode as it is installed runs commands and writes files without asking. Permissions under which it asks are added
 * to its configuration, in its environment: no file of the person is touched.
 */
export const OPENCODE_ASKING: AskingSetup = {
  async prepare(place) {
    const given = place.env[CONTENT]
    const content = given === undefined || given.trim() === '' ? {} : parseJson(given)
    if (!isObject(content)) throw unable(`${CONTENT} is not a JSON object`, 'Correct or unset it.')
    const asking = toAskingConfig(await readConfig(place))
    return { ...place.env, [CONTENT]: JSON.stringify(merge(content, asking)) }
  },
  /** Permissions have been rules whose last one holds since 1.1.1, and are written otherwise from 2 on. */
  isKnown: (version) => /^1\.(?:[2-9]|\d{2,}|1\.[1-9]|1\.\d{2,})(?:\D|$)/u.test(version),
  known: '1.1.1 to 1.x',
  approves: { 'accept-edits': (kind) => kind === 'edit', bypass: () => true },
}

/** What opencode makes of all the places where it is configured. */
async function readConfig({ command, args, workdir, env }: RunPlace): Promise<JsonObject> {
  const at = args.indexOf('acp')
  const before = at === -1 ? args : args.slice(0, at)
  const printed = await run(command, [...before, 'debug', 'config'], { cwd: workdir, env })
  const config = parseJson(printed.slice(Math.max(printed.search(/^\{$/mu), 0)))
  if (isObject(config)) return config
  throw unable(
    'its configuration cannot be read',
    'Run `opencode debug config` in the folder and see what it says.',
  )
}

function run(
  command: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const limits = { timeout: CONFIG_MS, maxBuffer: CONFIG_BYTES, killSignal: 'SIGKILL' as const }
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { ...place, ...limits }, (error, out, said) => {
      if (!error) return resolve(out)
      const why = said.trim().split('\n').at(-1) ?? ''
      reject(unable(`its configuration cannot be read${why === '' ? '' : `: ${why.slice(0, 300)}`}`, RETRY))
    })
    child.stdin?.end()
  })
}

const RETRY = 'Run `opencode debug config` in the folder and see what it says.'

/** Lays permissions over a configuration. */
function merge(content: JsonObject, asking: ReturnType<typeof toAskingConfig>): JsonObject {
  const agents = object(content, 'agent') ?? {}
  const agent = Object.entries(asking.agent).map(([name, { permission }]) => [
    name,
    { ...object(agents, name), permission },
  ])
  return { ...content, permission: asking.permission, agent: { ...agents, ...Object.fromEntries(agent) } }
}

function unable(why: string, hint: string): ThroughlineError {
  return new ThroughlineError('driver-unavailable', `opencode cannot be made to ask: ${why}`, { hint })
}
