import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { isWithinRoots } from '#app'
import type { ConversationFacts } from '#recorder'
import { safeLine } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { openRecordSession } from './record-session.ts'
import { toSummaryJson, toSummaryLines } from './record-summary.ts'
import { toUpstreams } from './record-target.ts'
import type { Site } from './site.ts'

const PORT = 4777
/** How long answers that are under way may take when the proxy is stopped. */
const GRACE_MS = 10_000

/** `throughline record --serve` */
export async function serveRecorder(site: Site, values: Values, console: Console): Promise<number> {
  const isJson = values.flag('json')
  const session = await openRecordSession({
    site,
    values,
    upstreams: toUpstreams(site, values, undefined),
    mode: 'serve',
    program: undefined,
    secret: await keepSecret(site.home),
    port: values.count('port') ?? PORT,
    folderFor: (facts) => findFolder(facts, site, values),
    onTrouble: (message) => {
      console.say(`error: not recording: ${safeLine(message)}`)
    },
    onTurn({ sessionId, path, turns }, role) {
      if (isJson) process.stdout.write(toJsonLine({ event: 'turn', sessionId, path, role, turns }))
    },
  })
  const { proxy } = session
  const urls = {
    ANTHROPIC_BASE_URL: proxy.baseUrl('anthropic'),
    OPENAI_BASE_URL: proxy.baseUrl('openai'),
    GOOGLE_GEMINI_BASE_URL: proxy.baseUrl('gemini'),
  }
  // Started in the background, nobody would read them in time.
  process.stdout.write(
    isJson
      ? toJsonLine({ event: 'ready', port: proxy.port, ...urls })
      : `${Object.entries(urls)
          .map(([name, url]) => `export ${name}=${url}`)
          .join('\n')}\n`,
  )
  if (!isJson)
    console.say('Recording what is asked there. Whoever knows an address can use it. Ctrl+C stops it.')
  await stopped()
  await session.close(GRACE_MS)
  const summary = {
    conversations: session.views(),
    troubles: session.troubles(),
    missing: session.missing(),
    counts: proxy.counts,
  }
  if (isJson) process.stdout.write(toJsonLine({ event: 'stopped', ...toSummaryJson(summary) }))
  else if (!values.flag('quiet')) for (const line of toSummaryLines(summary, console)) console.say(line)
  return 0
}

function stopped(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done())
  })
}

/**
 * Where a conversation is recorded: in the folder that is given; else in the one that the client names, when it is
 * there and sessions of it may be shown; else in the home folder.
 */
async function findFolder({ cwd }: ConversationFacts, site: Site, values: Values): Promise<string> {
  const given = values.value('dir')
  if (given !== undefined) return resolve(given)
  if (cwd !== undefined && isAbsolute(cwd) && (await isFolder(cwd)) && isWithinRoots(cwd, site.allowedRoots))
    return cwd
  const fallback = join(site.home, 'recorded', 'proxy')
  await mkdir(fallback, { recursive: true, mode: 0o700 })
  return fallback
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** The same for every run: what editors are set to keeps working. */
async function keepSecret(home: string): Promise<string> {
  const path = join(home, 'record-secret')
  await mkdir(home, { recursive: true, mode: 0o700 })
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      const secret = randomBytes(24).toString('base64url')
      await file.writeFile(`${secret}\n`)
      return secret
    } finally {
      await file.close()
    }
  } catch {
    const known = (await readFile(path, 'utf8')).trim()
    return /^[\w-]{20,}$/u.test(known) ? known : randomBytes(24).toString('base64url')
  }
}
